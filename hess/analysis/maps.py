"""Maps: the plane of a task, and φ-space. Each function fills one axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import (
    LineCollection,
    PatchCollection,
    PathCollection,
    PolyCollection,
    QuadMesh,
)
from matplotlib.colors import LogNorm
from matplotlib.patches import Rectangle
from scipy.ndimage import gaussian_filter

from hess.analysis import style
from hess.arrays import Floats
from hess.envs.floorplan import FloorPlan
from hess.runs.snapshots import Projection, Snapshot

Box = tuple[float, float, float, float]  # left, low, right, high

_PIXELS = 56  # per side of a density
ARROWS = 200  # more of them hide each other
_MARGIN = 0.08  # around φ-space, as a share of its size


@dataclass(frozen=True)
class SnapshotView:
    """A snapshot and what it takes to draw it."""

    snapshot: Snapshot
    plan: FloorPlan | None
    projection: Projection


def draw_plan(axes: Axes, plan: FloorPlan | None, positions: Floats) -> None:
    """Walls, block, start and goal on top of whatever is shown; units on the axes."""
    axes.set_aspect("equal")
    if plan is None:
        axes.set(xlabel="x", ylabel="y")
        frame(axes, positions)
        return
    left, low, right, high = plan.bounds
    rim = 0.03 * max(right - left, high - low)
    walls = [Rectangle((a, b), c - a, d - b) for a, b, c, d in plan.walls]
    axes.add_collection(PatchCollection(walls, facecolor=style.WALL, edgecolor="none", zorder=3))
    if plan.block is not None:
        a, b, c, d = plan.block
        block = Rectangle((a, b), c - a, d - b, zorder=3, fill=False, hatch="////")
        block.set_edgecolor(style.VERMILION)
        axes.add_patch(block)
    mark: dict[str, Any] = {"zorder": 6, "markeredgecolor": "white", "markeredgewidth": 1.2}
    axes.plot(*plan.start, "o", color=style.START, markersize=8, **mark)
    axes.plot(*plan.goal, "*", color=style.GOAL, markersize=15, **mark)
    axes.set(
        xlim=(left - rim, right + rim),
        ylim=(low - rim, high + rim),
        xlabel=f"{plan.axes[0]} (m)",
        ylabel=f"{plan.axes[1]} (m)",
    )


def plane_density(axes: Axes, view: SnapshotView) -> QuadMesh:
    """Share of the visited states over the plane (Fig. 3a)."""
    positions = view.snapshot.states.positions
    box = view.plan.bounds if view.plan is not None else extent(positions)
    mesh = _density(axes, positions, box)
    draw_plan(axes, view.plan, positions)
    return mesh


def space_density(axes: Axes, view: SnapshotView) -> QuadMesh:
    """The same in φ-space (Fig. 3b)."""
    points = view.projection(view.snapshot.states.embeddings)
    mesh = _density(axes, points, extent(points))
    label_space(axes, view, points)
    return mesh


def feature_change(axes: Axes, before: Snapshot, view: SnapshotView) -> None:
    """Arrows from φ of some states then to φ of the same states now (Fig. 3c)."""
    observations = view.snapshot.states.observations[:ARROWS]
    then = view.projection(before.embed(observations))
    now = view.projection(view.snapshot.embed(observations))
    points = view.projection(view.snapshot.states.embeddings)
    dots(axes, points, color=style.FAINT, s=5)
    axes.quiver(
        *then.T,
        *(now - then).T,
        angles="xy",
        scale_units="xy",
        scale=1.0,
        width=0.0035,
        headwidth=4.5,
        color=style.INK,
        alpha=0.75,
    )
    label_space(axes, view, np.concatenate([points, then]))


def measure(axes: Axes, view: SnapshotView, values: Floats, colours: str) -> PathCollection:
    """Visited states in the colour of their cell (Fig. 3d and e), faint where none is measured.

    Values are per cell.
    """
    states = view.snapshot.states
    points = view.projection(states.embeddings)
    own = np.append(values, np.nan)[view.snapshot.cells.indices(states.embeddings)]
    known = np.isfinite(own)
    if view.snapshot.cells.plane.shape[1] == 2:
        _cell_borders(axes, view)
    label_space(axes, view, points)
    dots(axes, points[~known], color=style.FAINT, s=4)
    return dots(axes, points[known], c=own[known], s=9, cmap=colours)


def _cell_borders(axes: Axes, view: SnapshotView) -> None:
    cells = view.snapshot.cells
    around = cells.size / 2 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    corners = view.projection((cells.centres[:, None] + around) @ np.linalg.pinv(cells.plane))
    axes.add_collection(
        PolyCollection(
            list(corners), facecolor="none", edgecolor="#D5DBE2", linewidth=0.7, zorder=0
        )
    )


def dots(axes: Axes, points: Floats, **options: Any) -> PathCollection:
    """Many points, as pixels in a PDF: thousands of circles would make it slow to open."""
    return axes.scatter(points[:, 0], points[:, 1], linewidths=0, rasterized=True, **options)


def start_to_end_path(axes: Axes, points: Floats) -> None:
    """A trajectory, coloured from its start to its end. [k, 2]."""
    share = np.linspace(0.0, 1.0, len(points))
    pieces = np.stack([points[:-1], points[1:]], axis=1)
    colours = style.start_to_end(share[1:])
    axes.add_collection(
        LineCollection(list(pieces), colors=list(colours), linewidths=0.8, alpha=0.6)
    )
    dots(axes, points, c=style.start_to_end(share), s=10, zorder=2)


def label_space(axes: Axes, view: SnapshotView, points: Floats) -> None:
    """Names and limits of a map of φ-space."""
    axes.set_aspect("equal")
    axes.set(xlabel=view.projection.labels[0], ylabel=view.projection.labels[1])
    frame(axes, points)


def frame(axes: Axes, points: Floats) -> None:
    """Limits around the points."""
    left, low, right, high = extent(points)
    axes.set(xlim=(left, right), ylim=(low, high))


def extent(points: Floats) -> Box:
    """A square around the points, with a margin."""
    low, high = points.min(0), points.max(0)
    middle = (low + high) / 2
    half = max(float((high - low).max()) * (0.5 + _MARGIN), 1e-3)
    return middle[0] - half, middle[1] - half, middle[0] + half, middle[1] + half


def _density(axes: Axes, points: Floats, box: Box) -> QuadMesh:
    """Share of the points per area as a smooth surface; white where nothing was near."""
    left, low, right, high = box
    pixel = max(right - left, high - low) / _PIXELS
    columns = np.linspace(left, right, max(round((right - left) / pixel), 2) + 1)
    rows = np.linspace(low, high, max(round((high - low) / pixel), 2) + 1)
    counts, _, _ = np.histogram2d(points[:, 0], points[:, 1], bins=(columns, rows))
    one_point = np.pad([[1.0 / max(len(points), 1)]], 3)
    smooth = _blurred(counts / max(len(points), 1))
    # Below a tenth of what one point at that place would give, nothing was there.
    shown = np.where(smooth > 0.1 * _blurred(one_point).max(), smooth, np.nan)
    return axes.pcolormesh(
        columns, rows, shown.T, cmap=style.DENSITY, norm=LogNorm(), rasterized=True
    )


def _blurred(image: Floats) -> Floats:
    """With a standard deviation of one pixel; nothing lies outside of the image."""
    return gaussian_filter(image, 1.0, mode="constant", radius=3)
