"""n: how often places were visited (paper §3.2)."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hess.agents.cells import CellTable, Keys
from hess.agents.places import Places, moved

Floats = NDArray[np.floating[Any]]


class Counts(Protocol):
    """Visits by point; points are embeddings in the explored directions, [..., k]."""

    def add(self, places: Places, points: Floats, weight: float = 1.0) -> None:
        """Count each point. [n, k]."""

    def at(self, places: Places, points: Floats) -> Floats:
        """n where each point lies. [..., k] -> [...]."""

    def around(self, places: Places, points: Floats) -> Floats:
        """n of where each point lies and of all that touches it, together. [..., k] -> [...]."""

    def visited(self, places: Places) -> Keys:
        """All places that were visited, sorted."""

    def clear(self) -> None:
        """Forget all visits."""

    def move(self, before: Places, now: Places) -> None:
        """The space is divided into other places."""

    def state(self) -> dict[str, Any]:
        """All arrays that a checkpoint must hold."""

    def restore(self, arrays: dict[str, Any]) -> None:
        """Take over what `state` gave."""


class TableCounts:
    """A count for every place that was visited: exact."""

    def __init__(self) -> None:
        self.table = CellTable()

    def add(self, places: Places, points: Floats, weight: float = 1.0) -> None:
        """Count each point that lies in a place."""
        keys = places.keys(points)
        self.table.add(keys[keys >= 0], weight)

    def at(self, places: Places, points: Floats) -> Floats:
        """The count of each point's place."""
        return self.table.get(places.keys(points))

    def around(self, places: Places, points: Floats) -> Floats:
        """The sum over each point's place and those that touch it."""
        return places.sums_around(self.table, places.keys(points))

    def visited(self, places: Places) -> Keys:
        """The table's keys."""
        return self.table.keys

    def clear(self) -> None:
        """An empty table."""
        self.table = CellTable()

    def move(self, before: Places, now: Places) -> None:
        """Carry all counts over."""
        self.table = moved(self.table, before, now)

    def state(self) -> dict[str, Any]:
        """The table."""
        return self.table.state("counts")

    def restore(self, arrays: dict[str, Any]) -> None:
        """The table of a checkpoint."""
        self.table = CellTable.stored(arrays, "counts")
