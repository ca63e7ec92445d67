"""Tiny runs: their configs and command lines, and all that two runs can be compared by."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from safetensors.numpy import load_file

from hess.api import TrainedRun, train_config
from hess.config import Config, override
from hess.runs.command import train_command
from hess.runs.folder import run_path
from hess.runs.manifest import checkpoint_folders, read_manifest
from hess.runs.records import Records
from tests.faults import tiny_tasks
from tests.faults.tiny_tasks import HORIZON

HERE = Path(__file__).parent
TASK = f"{tiny_tasks.__name__}:{tiny_tasks.TINY}"  # importing it makes it known
_NAME = "run"
STEPS = 20 * HORIZON
_FIELDS: dict[str, Any] = {
    "method": "remembering",
    "steps": STEPS,
    "capacity": 8 * HORIZON,
    "subgoal_interval": 4,
    "subgoal_radius": 2.0,
    "low.hidden": (8,),
    "low.batch_size": 8,
    "high.hidden": (8,),
    "high.batch_size": 8,
    "representation.dim": 2,
    "representation.hidden": (8,),
    "representation.batch_size": 8,
    "representation.minibatches": 20,
    "representation.refresh": 10,
    "representation.first_update": 3,
    "representation.interval": 5,
    "exploration.candidates": 20,
    "exploration.pool": 50,
    "exploration.novelty_interval": 2,
    "evaluation.interval": 5 * HORIZON,
    "evaluation.episodes": 2,
    "record.checkpoint_interval": 3 * HORIZON,
    "record.snapshot_interval": 6 * HORIZON,
}


def tiny_config(**fields: Any) -> Config:
    """A run of twenty short episodes; `low__hindsight=0.5` sets `low.hindsight`."""
    values = {name.replace("__", "."): value for name, value in fields.items()}
    config: Config = override(Config(), {"task": TASK} | _FIELDS | values)
    return config


def train(config: Config, runs: Path) -> TrainedRun:
    """Run, or resume, in this process."""
    return train_config(config, runs, _NAME)


def path_of(config: Config, runs: Path) -> Path:
    """The run folder."""
    return run_path(config, runs, _NAME)


def command(config: Config, runs: Path) -> list[str]:
    """The command line that trains the same run in a program of its own."""
    _, *arguments = shlex.split(train_command(config))
    program = [sys.executable, str(HERE / "entry.py"), *arguments]
    return [*program, "--runs", str(runs), "--name", _NAME]


@contextmanager
def stop_at(step: int, *signals: int) -> Iterator[None]:
    """While this lasts, a run that has learned from so many steps gets these signals, or Ctrl-C."""
    original = Records.metrics

    def and_stop(self: Records, now: int, values: dict[str, float]) -> None:
        original(self, now, values)
        if now == step:
            for number in signals or (signal.SIGINT,):
                signal.raise_signal(number)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Records, "metrics", and_stop)
        yield


def environment(cache: Path) -> dict[str, str]:
    """Variables for programs under test: every compiled program is kept for the next start."""
    return os.environ | {
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        "MPLCONFIGDIR": str(cache / "matplotlib"),
        "PYTHONPATH": str(HERE.parents[1]),
        "NPROC": "1",
    }


def start(arguments: list[str], cache: Path) -> subprocess.Popen[str]:
    """Start a program whose output can be read."""
    return subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(cache),
        cwd=cache,
    )


class Ended(NamedTuple):
    """How a program ended, and what it had to say."""

    code: int
    output: str
    errors: str


def finish(arguments: list[str], cache: Path) -> Ended:
    """Run a program to its end."""
    process = start(arguments, cache)
    output, errors = process.communicate()
    return Ended(process.returncode, output, errors)


class Outcome(NamedTuple):
    """Everything that has to be equal bit for bit, whatever happened on the way."""

    evaluations: bytes
    state: dict[str, bytes]
    episodes: dict[int, bytes]
    snapshots: dict[str, bytes]
    metrics: list[dict[str, float]]  # but for the times that things took


def outcome(path: Path) -> Outcome:
    """The outcome of a run, from its newest checkpoint and its records."""
    folder = checkpoint_folders(path)[-1]
    manifest = read_manifest(folder)
    state = load_file(folder / manifest.state.name)
    episodes: dict[int, bytes] = {}
    oldest = manifest.episodes[-1].last - manifest.config.capacity // HORIZON
    for file in manifest.episodes:
        arrays = load_file(path / "replay" / file.name)
        for index in range(file.last - file.first):
            if file.first + index >= oldest:
                parts = [arrays[name][index].tobytes() for name in sorted(arrays)]
                episodes[file.first + index] = b"".join(parts)
    lines = (path / "metrics.jsonl").read_text().splitlines()
    return Outcome(
        (path / "eval.csv").read_bytes(),
        {name: np.asarray(array).tobytes() for name, array in state.items()},
        episodes,
        {file.name: file.read_bytes() for file in (path / "snapshots").glob("*")},
        [_without_times(json.loads(line)) for line in lines],
    )


def _without_times(values: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in values.items() if not name.startswith("time/")}
