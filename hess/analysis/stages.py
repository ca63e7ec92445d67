"""Training at a glance: where the newest episodes went at three stages, in x, y and in φ-space."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hess.analysis import maps, style
from hess.analysis.exploration import (
    start_to_end_bar,
    steps_text,
    subgoal_legend,
    subgoal_marks,
    subgoal_marks_in_plane,
    view_of,
)
from hess.analysis.maps import View
from hess.runs.run import NothingToDrawError, Run

_STAGES = 3
_SIDE = 3.0  # inches of a map


@style.styled
def stages(run: Run) -> Figure:
    """Trajectories and chosen subgoals early, in the middle and at the end of training."""
    views = [view_of(run, step) for step in stage_steps(run)]
    figure = style.new_figure(_SIDE * len(views) + 0.8, 2 * _SIDE + 0.9)
    above, below = figure.subplots(2, len(views), squeeze=False)
    for plane, space, view in zip(above, below, views, strict=True):
        _draw_plane(plane, view)
        _draw_space(space, view)
        solved = sum(trajectory.success for trajectory in view.snapshot.trajectories)
        share = f"{solved} of {len(view.snapshot.trajectories)} succeed"
        plane.set_title(f"{steps_text(view.snapshot.step)}, {share}")
    start_to_end_bar(figure, [*above, *below])
    subgoal_legend(figure)
    title = f"{run.title}: the newest episodes in x, y (above) and in φ-space (below)"
    figure.suptitle(title, x=0.01, ha="left", fontsize=9)
    return figure


def stage_steps(run: Run) -> list[int]:
    """The first snapshot, the one in the middle, and the last."""
    steps = list(run.snapshots)
    if len(steps) < _STAGES:
        raise NothingToDrawError(f"{run.title} has fewer than {_STAGES} snapshots")
    return [steps[0], steps[len(steps) // 2], steps[-1]]


def _draw_plane(axes: Axes, view: View) -> None:
    positions = view.snapshot.states.positions
    maps.dots(axes, positions, color=style.FAINT, s=3)
    for trajectory in view.snapshot.trajectories:
        maps.start_to_end_path(axes, trajectory.positions)
    subgoal_marks_in_plane(axes, view)
    maps.draw_plan(axes, view.plan, positions)


def _draw_space(axes: Axes, view: View) -> None:
    cloud = view.points(view.snapshot.states.embeddings)
    maps.dots(axes, cloud, color=style.FAINT, s=3)
    for trajectory in view.snapshot.trajectories:
        maps.start_to_end_path(axes, view.points(trajectory.embeddings))
    marked = subgoal_marks(axes, view)
    maps.label_space(axes, view, np.concatenate([cloud, *marked]))
