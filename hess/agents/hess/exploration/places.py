"""Places: what the explored directions of φ-space are divided into.

Points are embeddings in those directions, [..., k]. A place has a key, an integer; everything that
is known of places (counts, averages, edges) is in tables over keys. A division never changes: a
finer, wider or turned one is another, and tables are moved from one to the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from hess.agents.hess.exploration.cells import (
    CellTable,
    Keys,
    cell_centres,
    cell_keys,
    neighbourhood,
)
from hess.arrays import Floats
from hess.errors import HessError


class Places(Protocol):
    """A division of the explored space."""

    @property
    def size(self) -> float:
        """The extent of a place."""

    def keys(self, points: Floats) -> Keys:
        """The place of each point, -1 where there is none. [..., k] -> [...]."""

    def centres(self, keys: Keys) -> Floats:
        """The middle of each place. [n] -> [n, k]."""

    def touching(self, key: int) -> Keys:
        """A place and those that touch it, visited or not."""

    def reached(self, key: int, point: Floats) -> bool:
        """Whether somebody at the point has come to the place, or as good as. [k]."""

    @property
    def slack(self) -> float:
        """By how much chains from middle to middle are longer than the way, other than by turns."""

    def grown(self, points: Floats) -> Places:
        """With places for these points, too; those there are keep their keys. [n, k]."""

    def state(self) -> dict[str, Any]:
        """All arrays that a checkpoint must hold."""


_MOST_AXES = 5  # of a grid: with more, a cell touches a thousand others


class GridCells(NamedTuple):
    """Cells of a grid with k axes: exact, and 3^k - 1 of them touch each, so k has to be small."""

    dim: int  # k
    size: float  # edge of a cell

    def keys(self, points: Floats) -> Keys:
        """The cell of each point."""
        return cell_keys(points, self.size)

    def centres(self, keys: Keys) -> Floats:
        """The middle of each cell."""
        return cell_centres(keys, self.dim, self.size)

    def touching(self, key: int) -> Keys:
        """A cell and the 3^k - 1 around it."""
        return neighbourhood(np.array([key]), self.dim)[0]

    def reached(self, key: int, point: Floats) -> bool:
        """Less than an edge from the cell's middle, along every axis."""
        centre = self.centres(np.array([key]))[0]
        return bool(np.abs(point - centre).max() < self.size)

    @property
    def slack(self) -> float:
        """None in a plane; with more axes the middles of cells lie off a way on all sides."""
        return self.size if self.dim > 2 else 0.0

    def grown(self, points: Floats) -> GridCells:
        """A grid has cells everywhere."""
        return self

    def state(self) -> dict[str, Any]:
        """The edge."""
        return {"cell_size": self.size}


def grid_cells(points: Floats, size: float) -> GridCells:
    """The cells of a grid with the points' axes. [n, k]."""
    dim = points.shape[-1]
    if dim > _MOST_AXES:
        raise HessError(
            f"exploration.counts=grid divides at most {_MOST_AXES} directions of φ, not {dim}; "
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
