"""One picture of all tasks, for the documentation."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hess.envs import registry
from hess.envs.layouts import Layout
from hess.envs.rendering import first_picture
from hess.envs.topdown import TopDownView
from hess.files import write_atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAZES = ("PointMaze", "AntMaze", "AntPush", "AntFourRooms")
CHEETAHS = ("CheetahHurdle", "CheetahAscending")


def render_gallery(out: Path) -> None:
    """Draw all tasks into one file; maze tasks with the view of their `Images` variant."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 7.8), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(2, 4)
    for column, name in enumerate(MAZES):
        axes = figure.add_subplot(grid[0, column])
        _show(axes, name)
        _show_view(axes, name)
    for column, name in enumerate(CHEETAHS):
        _show(figure.add_subplot(grid[1, 2 * column : 2 * column + 2]), name)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100, metadata={"Software": None})
    write_atomic(out, buffer.getvalue())


def _show(axes: Axes, name: str) -> None:
    axes.imshow(first_picture(name))
    axes.set_title(name, fontsize=13, fontweight="bold")
    axes.set_axis_off()


def _show_view(axes: Axes, name: str) -> None:
    """What the robot of the `Images` variant sees from the start: walls blue, block red."""
    settings: dict[str, Any] = registry.TASKS[name].kwargs
    layout = Layout.parse(settings["layout"], settings["cell"])
    view = TopDownView(layout)(*layout.start, layout.block)
    colours = np.array([[0.44, 0.53, 0.66], [0.0, 0.0, 0.0], [0.82, 0.30, 0.26]])
    picture = 1.0 - np.clip(view @ (1.0 - colours), 0.0, 1.0)
    inset = axes.inset_axes((0.84, 0.89, 0.16, 0.16))
    inset.imshow(picture, origin="lower", interpolation="nearest")
    inset.set_xticks([])
    inset.set_yticks([])
