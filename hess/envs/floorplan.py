"""The plane that a task's goals live in, for figures and for the coverage diagnostic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hess.envs.layouts import BLOCK, Layout, Rectangle


@dataclass(frozen=True)
class FloorPlan:
    """Walls, start and goal of a task in the plane of its goals."""

    walls: NDArray[np.float64]
    """Solid rectangles [n, 4]: xmin, ymin, xmax, ymax."""
    start: tuple[float, float]
    goal: tuple[float, float]
    bounds: Rectangle
    """What a figure should show: the map without its outer walls."""
    block: Rectangle | None = None
    """The movable block where it stands at reset."""
    axes: tuple[str, str] = ("x", "y")
    reach: NDArray[np.float64] | None = None
    """Rectangles [n, 4] that the robot's position can be in, if that is not all that is free."""

    @classmethod
    def of_layout(cls, layout: Layout, more_walls: tuple[Rectangle, ...] = ()) -> FloorPlan:
        blocks = layout.find(BLOCK)
        return cls(
            walls=np.array((*layout.walls, *more_walls)),
            start=layout.start,
            goal=layout.goal,
            bounds=layout.interior,
            block=layout.rectangle(blocks[0]) if blocks else None,
        )

    def is_free(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Whether points lie inside the bounds and in no wall; points [..., 2] -> [...]."""
        positions = np.asarray(points, np.float64)
        x, y = positions[..., 0, None], positions[..., 1, None]
        xmin, ymin, xmax, ymax = self.walls.T
        in_wall = ((x > xmin) & (x < xmax) & (y > ymin) & (y < ymax)).any(axis=-1)
        left, low, right, high = self.bounds
        x, y = x[..., 0], y[..., 0]
        return np.asarray((x >= left) & (x <= right) & (y >= low) & (y <= high) & ~in_wall)

    def is_reachable(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Whether the robot could get to points: what coverage counts; points [..., 2] -> [...]."""
        if self.reach is None:
            return self.is_free(points)
        positions = np.asarray(points, np.float64)
        x, y = positions[..., 0, None], positions[..., 1, None]
        xmin, ymin, xmax, ymax = self.reach.T
        inside = (x >= xmin) & (x <= xmax) & (y >= ymin) & (y <= ymax)
        return np.asarray(inside.any(axis=-1))
