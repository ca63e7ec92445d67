"""Places: what the explored directions of φ-space are divided into.

Points are embeddings in those directions, [..., k]. A place has a key, an integer; everything that
is known of places (counts, averages, edges) is in tables over keys. A division never changes: a
finer, wider or turned one is another, and tables are moved from one to the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hess.agents.hess.exploration.cells import (
    CellTable,
    Keys,
    cell_centres,
    cell_keys,
    neighbourhood,
)
from hess.agents.hess.exploration.landmarks import Landmarks
from hess.arrays import Floats
from hess.errors import HessError

MOST_AXES = 5  # of a grid: with more, a cell touches a thousand others


class GridCells(NamedTuple):
    """Cells of a grid with k axes: exact, and 3^k - 1 of them touch each, so k has to be small."""

    dim: int  # k
    size: float  # edge of a cell

    def keys(self, points: Floats) -> Keys:
        """The cell of each point. [..., k] -> [...]."""
        return cell_keys(points, self.size)

    def centres(self, keys: Keys) -> Floats:
        """The middle of each cell. [n] -> [n, k]."""
        return cell_centres(keys, self.dim, self.size)

    def touching(self, key: int) -> Keys:
        """A cell and the 3^k - 1 around it, visited or not."""
        return neighbourhood(np.array([key]), self.dim)[0]

    def reached(self, key: int, point: Floats) -> bool:
        """Whether a point is less than an edge from the cell's middle, along every axis. [k]."""
        centre = self.centres(np.array([key]))[0]
        return bool(np.abs(point - centre).max() < self.size)

    @property
    def slack(self) -> float:
        """By how much chains from middle to middle are longer than the way, other than by turns.

        None in a plane; with more axes the middles of cells lie off a way on all sides.
        """
        return self.size if self.dim > 2 else 0.0

    def grown(self, points: Floats) -> GridCells:
        """A grid has cells everywhere."""
        return self

    def state(self) -> dict[str, Any]:
        return {"cell_size": self.size}


Places = GridCells | Landmarks
"""A division of the explored space."""


def grid_cells(points: Floats, size: float) -> GridCells:
    """The cells of a grid with the points' axes. [n, k]."""
    dim = points.shape[-1]
    if dim > MOST_AXES:
        raise HessError(
            f"exploration.counts=grid divides at most {MOST_AXES} directions of φ, not {dim}; "
            "take hashed or neighbours, or fewer exploration.directions"
        )
    return GridCells(dim, size)


def stored_grid_cells(arrays: dict[str, Any], dim: int) -> GridCells:
    """Those of a checkpoint."""
    return GridCells(dim, float(arrays["cell_size"]))


def moved(table: CellTable, before: Places, now: Places) -> CellTable:
    """The same sums over other places: each goes where its old place's middle lies."""
    keys = now.keys(before.centres(table.keys))
    found = CellTable()
    found.add(keys[keys >= 0], table.values[keys >= 0])
    return found
