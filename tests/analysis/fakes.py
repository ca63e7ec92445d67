"""Run folders without training: a walker that gets farther into the maze as the run goes on.

φ is a small network with hand-made weights (the position, turned and stretched differently at
every snapshot), so that what the figures should show is known.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hess.agents.hess.exploration.cells import CellTable, cell_centres, cell_keys
from hess.agents.hess.snapshot_content import nearest
from hess.api import make_config
from hess.arrays import Floats
from hess.files import write_atomic, write_json
from hess.runs.folder import RunFolder
from hess.runs.run import task_plan
from hess.runs.tensors import pack_sealed

HORIZON, INTERVAL, STRIDE = 500, 50, 6
CORRIDOR = np.array([(0.0, 0.0), (8.0, 0.0), (8.0, 8.0), (0.0, 8.0)])
OBSERVATION = 7


def representation(progress: float, stretch: float = 2.5) -> dict[str, Floats]:
    """φ = stretch · rotation · (x, y), as weights of a ReLU network with 4 hidden units."""
    angle = 0.9 * (1 - progress) ** 2
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    first = np.zeros((OBSERVATION, 4))
    first[0, :2] = 1.0, -1.0
    first[1, 2:] = 1.0, -1.0
    matrix = stretch * (0.6 + 0.4 * progress) * turn
    second = np.stack([matrix[:, 0], -matrix[:, 0], matrix[:, 1], -matrix[:, 1]])
    return {
        "representation.weights[0]": first.astype(np.float32),
        "representation.biases[0]": np.zeros(4, np.float32),
        "representation.weights[1]": second.astype(np.float32),
        "representation.biases[1]": np.zeros(2, np.float32),
    }


def embed(weights: dict[str, Floats], positions: Floats) -> Floats:
    first, second = weights["representation.weights[0]"], weights["representation.weights[1]"]
    return np.maximum(positions @ first[:2], 0.0) @ second


def walk(rng: np.random.Generator, reach: float) -> Floats:
    """A noisy walk along the corridor, until about `reach` metres from the start. -> [T+1, 2]."""
    lengths = np.linalg.norm(np.diff(CORRIDOR, axis=0), axis=1)
    ends = np.concatenate([[0.0], np.cumsum(lengths)])
    way = np.clip(np.linspace(0.0, reach * rng.uniform(0.5, 1.1), HORIZON + 1), 0.0, ends[-1])
    path = np.stack([np.interp(way, ends, CORRIDOR[:, axis]) for axis in (0, 1)], -1)
    wobble = np.cumsum(rng.normal(0.0, 0.12, path.shape), 0)
    wobble -= np.linspace(0.0, 0.7, HORIZON + 1)[:, None] * wobble[-1]
    return path + np.clip(wobble, -1.6, 1.6)


def observe(positions: Floats) -> Floats:
    observations = np.zeros((*positions.shape[:-1], OBSERVATION), np.float32)
    observations[..., :2] = positions
    return observations


def snapshot(rng: np.random.Generator, progress: float, cell_size: float = 3.0) -> dict[str, Any]:
    """The arrays of one snapshot."""
    weights = representation(progress)
    walks = np.stack([walk(rng, 24.0 * min(1.0, 0.25 + progress)) for _ in range(40)])
    embeddings = embed(weights, walks)
    pick = rng.integers(0, 40, 2_000), rng.integers(0, HORIZON, 2_000)
    counts = CellTable()
    counts.add(cell_keys(embeddings.reshape(-1, 2), cell_size), 1.0)
    centres = cell_centres(counts.keys, 2, cell_size)
    latest, active = walks[-10:], rng.random((10, HORIZON // INTERVAL)) < 0.7 * (1 - progress) + 0.1
    current = embed(weights, latest[:, :-1:INTERVAL])
    selected = embeddings.reshape(-1, 2)[rng.integers(0, 40 * HORIZON, active.shape)]
    away = selected - current
    away /= np.maximum(np.linalg.norm(away, axis=-1, keepdims=True), 1e-6)
    subgoals = np.where(active[..., None], selected + 5.0 * away, selected)
    flat, places = embeddings.reshape(-1, 2)[::7], walks.reshape(-1, 2)[::7]
    half: dict[str, Any] = {
        "states.positions": walks[pick],
        "states.embeddings": embeddings[pick],
        "states.observations": observe(walks[pick])[:200],
        "latest.positions": latest[:, ::STRIDE],
        "latest.embeddings": embed(weights, latest[:, ::STRIDE]),
        "latest.observations": observe(latest[-5:, :: 2 * STRIDE]),
        "latest.subgoals": subgoals,
        "latest.selected": selected,
        "latest.subgoals_positions": places[nearest(flat, subgoals)],
        "latest.selected_positions": places[nearest(flat, selected)],
    }
    return {name: array.astype(np.float16) for name, array in half.items()} | {
        "states.steps": pick[1].astype(np.uint16),
        "cells.size": np.array(cell_size, np.float32),
        "cells.centres": centres.astype(np.float32),
        "cells.counts": counts.values.astype(np.float32),
        "cells.novelty": (counts.values / counts.values.sum()).astype(np.float32),
        "cells.potential": -np.abs(rng.normal(6.0, 4.0, len(centres))).astype(np.float32),
        "latest.lengths": np.full(10, HORIZON, np.int32),
        "latest.segments": np.full(10, HORIZON // INTERVAL, np.int32),
        "latest.stride": np.array(STRIDE, np.int32),
        "latest.observations_stride": np.array(2 * STRIDE, np.int32),
        "latest.successes": np.linalg.norm(latest[:, -1] - CORRIDOR[-1], axis=-1) < 1.5,
        "latest.active": active,
        **weights,
    }


def skill_traces(rng: np.random.Generator, progress: float) -> dict[str, Any]:
    """Walks under a skill that turns into its opposite after 300 steps."""
    walks = np.stack([walk(rng, 24.0 * min(1.0, 0.25 + progress)) for _ in range(12)])
    skills = np.repeat(rng.uniform(-1.0, 1.0, (12, 1, 2)), HORIZON // INTERVAL, axis=1)
    skills[:, 6:] = -skills[:, 6:]
    return {
        "skills.positions": walks[:, :: INTERVAL // 10].astype(np.float32),
        "skills.skills": skills.astype(np.float32),
        "skills.lengths": np.full(12, HORIZON, np.int32),
        "skills.stride": np.array(INTERVAL // 10, np.int32),
        "skills.interval": np.array(INTERVAL, np.int32),
        "skills.drawn": np.full(skills.shape[:2], progress <= 0.5),
    }


def metrics(rng: np.random.Generator, progress: float, updated: bool) -> dict[str, float]:
    values = {
        "train/success": float(rng.random() < progress - 0.2),
        "train/recent_success": max(0.0, progress - 0.2),
        "train/coverage": min(1.0, 0.3 + progress),
        "train/flipped_share": 0.1 * (1 - progress),
        "exploration/visited_cells": 10.0 + 60.0 * progress,
        "exploration/leading_directions": 2.0 + 6.0 * (progress < 0.2),
        "exploration/probability": 0.7 * (1 - progress),
        "exploration/active_share": 0.6 * (1 - progress),
        "low/subgoal_distance": float(12 + rng.normal()),
        "low/progress_share": float(0.8 * progress + 0.1 * rng.normal()),
        "low/move": float(1.0 + 3.0 * progress + 0.3 * rng.normal()),
        "low/value": float(progress + 0.05 * rng.normal()),
        "high/value": float(progress**2),
        "time/learning": 0.2,
    }
    if updated:
        values |= {"representation/change": 3 * (1 - progress), "representation/span": 20.0}
    return values


def fake_run(
    runs: Path,
    task: str = "PointMaze",
    method: str = "hess",
    seed: int = 0,
    *,
    episodes: int = 60,
    snapshots: int = 4,
    **fields: Any,
) -> RunFolder:
    """A finished run folder with everything but checkpoints."""
    steps = episodes * HORIZON
    assert task_plan(task) is not None
    name = "-".join([*(f"{key}-{value}" for key, value in fields.items()), f"seed-{seed}"])
    folder = RunFolder(runs / task / method / name)
    folder.path.mkdir(parents=True)
    folder.write_config(make_config(task, method, seed=seed, steps=steps, **fields))
    write_json(folder.metadata_file, {"command": ["hess", "train", task], "hess": "0"})
    rng = np.random.default_rng([seed, len(method), len(fields)])
    write_metrics(folder, rng, range(1, episodes + 1), episodes)
    write_evaluations(folder, rng, steps)
    for number in range(1, snapshots + 1):
        write_snapshot(folder, rng, steps * number // snapshots, number / snapshots)
        write_skill_traces(folder, rng, steps * number // snapshots, number / snapshots)
    return folder


def write_metrics(
    folder: RunFolder, rng: np.random.Generator, numbers: Sequence[int], episodes: int
) -> None:
    with folder.metrics_file.open("a") as file:
        for number in numbers:
            row = {"step": number * HORIZON} | metrics(rng, number / episodes, number % 20 == 0)
            file.write(json.dumps(row) + "\n")


def write_evaluations(folder: RunFolder, rng: np.random.Generator, steps: int) -> None:
    lines = ["step,episodes,success_rate,mean_return,train_success"]
    for share in np.linspace(0.0, 1.0, 11):
        rate = float(np.clip(rng.normal(1.4 * share - 0.3, 0.1), 0.0, 1.0))
        lines.append(f"{share * steps:.10g},10,{rate:.1f},{40 * rate:.3g},{0.8 * rate:.3g}")
    folder.evaluations_file.write_text("\n".join(lines) + "\n")


def write_snapshot(folder: RunFolder, rng: np.random.Generator, step: int, progress: float) -> None:
    write_arrays(folder, step, snapshot(rng, progress))


def write_arrays(folder: RunFolder, step: int, arrays: dict[str, Any]) -> None:
    write_atomic(folder.snapshots / f"{step:09d}.safetensors", pack_sealed(arrays))


def in_more_dimensions(arrays: dict[str, Any], dim: int) -> dict[str, Any]:
    """The same moment with a φ-space of `dim` dimensions, whose cells divide a plane in it."""
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(dim, dim)))[0][:2]
    last = "representation.weights[1]"
    wide = {
        name: (array.astype(np.float32) @ turn).astype(array.dtype)
        for name, array in arrays.items()
        if name.endswith(("embeddings", ".subgoals", ".selected")) or name == last
    }
    wide["cells.plane"] = turn.T.astype(np.float32)
    return arrays | wide | {"representation.biases[1]": np.zeros(dim, np.float32)}


def without_measures(arrays: dict[str, Any], dim: int) -> dict[str, Any]:
    """The same moment of a method with a latent space of `dim` dimensions and no grid over it."""
    empty = {name: array[:0] for name, array in arrays.items() if name.startswith("cells.c")}
    empty |= {name: arrays[name][:0] for name in ("cells.novelty", "cells.potential")}
    empty |= {
        "cells.centres": np.zeros((0, dim), np.float32),
        "cells.plane": np.eye(dim, dtype=np.float32),
    }
    return in_more_dimensions(arrays, dim) | empty


def write_skill_traces(
    folder: RunFolder, rng: np.random.Generator, step: int, progress: float
) -> None:
    content = pack_sealed(skill_traces(rng, progress))
    write_atomic(folder.snapshots / f"skills-{step:09d}.safetensors", content)
