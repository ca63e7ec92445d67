"""Resident memory: flat over a run, and small with a full replay of a million steps."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hess.agents.hess.agent import Hess
from hess.bench.components import ANT_MAZE, finished, noise_episode
from hess.bench.measuring import Goal, Row, Size
from hess.bench.training import Watch, train_watched
from hess.config import Config, override
from hess.config.presets import preset
from hess.replay.ring import insert

MEGABYTE = 1e6
_GROWTH, _RESIDENT = 20.0, 1500.0  # goals in MB
_FEW_UPDATES = {"low.updates_per_decision": 0.01, "representation.minibatches": 100}


def rows(size: Size) -> list[Row]:
    """Growth over a run first: a peak in this process would hide it."""
    return [_growth_row(size), _resident_row(size)]


def resident() -> float:
    """Memory of this process that is in use right now, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


def growth(values: Sequence[float]) -> float:
    """From the second quarter, when all has been compiled, to the last."""
    quarter = len(values) // 4
    return statistics.median(values[-quarter:]) - statistics.median(values[quarter : 2 * quarter])


def _growth_row(size: Size) -> Row:
    watch = Watch(resident)
    train_watched(_config(size.memory_steps), watch)
    values = [each.value for each in watch.rounds]
    name = f"growth over {size.memory_steps:,} PointMaze steps"
    goal = Goal("at most", _GROWTH, of="measured")
    note = f"resident at the end: {values[-1]:.0f} MB"
    return Row("memory", name, growth(values), "MB", goal=goal, note=note)


def _config(steps: int) -> Config:
    """Everything that a run does, often, with few gradient steps: they allocate the same."""
    tenth = steps // 10
    return override(
        preset("default"),
        {
            "task": "PointMaze",
            "steps": steps,
            **_FEW_UPDATES,
            "high.updates_per_decision": 0.5,
            "representation.first_update": 3,
            "representation.interval": 10,
            "evaluation.interval": tenth,
            "evaluation.episodes": 2,
            "record.checkpoint_interval": tenth,
            "record.snapshot_interval": tenth,
        },
    )


def _resident_row(size: Size) -> Row:
    """AntMaze with a full replay, right after both levels and φ have learned from it."""
    config: Config = override(
        preset("default"),
        {
            "capacity": size.capacity,
            **_FEW_UPDATES,
            "representation.first_update": 1,
            "representation.interval": 1,
        },
    )
    shape = ANT_MAZE._replace(
        subgoal_dim=config.representation.dimensions(ANT_MAZE.observation_dim)
    )
    agent = Hess(config, shape)
    episode = noise_episode(shape, np.random.default_rng(0))
    for _ in range(agent.replay.slots):
        agent.replay = insert(agent.replay, episode)
    for _ in range(2):
        agent.learn([episode], lambda what, share: None)
    finished(agent.replay)
    name = f"AntMaze, full replay of {size.capacity:,} steps"
    goal = Goal("at most", _RESIDENT, of="measured")
    return Row("memory", name, resident(), "MB", goal=goal)
