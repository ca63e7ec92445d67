"""Runs that belong together: the seeds of one setting, and the settings of one comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hess.agents.methods import METHODS
from hess.analysis.statistics import half_width
from hess.arrays import Floats
from hess.runs.logs import Series, running_mean
from hess.runs.run import Run

_NOT_A_SETTING = ("seed", "steps", "task", "method", "record.", "evaluation.", "pipeline")


@dataclass(frozen=True)
class Curve:
    """Mean over seeds with its 95 % interval; of a single seed the interval is unknown."""

    steps: Floats  # [n]
    mean: Floats  # [n]
    half: Floats | None  # [n]
    seeds: int


@dataclass(frozen=True)
class Setting:
    """Runs that differ in nothing but the seed."""

    label: str
    runs: tuple[Run, ...]

    def curve(self, smooth: int) -> Curve | None:
        """Success in evaluation over steps; None before the first evaluation."""
        found = [run.evaluations.get("success_rate") for run in self.runs]
        series = [each for each in found if each is not None]
        return average(series, smooth) if series else None


def average(series: Sequence[Series], smooth: int = 1) -> Curve:
    """Mean and interval over seeds, as far as all of them have come.

    Each point is a mean of the last `smooth` evaluations, or of fewer: a tenth of a curve at most,
    so that a short one does not seem to rise slowly.
    """
    last = min(each.steps[-1] for each in series)
    steps = np.unique(np.concatenate([each.steps for each in series]))
    steps = steps[steps <= last]
    window = min(smooth, len(steps) // 10)
    values = np.stack(
        [running_mean(np.interp(steps, each.steps, each.values), window) for each in series]
    )
    return Curve(steps, values.mean(0), half_width(values), len(values))


def by_task(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Runs per task, in alphabetical order of the tasks."""
    tasks = sorted({run.config.task for run in runs})
    return {task: [run for run in runs if run.config.task == task] for task in tasks}


def by_method(runs: Sequence[Run]) -> list[Setting]:
    """One setting per method, each with the values that most of its runs have."""
    methods = {run.config.method for run in runs}
    return [setting for setting in by_setting(runs) if setting.label in methods]


def by_setting(runs: Sequence[Run]) -> list[Setting]:
    """Per method the usual values first, then every other combination under what it changes."""
    settings = []
    found = {run.config.method for run in runs}
    # In the order of the registry, then those that it does not know.
    for method in [*(name for name in METHODS if name in found), *sorted(found - set(METHODS))]:
        own = [run for run in runs if run.config.method == method]
        usual = _usual(own)
        groups: dict[str, list[Run]] = {method: []}
        for run in own:
            changes = _differences(run, usual).items()
            label = " ".join([method, *(f"{name}={value}" for name, value in sorted(changes))])
            groups.setdefault(label, []).append(run)
        settings += [Setting(label, tuple(group)) for label, group in groups.items() if group]
    return settings


def by_value(runs: Sequence[Run]) -> dict[str, list[Setting]]:
    """For every field varied within a method and task: a setting per value, all else as usual."""
    panels: dict[str, list[Setting]] = {}
    for task, method in sorted({(run.config.task, run.config.method) for run in runs}):
        own = [r for r in runs if (r.config.task, r.config.method) == (task, method)]
        usual = _usual(own)
        for name in sorted({name for run in own for name in _differences(run, usual)}):
            values: dict[Any, list[Run]] = {}
            for run in own:
                if set(_differences(run, usual)) <= {name}:
                    values.setdefault(_settings(run).get(name), []).append(run)
            order = sorted(values, key=lambda value: (type(value).__name__, value))
            panels[f"{name}\n{method} on {task}"] = [
                Setting(f"{value}", tuple(values[value])) for value in order
            ]
    return panels


def _settings(run: Run) -> dict[str, Any]:
    fields = run.config.fields
    return {name: value for name, value in fields.items() if not name.startswith(_NOT_A_SETTING)}


def _usual(runs: Sequence[Run]) -> dict[str, Any]:
    """The most frequent value of every field."""
    rows = [_settings(run) for run in runs]
    names = {name for row in rows for name in row}
    return {name: Counter(row.get(name) for row in rows).most_common(1)[0][0] for name in names}


def _differences(run: Run, usual: dict[str, Any]) -> dict[str, Any]:
    own = _settings(run)
    return {name: own.get(name) for name, value in usual.items() if own.get(name) != value}
