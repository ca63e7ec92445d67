"""How far the runs of a sweep have come, read from their folders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hess.errors import HessError
from hess.experiments.plan import Plan, PlannedRun
from hess.experiments.speed import Speeds, measured_speed
from hess.experiments.sweep import LOG, Note
from hess.runs.folder import RunFolder
from hess.runs.logs import last_lines, parse_evaluations, read_evaluations, recent_metrics
from hess.runs.manifest import Manifest, newest_manifest

State = Literal["done", "running", "failed", "stopped", "queued"]
STATES: tuple[State, ...] = ("done", "running", "failed", "stopped", "queued")


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

    @property
    def steps_left(self) -> int:
        """That it still has to do."""
        return 0 if self.state == "done" else max(self.run.config.steps - self.step, 0)


@dataclass(frozen=True)
class Overview:
    """All runs of a sweep at this moment."""

    runs: tuple[Progress, ...]
    slots: int = 1  # runs at a time

    @property
    def counts(self) -> dict[State, int]:
        """Runs by state, those states that there are."""
        counted = Counter(each.state for each in self.runs)
        return {state: counted[state] for state in STATES if counted[state]}

    @property
    def seconds_left(self) -> float:
        """Until everything is done, failed runs apart: the longest run, or all work by slots."""
        left = seconds_left([each for each in self.runs if each.state != "failed"])
        return max(sum(left) / self.slots, max(left, default=0.0))


def seconds_left(runs: Sequence[Progress]) -> list[float]:
    """Seconds that each run still needs by itself."""
    speeds = Speeds((each.run.config, each.speed) for each in runs if each.speed)
    return [each.steps_left / speeds.of(each.run.config) for each in runs]


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
        seen = look(run, self._sweep, note)
        if seen.state == "done":
            self._done[run] = seen
        return seen


def look(run: PlannedRun, sweep: Path, note: Note | None) -> Progress:
    """One run."""
    folder = RunFolder(run.path(sweep))
    rows = recent_metrics(folder)
    step = int(rows[-1]["step"]) if rows else 0
    success, speed = _last_success(folder), measured_speed(rows, run.config.pipeline)
    if is_finished(run, sweep):
        return Progress(run, "done", max(step, run.config.steps), success, speed)
    return Progress(
        run, note.state if note else "queued", step, success, speed, note.reason if note else ""
    )


def is_finished(run: PlannedRun, sweep: Path) -> bool:
    """Whether the newest checkpoint is behind the last step and its evaluation."""
    try:
        manifest = newest_manifest(run.path(sweep))
    except HessError:
        return False  # training will say what is wrong with it
    if manifest is None or manifest.step < run.config.steps:
        return False
    return _last_evaluated(manifest) == manifest.step


def _last_evaluated(manifest: Manifest) -> int:
    steps = parse_evaluations(manifest.records.evaluations, "manifest.json")["step"]
    return int(steps[-1]) if steps else -1


def last_printed(run: PlannedRun, sweep: Path, count: int = 5) -> list[str]:
    """The end of what a run has printed."""
    return [line for line in last_lines(run.path(sweep) / LOG) if line.strip()][-count:]


def _last_success(folder: RunFolder) -> float | None:
    try:
        rates = read_evaluations(folder).get("success_rate")
    except HessError:
        return None  # training will say what is wrong with it
    return rates[-1] if rates else None
