"""Places: what the explored directions of φ-space are divided into.

Points are embeddings in those directions, [..., k]. A place has a key, an integer; everything that
is known of places (counts, averages, edges) is in tables over keys. A division never changes: a
finer, wider or turned one is another, and tables are moved from one to the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hess.agents.cells import CellTable, Keys, cell_centres, cell_keys, neighbourhood

Floats = NDArray[np.floating[Any]]


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

    def sums_around(self, table: CellTable, keys: Keys) -> Floats:
        """What a table has for each place and all that touch it, together. [...] -> [...]."""

    def reached(self, key: int, point: Floats) -> bool:
        """Whether somebody at the point has come to the place, or as good as. [k]."""


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

    def sums_around(self, table: CellTable, keys: Keys) -> Floats:
        """Sums over 3^k cells."""
        return np.asarray(table.get(neighbourhood(keys, self.dim)).sum(-1))

    def reached(self, key: int, point: Floats) -> bool:
        """Less than an edge from the cell's middle, along every axis."""
        centre = self.centres(np.array([key]))[0]
        return bool(np.abs(point - centre).max() < self.size)


def moved(table: CellTable, before: Places, now: Places) -> CellTable:
    """The same sums over other places: each goes where its old place's middle lies."""
    keys = now.keys(before.centres(table.keys))
    found = CellTable()
    found.add(keys[keys >= 0], table.values[keys >= 0])
    return found
