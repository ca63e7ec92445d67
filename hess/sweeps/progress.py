"""How far the runs of a sweep have come, read from their folders, and how long they still need.

Estimates of speed rest on what the parts of a run cost, corrected by what was measured here.
Evaluations, checkpoints and the start of a program come on top; together they are a few percent.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal, get_args

from hess.config import Config, LevelConfig
from hess.envs import TASKS
from hess.errors import HessError
from hess.runs.folder import RunFolder
from hess.runs.logs import measured_speed, parse_evaluations, read_evaluations, recent_metrics
from hess.runs.manifest import newest_manifest
from hess.sweeps.plan import Plan, PlannedRun

State = Literal["done", "running", "failed", "stopped", "queued"]


@dataclass(frozen=True)
class Note:
    """What a sweep remembers about a run that it has started."""

    state: Literal["running", "stopped", "failed"]
    reason: str = ""


@dataclass(frozen=True)
class Progress:
    """A run at this moment."""

    run: PlannedRun
    state: State
    step: int = 0
    success: float | None = None  # rate in the last evaluation
    speed: float | None = None  # steps/s over the last rounds
    reason: str = ""  # why it failed

    @property
    def share(self) -> float:
        """Of its steps that are done."""
        return min(self.step / self.run.config.steps, 1.0)


@dataclass(frozen=True)
class Overview:
    """All runs of a sweep at this moment."""

    runs: tuple[Progress, ...]
    slots: int = 1  # runs at a time

    @property
    def counts(self) -> dict[State, int]:
        """Runs by state, those states that there are."""
        counted = Counter(each.state for each in self.runs)
        return {state: counted[state] for state in get_args(State) if counted[state]}

    @property
    def seconds_left(self) -> float:
        """Until everything is done, failed runs apart: the longest run, or all work by slots."""
        left = seconds_left([each for each in self.runs if each.state != "failed"])
        return max(sum(left) / self.slots, max(left, default=0.0))


def seconds_left(runs: Sequence[Progress]) -> list[float]:
    """Seconds that each run still needs by itself.

    Its speed is as its task and method were measured here, or as is usual on this machine.
    """
    corrections: dict[tuple[str, str], list[float]] = defaultdict(list)
    for each in runs:
        if each.speed:
            config = each.run.config
            corrections[config.task, config.method].append(each.speed / estimated_speed(config))
    measured = list(chain.from_iterable(corrections.values())) or [1.0]

    def speed(config: Config) -> float:
        own = corrections.get((config.task, config.method), measured)
        return estimated_speed(config) * statistics.median(own)

    return [max(each.run.config.steps - each.step, 0) / speed(each.run.config) for each in runs]


class Watcher:
    """Looks at run folders again and again; at those of finished runs only once."""

    def __init__(self, sweep: Path, slots: int = 1):
        self._sweep, self._slots = sweep, slots
        self._done: dict[PlannedRun, Progress] = {}

    def look(self, plan: Plan, notes: Mapping[str, Note]) -> Overview:
        """All runs; a note that a run is running has to come from a sweep that is."""
        return Overview(tuple(self._look(run, notes.get(run.key)) for run in plan), self._slots)

    def _look(self, run: PlannedRun, note: Note | None) -> Progress:
        if run in self._done:
            return self._done[run]
        folder = RunFolder(run.path(self._sweep))
        rows = recent_metrics(folder)
        step = int(rows[-1]["step"]) if rows else 0
        success, speed = _last_success(folder), measured_speed(rows, run.config.pipeline)
        if is_finished(run, self._sweep):
            done = Progress(run, "done", max(step, run.config.steps), success, speed)
            return self._done.setdefault(run, done)
        if note is None:
            return Progress(run, "queued", step, success, speed)
        return Progress(run, note.state, step, success, speed, note.reason)


def is_finished(run: PlannedRun, sweep: Path) -> bool:
    """Whether the newest checkpoint is behind the last step and its evaluation."""
    try:
        manifest = newest_manifest(run.path(sweep))
    except HessError:
        return False  # training will say what is wrong with it
    if manifest is None or manifest.step < run.config.steps:
        return False
    evaluated = parse_evaluations(manifest.records.evaluations, "manifest.json")["step"]
    return bool(evaluated) and int(evaluated[-1]) == manifest.step


def _last_success(folder: RunFolder) -> float | None:
    try:
        rates = read_evaluations(folder).get("success_rate")
    except HessError:
        return None  # training will say what is wrong with it
    return rates[-1] if rates else None


# --- speed -----------------------------------------------------------------------------------

# Seconds, measured with `hess bench` on one AVX2 core; every estimate rests on these alone.
_ENVIRONMENT = {"point": 6e-6, "ant": 7e-4, "half-cheetah": 6e-5}  # per step, by robot
_OTHER_ENVIRONMENT = 1e-4
_ACTING = 3e-5  # per action, with φ and subgoals
_UPDATE = 4.3e-3 / (128 * 256 * 256)  # per SAC update, transition and weight between hidden layers
_MINIBATCH = 1.4e-6  # per φ minibatch and triplet
_OTHER_HORIZON = 500


def estimated_speed(config: Config) -> float:
    """Steps/s on one core; methods without a hierarchy are about a sixth faster than this."""
    task = TASKS.get(config.task.removeprefix("hess/").removesuffix("-v0"))
    horizon = task.horizon if task else _OTHER_HORIZON
    high = config.high.updates_per_decision / config.subgoal_interval
    representation = config.representation
    minibatches = representation.minibatches / (representation.interval * horizon)
    seconds = (
        _ENVIRONMENT.get(task.robot if task else "", _OTHER_ENVIRONMENT)
        + _ACTING
        + _update_seconds(config.low) * config.low.updates_per_decision
        + _update_seconds(config.high) * high
        + _MINIBATCH * representation.batch_size * minibatches
    )
    return 1.0 / seconds


def _update_seconds(level: LevelConfig) -> float:
    return _UPDATE * level.batch_size * math.prod(level.hidden[-2:])
