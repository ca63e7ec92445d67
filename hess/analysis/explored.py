"""Figures of what was explored and how: the paper's Fig. 3, 6 and 8, for any run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colorbar import Colorbar
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hess.agents.hess.exploration.selection import scores
from hess.analysis import maps, style
from hess.analysis.maps import SnapshotView
from hess.arrays import Floats
from hess.runs.run import NothingToDrawError, Run
from hess.runs.snapshots import Projection

_MOMENTS = 5  # columns of a figure over time
_SIDE = 2.6  # inches of a map
_SUBGOALS = (
    ("selected (active exploration)", style.SELECTED, "o"),
    ("imagined, beyond the selected", style.IMAGINED, "^"),
    ("by the high-level policy", style.BY_POLICY, "x"),
)


@style.styled
def measures(run: Run) -> Figure:
    """Density in the plane and in φ-space, change of φ, potential, combined score (Fig. 3)."""
    *_, step = moments(run)
    view = view_of(run, step)
    cells = view.snapshot.cells
    if not len(cells.centres):
        raise NothingToDrawError(f"{run.title} measures neither novelty nor potential")
    figure = style.new_figure(3 * _SIDE + 1.7, 2 * _SIDE + 0.9)
    plane, space, change, potential, score, unused = figure.subplots(2, 3).ravel()
    unused.remove()
    _bar(figure, maps.plane_density(plane, view), plane, "share of states")
    plane.set_title("(a) visits in the plane")
    _bar(figure, maps.space_density(space, view), space, "share of states")
    space.set_title("(b) visits in φ-space")
    _draw_change(run, change, view)
    dots = maps.measure(potential, view, cells.potential, style.MEASURE)
    _bar(figure, dots, potential, "potential U (−units of φ)")
    potential.set_title("(d) potential")
    combined = scores(cells.novelty, cells.potential, run.config.exploration)
    dots = maps.measure(score, view, combined, style.MEASURE)
    _bar(figure, dots, score, "Ñ − αU (dark is chosen)")
    score.set_title("(e) combined score")
    style.add_title(figure, f"{run.title}, at {steps_text(step)}")
    return figure


def _draw_change(run: Run, axes: Axes, view: SnapshotView) -> None:
    """Since the last snapshot with another φ; updates are rarer than snapshots may be."""
    axes.set_title("(c) change of φ")
    step = earlier_representation(run, view.snapshot.step)
    if step is not None:
        maps.feature_change(axes, run.snapshot(step), view)
    else:
        points = view.projection(view.snapshot.states.embeddings)
        maps.dots(axes, points, color=style.FAINT, s=5)
        maps.label_space(axes, view, points)
    note = "no earlier φ" if step is None else f"since {steps_text(step)}"
    axes.text(0.98, 0.02, note, transform=axes.transAxes, ha="right", fontsize=7)


def earlier_representation(run: Run, step: int) -> int | None:
    """The last snapshot before a step with another φ."""
    now = run.snapshot(step).layers[-1][0]
    for earlier in reversed([each for each in run.snapshots if each < step]):
        if not np.array_equal(run.snapshot(earlier).layers[-1][0], now):
            return earlier
    return None


@style.styled
def visits_over_time(run: Run) -> Figure:
    """Density in the plane at several times of training."""
    steps = moments(run)
    figure = style.new_figure(_SIDE * len(steps) + 0.8, _SIDE + 0.5)
    row = figure.subplots(1, len(steps), squeeze=False, sharey=True)[0]
    for axes, step in zip(row, steps, strict=True):
        mesh = maps.plane_density(axes, view_of(run, step))
        axes.set_title(steps_text(step))
        axes.label_outer()
    _bar(figure, mesh, list(row), "share of states")
    style.add_title(figure, f"{run.title}: visits in the plane")
    return figure


@style.styled
def representation_over_time(runs: Sequence[Run]) -> Figure:
    """φ of the same trajectories at several times, from start to end (Fig. 6); a row per run."""
    times = [moments(run) for run in runs]
    columns = max(map(len, times))
    figure = style.new_figure(_SIDE * columns + 0.9, (_SIDE + 0.4) * len(runs))
    rows = figure.subplots(len(runs), columns, squeeze=False)
    for row, run, steps in zip(rows, runs, times, strict=True):
        latest = run.snapshot(steps[-1])
        tracks = [each.observations for each in latest.trajectories if len(each.observations)]
        views = [view_of(run, step) for step in steps]
        paths = [[v.projection(v.snapshot.embed(track)) for track in tracks] for v in views]
        everything = np.concatenate([path for moment in paths for path in moment])
        for axes, view, moment in zip(row, views, paths, strict=False):
            for path in moment:
                maps.start_to_end_path(axes, path)
            maps.label_space(axes, view, everything)
            axes.label_outer()
            axes.set_title(steps_text(view.snapshot.step))
        if len(runs) > 1:
            row[0].set_ylabel(f"{run.config.method}\n{row[0].get_ylabel()}")
        for axes in row[len(steps) :]:
            axes.set_axis_off()
    start_to_end_bar(figure, list(rows.ravel()))
    title = f"φ of the {len(tracks)} newest trajectories of {runs[0].config.task}"
    style.add_title(figure, title)
    return figure


@style.styled
def subgoals(runs: Sequence[Run]) -> Figure:
    """Subgoals of the newest episodes in φ-space and in the plane (Fig. 8); a column per run."""
    alone = len(runs) == 1
    size = (2, 1) if alone else (len(runs), 2)
    figure = style.new_figure(3.4 * size[0], 3.3 * size[1] + 0.6)
    grid = figure.subplots(size[1], size[0], squeeze=False)
    for column, run in enumerate(runs):
        *_, step = moments(run)
        view = view_of(run, step)
        space, plane = grid[0] if alone else grid[:, column]
        subgoals_in_space(space, view)
        subgoals_in_plane(plane, view)
        space.set_title("in φ-space" if alone else run.config.method)
        plane.set_title("nearest visited x, y" if alone else "")
    subgoal_legend(figure)
    where = runs[0].title if alone else runs[0].config.task
    style.add_title(figure, f"{where}: subgoals of the newest episodes at {steps_text(step)}")
    return figure


def subgoals_in_space(axes: Axes, view: SnapshotView, paths: bool = False) -> None:
    """Selected subgoals, the imagined ones beyond them, and those of the policy.

    With the paths of the episodes below them, where wanted.
    """
    cloud = view.projection(view.snapshot.states.embeddings)
    trajectories = view.snapshot.trajectories
    _visited(axes, cloud, [view.projection(each.embeddings) for each in trajectories if paths])
    groups = [cloud]
    for trajectory in trajectories:
        active = trajectory.active
        selected = view.projection(trajectory.selected[active])
        imagined = view.projection(trajectory.subgoals[active])
        policy = view.projection(trajectory.subgoals[~active])
        for start, end in zip(selected, imagined, strict=True):
            axes.plot(*zip(start, end, strict=True), color=style.IMAGINED, linewidth=0.6, alpha=0.6)
        _subgoals(axes, policy, imagined, selected)
        groups += [selected, imagined, policy]
    maps.label_space(axes, view, np.concatenate(groups))


def subgoals_in_plane(axes: Axes, view: SnapshotView, paths: bool = False) -> None:
    """The same subgoals at the x, y of the visited states nearest to them."""
    positions, trajectories = view.snapshot.states.positions, view.snapshot.trajectories
    _visited(axes, positions, [each.positions for each in trajectories if paths])
    for each in trajectories:
        pursued, active = each.subgoal_positions, each.active
        _subgoals(axes, pursued[~active], pursued[active], each.selected_positions[active])
    maps.draw_plan(axes, view.plan, positions)


def _visited(axes: Axes, cloud: Floats, paths: Sequence[Floats]) -> None:
    maps.dots(axes, cloud, color=style.FAINT, s=3 if paths else 4)
    for path in paths:
        maps.start_to_end_path(axes, path)


def _subgoals(axes: Axes, *by_kind: Floats) -> None:
    """In the order of their kinds, what was selected on top."""
    for points, (_, colour, marker) in zip(by_kind, reversed(_SUBGOALS), strict=True):
        line, edge = (1.0, None) if marker == "x" else (0.4, "white")
        x, y = points.T
        axes.scatter(x, y, 16, colour, marker=marker, linewidths=line, edgecolors=edge, zorder=4)


def view_of(run: Run, step: int) -> SnapshotView:
    """A snapshot with the projection of the run's last one, so that maps can be compared."""
    last = run.snapshot(max(run.snapshots))
    return SnapshotView(run.snapshot(step), run.plan, Projection.of(last))


