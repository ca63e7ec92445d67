"""What the page shows, as plain values for JSON: the runs, one run, one snapshot."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hess.agents.hess.exploration.selection import scores
from hess.analysis.explained import EVALUATIONS, Explanation, shown_diagnostics
from hess.envs.floorplan import FloorPlan
from hess.errors import HessError
from hess.runs.logs import GrowingMetrics, Series, metric_series, recent_metrics
from hess.runs.run import Run, task_plan, walk
from hess.runs.snapshots import Projection, Snapshot, Trajectory, load_snapshot

Payload = dict[str, Any]

_POINTS = 400  # of a curve: about the pixels it is drawn with
_NOISY = 80  # values from which a running mean is drawn as well
_TAIL = 8192  # bytes at the end of metrics.jsonl that hold its last line
_NAMES = {"hess": "HESS"}
_STRENGTH = "representation/strength_"


class Library:
    """The runs under one folder; nothing outside of it is ever read."""

    def __init__(self, root: Path):
        self.root = root.resolve()
        self._lock = threading.Lock()
        self._metrics: dict[str, GrowingMetrics] = {}
        self._overviews: dict[str, tuple[object, Payload]] = {}

    def runs(self) -> list[Payload]:
        """A line per run for the chooser; a damaged one has a problem instead of numbers."""
        return [self._summary(name, path) for name, path in sorted(self._found().items())]

    def run(self, name: str) -> Payload:
        """Everything about a run but its snapshots; worked out again when its files change."""
        run = self._open(name)
        now = _signature(run)
        signature, payload = self._overviews.get(name, (None, {}))
        if signature != now:
            payload = self._overview(name, run)
            self._overviews[name] = (now, payload)
        return payload

    def _overview(self, name: str, run: Run) -> Payload:
        problems: list[str] = []

        def attempt(read: Callable[[], Any], otherwise: Any) -> Any:
            """A damaged part must not hide the others."""
            try:
                return read()
            except HessError as error:
                problems.append(str(error))
                return otherwise

        about = attempt(lambda: run.config, None)
        steps = list(run.snapshots)
        if about and not steps:
            problems.append(
                "no snapshots yet: they begin when a method has learned its φ the first time"
            )
        return {
            "name": name,
            "task": about.task if about else "",
            "method": about.method if about else "",
            "steps": about.steps if about else 0,
            "plan": attempt(lambda: _plan(task_plan(about.task, *about.fields["env"])), None)
            if about
            else None,
            "snapshots": steps,
            "evaluations": attempt(lambda: _charts(run.evaluations, EVALUATIONS), []),
            "diagnostics": attempt(lambda: self._diagnostics(name, run), []),
            "problems": problems,
            "step": _last_step(run)[0],
        }

    def snapshot(self, name: str, step: int) -> Payload:
        """One moment of a run."""
        run = self._open(name)
        if step not in run.snapshots:
            raise HessError(f"the run {name!r} has no snapshot at step {step}")
        self._guard(run.snapshots[step])
        snapshot = run.snapshot(step)
        payload = _snapshot(snapshot, self._projection(run, snapshot), run)
        return payload | {"strengths": self._strengths(name, run, step)}

    def _projection(self, run: Run, snapshot: Snapshot) -> Projection:
        """That of the run's last readable snapshot: moments can be compared; 2-D needs none."""
        if snapshot.states.embeddings.shape[1] > 2:
            for path in reversed(run.snapshots.values()):
                try:
                    self._guard(path)
                    return Projection.of(load_snapshot(path))
                except HessError:  # it is named where it is shown
                    continue
        return Projection.of(snapshot)

    def _found(self) -> dict[str, Path]:
        return {path.relative_to(self.root).as_posix(): path for path in walk(self.root)}

    def _open(self, name: str) -> Run:
        """A run by name. Names are looked up among those found, never joined to a path."""
        found = self._found()
        if name not in found:
            raise HessError(f"there is no run {name!r} here")
        return self._guarded(found[name])

    def _guarded(self, path: Path) -> Run:
        run = Run(path)
        folder = run.folder
        for file in (folder.config_file, folder.metrics_file, folder.evaluations_file):
            self._guard(file)
        self._guard(folder.snapshots)
        return run

    def _guard(self, path: Path) -> None:
        if not path.resolve().is_relative_to(self.root):
            raise HessError(f"{path.name!r} is a link out of the folder that is viewed")

    def _diagnostics(self, name: str, run: Run) -> list[Payload]:
        columns = self._columns(name, run)
        return _charts(columns, shown_diagnostics(columns))

    def _strengths(self, name: str, run: Run, step: int) -> list[Any]:
        """How much φ's slowest directions moved at its newest update until then, the first as 1."""
        try:
            columns = self._columns(name, run)
        except HessError:  # it is named among the run's problems
            return []
        logged = [columns[each] for each in sorted(columns) if each.startswith(_STRENGTH)]
        until = [series.values[series.steps <= step] for series in logged]
        return numbers([values[-1] for values in until if len(values)], 2)

    def _columns(self, name: str, run: Run) -> dict[str, Series]:
        with self._lock:
            reader = self._metrics.setdefault(name, GrowingMetrics(run.folder.metrics_file))
            return metric_series(reader.read())

    def _summary(self, name: str, path: Path) -> Payload:
        try:
            run = self._guarded(path)
            about = run.config
            title = f"{about.task} · {_NAMES.get(about.method, about.method)} · {path.name}"
            step, age = _last_step(run)
            return {"name": name, "title": title, "step": step, "steps": about.steps, "age": age}
        except HessError as error:
            return {"name": name, "title": f"{name} (damaged)", "problem": str(error)}


