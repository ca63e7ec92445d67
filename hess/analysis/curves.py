"""Learning curves: of one run, of methods, of values of a hyper-parameter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hess.analysis import style
from hess.analysis.explained import shown_diagnostics
from hess.analysis.groups import Curve, Setting, average, by_method, by_task, by_value
from hess.runs.folder import RunFolder
from hess.runs.logs import Series
from hess.runs.run import NothingToDrawError, Run

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_COLUMNS = 4  # panels in a row
_FIT_INSIDE = 4  # entries of a legend that leave room for the curves
_FEW = 20  # values that are worth a mark each; a single one would be invisible without
VARIANCE = "intrinsic/variance"

Entries = dict[str, tuple[Line2D, int]]
"""The curves of a panel by name, each with its number of seeds."""
POINTS = 600  # of a diagnostic: more than a panel has pixels


def draw_curve(folder: RunFolder) -> None:
    """Success in evaluation and in training over environment steps, as a PNG in the run."""
    style.save_figure(run_curve(Run(folder.path)), folder.curve_file)


@style.styled
def run_curve(run: Run) -> Figure:
    """The learning curve of one run."""
    if not run.evaluations:
        raise NothingToDrawError(f"{run.title} has not been evaluated yet")
    figure = style.new_figure(6.4, 3.4)
    axes = figure.subplots()
    for column, colour, label in (
        ("train_success", style.ORANGE, "training"),
        ("success_rate", style.BLUE, "evaluation"),
    ):
        series = run.evaluations.get(column)
        if series is not None:
            marker = "o" if column == "success_rate" else ""
            axes.plot(series.steps, series.values, color=colour, marker=marker, label=label, ms=4)
    _success_axes(axes)
    axes.set_title(run.title)
    axes.legend(loc="upper left")
    return figure


def method_curves(runs: Sequence[Run], smooth: int = 1) -> Figure:
    """A panel per task, a curve per method: mean over seeds with its 95 % interval (Fig. 4, 7)."""
    if not any(run.evaluations for run in runs):
        raise NothingToDrawError("no run has been evaluated yet")
    return panel_curves({task: by_method(own) for task, own in by_task(runs).items()}, smooth)


def value_curves(runs: Sequence[Run], smooth: int = 1) -> Figure:
    """A panel per hyper-parameter, a curve per value of it (Fig. 9)."""
    panels = by_value(runs)
    if not panels:
        raise NothingToDrawError("no two runs of a method differ in a hyper-parameter")
    return panel_curves(panels, smooth)


@style.styled
def intrinsic_variance(runs: Sequence[Run], smooth: int = 1) -> Figure:
    """How much the intrinsic reward still tells states apart, per method (Appendix D).

    Log scale: methods measure in units of their own, and what counts is how fast it vanishes.
    """
    panels: dict[str, dict[str, list[Series]]] = {}
    for task, own in by_task(runs).items():
        for setting in by_method(own):
            if series := _variances(setting):
                panels.setdefault(task, {})[setting.label] = series
    if not panels:
        raise NothingToDrawError("no run has an intrinsic reward")
    figure, grid = _grid(len(panels), 3.6, 2.8)
    labels = list(dict.fromkeys(label for panel in panels.values() for label in panel))
    for axes, (task, panel) in zip(grid, panels.items(), strict=True):
        for label, series in panel.items():
            lowest = float(min(each.values.min() for each in series))
            curve = average(series, smooth)
            _draw_mean(axes, curve, label, labels.index(label), (lowest, math.inf))
        axes.set(yscale="log", ylabel="variance of the intrinsic reward")
        axes.set_title(task, fontsize=9)
        axes.grid(axis="y")
        axes.legend(fontsize=7)
        _step_axis(axes)
    return figure


def _variances(setting: Setting) -> list[Series]:
    """Of every seed; where it is exactly 0, a log scale has no place for it."""
    found = [run.metrics.get(VARIANCE) for run in setting.runs]
    above = [
        Series(each.steps[each.values > 0], each.values[each.values > 0])
        for each in found
        if each is not None
    ]
    return [each.thinned(POINTS).smoothed() for each in above if len(each.steps)]


@style.styled
def diagnostics(run: Run) -> Figure:
    """Every diagnostic of a run that has an explanation."""
    shown = shown_diagnostics(run.metrics)
    if not shown:
        raise NothingToDrawError(f"{run.title} has logged nothing yet")
    figure, grid = _grid(len(shown), 2.5, 1.75)
    for number, (axes, (name, text)) in enumerate(zip(grid, shown.items(), strict=True)):
        draw_series(axes, run.metrics[name])
        if number + _COLUMNS < len(shown):
            axes.set_xlabel("")
        axes.set_title(text.title, fontsize=8)
        axes.set_ylabel(text.unit, fontsize=7)
    return figure


def draw_series(axes: Axes, series: Series) -> None:
    """A noisy quantity: every value faintly, their running mean clearly."""
    thinned = series.thinned(POINTS)
    axes.plot(thinned.steps, thinned.values, color=style.SKY, linewidth=0.6, alpha=0.6)
    smooth = series.smoothed().thinned(POINTS)
    marker = "o" if len(smooth.steps) < _FEW else ""
    axes.plot(smooth.steps, smooth.values, color=style.BLUE, linewidth=1.4, marker=marker, ms=3)
    axes.grid(axis="y")
    _step_axis(axes)


@style.styled
def panel_curves(panels: dict[str, list[Setting]], smooth: int = 1) -> Figure:
    """Panels by title, each with a curve per setting."""
    figure, grid = _grid(len(panels), 3.3, 2.7)
    labels = list(dict.fromkeys(s.label for group in panels.values() for s in group))
    alike = len(labels) <= len(style.PALETTE)  # one colour per label in all panels
    drawn: list[Entries] = []
    for axes, (title, settings) in zip(grid, panels.items(), strict=True):
        own = labels if alike else [each.label for each in settings]
        drawn.append({})
        for setting in settings:
            curve = setting.curve(smooth)
            if curve is not None:
                line = _draw_mean(axes, curve, setting.label, own.index(setting.label), (0, 1))
                drawn[-1][setting.label] = line, curve.seeds
        _success_axes(axes)
        axes.set_title(title, fontsize=9)
    _legends(figure, grid, drawn, alike=alike)
    return figure


def _legends(
    figure: Figure, grid: Sequence[Axes], entries: Sequence[Entries], *, alike: bool
) -> None:
    """One below all panels where they share curves and colours, one in each where not."""
    names = list(dict.fromkeys(name for own in entries for name in own))
    shared = alike and len(names) < sum(map(len, entries))
    if not (shared or (len(grid) == 1 and len(names) > _FIT_INSIDE)):
        for axes, own in zip(grid, entries, strict=True):
            if own:
                axes.legend(loc="upper left", fontsize=7)
        return
    handles = [next(own[name][0] for own in entries if name in own) for name in names]
    seeds = [sorted({own[name][1] for own in entries if name in own}) for name in names]
    labels = [f"{name} ({_seeds_text(own)})" for name, own in zip(names, seeds, strict=True)]
    columns = max(min(len(labels), int(figure.get_figwidth() / 2.2)), 1)  # inches for a label
    figure.set_figheight(figure.get_figheight() + 0.2 * math.ceil(len(labels) / columns))
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=7)


def _seeds_text(counts: Sequence[int]) -> str:
    """As many as a curve has; panels may differ."""
    if len(counts) > 1:
        return f"{counts[0]} to {counts[-1]} seeds"
    return f"{counts[0]} seed{'s' if counts[0] > 1 else ''}"


def _draw_mean(
    axes: Axes, curve: Curve, label: str, number: int, limits: tuple[float, float]
) -> Line2D:
    """A mean over seeds with its interval, cut to where the quantity can be."""
    colour = style.PALETTE[number % len(style.PALETTE)]
    every = max(len(curve.steps) // 8, 1)
    options: dict[str, Any] = {"color": colour, "marker": _MARKERS[number % len(_MARKERS)]}
    label = f"{label} ({_seeds_text([curve.seeds])})"
    # Markers tell curves apart where colours cannot: in print, and for some eyes.
    (line,) = axes.plot(
        curve.steps, curve.mean, label=label, markevery=every, markersize=4, **options
    )
    if curve.half is not None:
        low, high = (
            edge.clip(*limits) for edge in (curve.mean - curve.half, curve.mean + curve.half)
        )
        axes.fill_between(curve.steps, low, high, color=colour, alpha=0.15, linewidth=0)
    return line


def _grid(count: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    columns = min(count, _COLUMNS)
    rows = math.ceil(count / columns)
    figure = style.new_figure(width * columns + 0.3, height * rows + 0.2)
    grid = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axes in grid[count:]:
        axes.remove()
    return figure, grid[:count]


def _success_axes(axes: Axes) -> None:
    axes.set(ylabel="success rate", ylim=(-0.03, 1.03))
    axes.grid(axis="y")
    _step_axis(axes)


def _step_axis(axes: Axes) -> None:
    """Environment steps, in thousands or millions as it fits."""
    right = axes.dataLim.x1
    millions = right >= 1e6
    unit, name = (1e6, "millions") if millions else (1e3, "thousands")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / unit:g}")
    axes.set_xlabel(f"environment steps ({name})", fontsize=8)
    axes.set_xlim(0, max(right, 1))