def steps_text(step: int) -> str:
    """A number of steps for a title: 25k, 1.25M."""
    return f"{step / 1e6:.4g}M steps" if step >= 1e6 else f"{step / 1e3:g}k steps"


def moments(run: Run) -> list[int]:
    """Up to five snapshots, spread over the run, with the first and the last."""
    steps = list(run.snapshots)
    if not steps:
        raise NothingToDrawError(f"{run.title} has no snapshots yet")
    return spread_out(steps)


def spread_out(steps: list[int], count: int = _MOMENTS) -> list[int]:
    """Up to `count` of them, evenly, with the first and the last."""
    places = np.linspace(0, len(steps) - 1, min(count, len(steps)))
    return [steps[place] for place in sorted({round(float(place)) for place in places})]


def subgoal_legend(figure: Figure) -> None:
    """What the marks of subgoals mean."""
    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="", label=label)
        for label, colour, marker in _SUBGOALS
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)


def start_to_end_bar(figure: Figure, axes: list[Axes]) -> None:
    """What the colours along a trajectory mean."""
    colours = ScalarMappable(Normalize(0.0, 1.0), style.START_TO_END)
    bar = _bar(figure, colours, axes, "")
    bar.set_ticks([0.0, 1.0], labels=["start", "end"])


def _bar(figure: Figure, shown: ScalarMappable, axes: Axes | list[Axes], label: str) -> Colorbar:
    bar = figure.colorbar(shown, ax=axes, shrink=0.72, aspect=24, pad=0.02)
    bar.set_label(label, fontsize=8)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=7, length=2, which="both")
    return bar


@style.styled
def stages(run: Run) -> Figure:
    """Trajectories and chosen subgoals early, in the middle and at the end of training."""
    steps = list(run.snapshots)
    if len(steps) < 3:
        raise NothingToDrawError(f"{run.title} has fewer than 3 snapshots")
    views = [view_of(run, step) for step in (steps[0], steps[len(steps) // 2], steps[-1])]
    figure = style.new_figure(3 * 3.0 + 0.8, 2 * 3.0 + 0.9)  # maps of 3 inches
    above, below = figure.subplots(2, 3)
    for plane, space, view in zip(above, below, views, strict=True):
        subgoals_in_plane(plane, view, paths=True)
        subgoals_in_space(space, view, paths=True)
        solved = sum(trajectory.success for trajectory in view.snapshot.trajectories)
        share = f"{solved} of {len(view.snapshot.trajectories)} succeed"
        plane.set_title(f"{steps_text(view.snapshot.step)}, {share}")
    start_to_end_bar(figure, [*above, *below])
    subgoal_legend(figure)
    title = f"{run.title}: the newest episodes in x, y (above) and in φ-space (below)"
    style.add_title(figure, title)
    return figure
