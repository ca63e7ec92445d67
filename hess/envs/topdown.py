"""The 5x5x3 top-down view of the `Images` tasks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hess.envs.layouts import WALL, Layout

PIXELS = 5
CHANNELS = 3  # walls, chasms (no map here has one), movable blocks
SIZE = PIXELS * PIXELS * CHANNELS


class TopDownView:
    """World-aligned view with the robot in the middle; one pixel is as wide as one cell.

    Every block is a unit square on the pixel grid, drawn by the area it covers of each pixel.
    That area is a product of an overlap in x and one in y, max(0, 1 - |pixel centre - block
    centre|) each, so all walls of the map together are two small matmuls.
    """

    def __init__(self, layout: Layout) -> None:
        self._cell = layout.cell
        height, width = len(layout.rows), len(layout.rows[0])
        # Rows of the view count from the south, like y; rows of the map from the north.
        northward = layout.rows[::-1]
        self._walls = np.array([[c == WALL for c in row] for row in northward], np.float64)
        west, north = layout.centre((0, 0))
        south = north - (height - 1) * layout.cell
        pixels = np.arange(PIXELS) + 0.5 - PIXELS / 2
        # Overlaps depend on cell centre - robot - pixel offset, in cells; keep all but the robot.
        self._columns = west / layout.cell + np.arange(width) - pixels[:, None]
        self._rows = south / layout.cell + np.arange(height) - pixels[:, None]
        self._pixels = pixels

    def __call__(
        self, x: float, y: float, block: tuple[float, float] | None = None
    ) -> NDArray[np.float64]:
        """The view from (x, y), as [rows (y), columns (x), channels]."""
        x, y = x / self._cell, y / self._cell
        view = np.zeros((PIXELS, PIXELS, CHANNELS))
        view[:, :, 0] = _overlap(self._rows - y) @ self._walls @ _overlap(self._columns - x).T
        if block is not None:
            row = _overlap(block[1] / self._cell - y - self._pixels)
            column = _overlap(block[0] / self._cell - x - self._pixels)
            view[:, :, 2] = row[:, None] * column
        return view


def _overlap(distance: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Overlap of two unit intervals whose centres are this far apart."""
    return np.maximum(1.0 - np.abs(distance), 0.0)
