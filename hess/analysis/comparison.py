"""Methods against each other on every task, from run folders or from recorded results."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hess.analysis import statistics
from hess.analysis.groups import by_setting, by_task
from hess.analysis.recorded import FIRST_COLUMNS, RecordedSeed, read_table
from hess.analysis.statistics import Arrivals, Estimate
from hess.arrays import Floats
from hess.errors import HessError, unknown
from hess.files import named
from hess.runs.logs import Series
from hess.runs.run import Run, find_runs, walk

ALL_TASKS = "all tasks"


@dataclass(frozen=True)
class ComparedRun:
    """The evaluations of one run."""

    task: str
    method: str  # with what it changes, where runs of a method differ
    seed: int
    success: Series
    origin: Path

    @property
    def last_step(self) -> int:
        """Of the last evaluation; 0 before the first."""
        return int(self.success.steps[-1]) if len(self.success.steps) else 0

    @classmethod
    def of(cls, run: Run, task: str, method: str) -> ComparedRun:
        """A run folder under the names that a table gives it."""
        success = run.evaluations.get("success_rate", Series(np.empty(0), np.empty(0)))
        return cls(task, method, run.config.seed, success, run.path)

    def until(self, step: int) -> ComparedRun:
        """The same run as it was at a step."""
        count = int(np.searchsorted(self.success.steps, step, side="right"))
        cut = Series(self.success.steps[:count], self.success.values[:count])
        return dataclasses.replace(self, success=cut)


@dataclass(frozen=True)
class ComparisonRow:
    """A method on a task; over all tasks, only what can be averaged over tasks."""

    task: str
    method: str
    runs: int
    interquartile: Estimate
    improvement: Estimate | None = None  # over the reference
    final: Estimate | None = None
    median_steps: Estimate | None = None  # to the threshold, Kaplan and Meier
    mean_steps: Estimate | None = None  # the same, restricted to the steps that all were watched
    reached: int | None = None


@dataclass(frozen=True)
class Measure:
    """What is compared."""

    last: int = 4
    """Evaluations whose mean is the final success."""
    threshold: float = 0.9
    reference: str | None = None
    """The method to improve on; "hess" by default, where there is one."""


def read_compared(
    paths: Sequence[Path], until: int | None, skipped: Callable[[str], None]
) -> list[ComparedRun]:
    """All runs and tables below the paths; `skipped` hears of runs that are not far enough."""
    found: dict[Path, Run] = {}
    recorded: list[RecordedSeed] = []
    for path in paths:
        if path.is_file():
            recorded += read_table(path)
        elif path.is_dir() and next(walk(path), None) is None:
            recorded += _tables_below(path)
        else:
            found |= {run.path.resolve(): run for run in find_runs([path])}
    # What was recorded is finished.
    candidates = [(recorded_run(curve), curve.steps[-1]) for curve in recorded]
    for task, own in by_task(list(found.values())).items():
        for setting in by_setting(own):
            label, seeds = setting.label, setting.runs
            candidates += [(ComparedRun.of(run, task, label), run.config.steps) for run in seeds]
    outcomes = []
    for outcome, planned in candidates:
        steps, done = until or planned, outcome.last_step
        shown = outcome if until is None else outcome.until(until)
        if done < steps:
            skipped(f"left out: {outcome.origin} has done {done:,} of {steps:,} steps")
        elif not len(shown.success.steps):
            skipped(f"left out: {outcome.origin} was not evaluated in its first {steps:,} steps")
        else:
            outcomes.append(shown)
    if not outcomes:
        raise HessError("no run has come far enough to be compared; --until STEP asks for less")
    _refuse_twins(outcomes)
    return outcomes


def _tables_below(path: Path) -> list[RecordedSeed]:
    files = (file for file in sorted(path.rglob("*.csv")) if file.is_file())
    tables = [file for file in files if _has_columns(file)]
    if not tables:
        raise HessError(f"there is neither a run nor a table of results in {str(path)!r}")
    return [curve for table in tables for curve in read_table(table)]


def _has_columns(table: Path) -> bool:
    with named("read", table), table.open(errors="replace") as file:
        return file.readline().rstrip("\n").startswith(",".join(FIRST_COLUMNS))


def recorded_run(curve: RecordedSeed) -> ComparedRun:
    """A recorded seed as one that is compared."""
    success = Series(np.array(curve.steps, np.float64), np.array(curve.success))
    origin = Path(curve.suite, curve.method, f"{curve.task}.csv")
    return ComparedRun(curve.task, curve.method, curve.seed, success, origin)


def _refuse_twins(outcomes: Iterable[ComparedRun]) -> None:
    """One run counted twice would make every interval too narrow."""
    seen: dict[tuple[str, str, int], ComparedRun] = {}
    for outcome in outcomes:
        key = (outcome.task, outcome.method, outcome.seed)
        if key in seen:
            raise HessError(
                f"{outcome.method} on {outcome.task} has seed {outcome.seed} twice, in "
                f"{str(seen[key].origin)!r} and {str(outcome.origin)!r}; name only one of them"
            )
        seen[key] = outcome


def compare(outcomes: Sequence[ComparedRun], measure: Measure) -> list[ComparisonRow]:
    """A row per task and method, then one per method that has runs on all of several tasks."""
    tasks = sorted({outcome.task for outcome in outcomes})
    methods = list(dict.fromkeys(outcome.method for outcome in outcomes))
    reference = _reference(measure.reference, methods)
    groups: dict[tuple[str, str], list[ComparedRun]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.task, outcome.method), []).append(outcome)
    finals = {key: _finals(group, measure.last) for key, group in groups.items()}
    rows = []
    for task in tasks:
        watched = min(outcome.last_step for outcome in outcomes if outcome.task == task)
        for method in methods:
            if (task, method) in groups:
                row = _over_tasks([task], method, reference, finals)
                rows.append(_on_task(row, groups[task, method], measure, watched))
    complete = [m for m in methods if all((task, m) in groups for task in tasks)]
    if len(tasks) > 1:
        rows += [_over_tasks(tasks, method, reference, finals) for method in complete]
    return rows


def _reference(name: str | None, methods: Sequence[str]) -> str | None:
    if name is None:
        return "hess" if "hess" in methods else None
    if name not in methods:
        raise unknown("reference method", name, methods)
    return name


def _finals(group: Sequence[ComparedRun], last: int) -> Floats:
    return np.array([outcome.success.values[-last:].mean() for outcome in group])


def _over_tasks(
    tasks: Sequence[str], method: str, reference: str | None, finals: dict[tuple[str, str], Floats]
) -> ComparisonRow:
    """The scores on one task or several."""
    own = [finals[task, method] for task in tasks]
    gain = None
    if reference not in (None, method) and all((task, reference) in finals for task in tasks):
        theirs = [finals[task, str(reference)] for task in tasks]
        gain = statistics.improvement_estimate(own, theirs)
    return ComparisonRow(
        task=tasks[0] if len(tasks) == 1 else ALL_TASKS,
        method=method,
        runs=sum(map(len, own)),
        interquartile=statistics.interquartile_estimate(own),
        improvement=gain,
    )


def _on_task(
    row: ComparisonRow, group: Sequence[ComparedRun], measure: Measure, watched: float
) -> ComparisonRow:
    """The row with what means something on one task only."""
    curves = [(each.success.steps, each.success.values) for each in group]
    arrivals = statistics.arrivals(curves, measure.threshold)
    return dataclasses.replace(
        row,
        final=statistics.mean_estimate(_finals(group, measure.last)),
        median_steps=statistics.arrival_estimate(arrivals, Arrivals.median),
        mean_steps=statistics.arrival_estimate(
            arrivals, lambda drawn: drawn.restricted_mean(watched)
        ),
        reached=int(arrivals.reached.sum()),
    )