def _signature(run: Run) -> tuple[object, ...]:
    """Changes whenever a file of the run does."""
    folder = run.folder
    paths = (folder.config_file, folder.metrics_file, folder.evaluations_file, folder.snapshots)
    return tuple(_stamp(path) for path in paths)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size


def _last_step(run: Run) -> tuple[int, float | None]:
    """How far a run has come, and how many seconds ago it wrote that; from the file's end."""
    rows = recent_metrics(run.folder, _TAIL)
    if not rows:  # nothing written yet; a damaged file is named where it is read in full
        return 0, None
    age = time.time() - run.folder.metrics_file.stat().st_mtime
    return int(rows[-1]["step"]), round(max(age, 0.0), 1)


def _charts(columns: dict[str, Series], explained: dict[str, Explanation]) -> list[Payload]:
    charts = []
    for name, text in explained.items():
        if name in columns:
            chart = {"name": name, **text._asdict(), **_line(columns[name])}
            if len(columns[name].steps) >= _NOISY:
                chart["smooth"] = _line(columns[name].smoothed())
            charts.append(chart)
    return charts


def _line(series: Series) -> Payload:
    thinned = series.thinned(_POINTS)
    return {"steps": numbers(thinned.steps, 12), "values": numbers(thinned.values)}


def _plan(plan: FloorPlan | None) -> Payload | None:
    if plan is None:
        return None
    places = {name: getattr(plan, name) for name in ("walls", "start", "goal", "bounds", "block")}
    shown = {name: None if each is None else numbers(each) for name, each in places.items()}
    return shown | {"axes": list(plan.axes)}


def _snapshot(snapshot: Snapshot, projection: Projection, run: Run) -> Payload:
    states, cells = snapshot.states, snapshot.cells
    return {
        "step": snapshot.step,
        "space_title": projection.title,
        "labels": list(projection.labels),
        "states": {
            "plane": numbers(states.positions),
            "space": numbers(projection(states.embeddings)),
            "steps": states.steps.tolist(),
            "cells": cells.indices(states.embeddings).tolist(),
        },
        "cells": {
            "visits": numbers(cells.counts),
            "novelty": numbers(cells.novelty),
            "potential": numbers(cells.potential),
            "score": numbers(scores(cells.novelty, cells.potential, run.config.exploration)),
        },
        "trajectories": [_trajectory(each, projection) for each in snapshot.trajectories],
    }


def _trajectory(trajectory: Trajectory, projection: Projection) -> Payload:
    return {
        "plane": numbers(trajectory.positions),
        "space": numbers(projection(trajectory.embeddings)),
        "success": trajectory.success,
        "active": trajectory.active.tolist(),
        "subgoals": numbers(projection(trajectory.subgoals)),
        "selected": numbers(projection(trajectory.selected)),
        "subgoals_plane": numbers(trajectory.subgoal_positions),
        "selected_plane": numbers(trajectory.selected_positions),
    }


def numbers(array: ArrayLike, digits: int = 5) -> list[Any]:
    """Nested lists of numbers, rounded; what is not finite becomes null, as JSON demands."""
    flat = np.asarray(array, np.float64)
    if flat.ndim > 1:
        return [numbers(row, digits) for row in flat]
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in flat.tolist()]
