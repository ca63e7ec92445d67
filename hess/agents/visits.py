"""Which places of the explored directions were visited, and how often."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hess.agents.counts import Counts, TableCounts
from hess.agents.places import GridCells, Places

Floats = NDArray[np.floating[Any]]


class Visits:
    """Places and counts, which go together, and the number of stored transitions."""

    def __init__(self, dim: int, size: float):
        self._dim = dim
        self.places: Places = GridCells(dim, size)
        self.counts: Counts = TableCounts()
        self.transitions = 0

    @property
    def number(self) -> int:
        """Visited places."""
        return len(self.counts.visited(self.places))

    def add(self, points: Floats) -> None:
        """n: count states with φ as it is at the time of the visit. [n, k]."""
        self.counts.add(self.places, points)

    def recount(self, points: Floats) -> None:
        """Forget the mixture of old and new spaces: count all stored states under φ now."""
        self.counts.clear()
        self.add(points)

    def divide(self, points: Floats, size: float) -> None:
        """Other places, for all that was visited; counts go with them. [n, k]."""
        before = self.places
        self.places = GridCells(points.shape[-1], size)
        if self.places != before:
            self.counts.move(before, self.places)

    def state(self) -> dict[str, Any]:
        """All arrays that a checkpoint must hold."""
        arrays = {"transitions": self.transitions, "cell_size": self.places.size}
        return arrays | self.counts.state()

    def restore(self, arrays: dict[str, Any], dim: int | None) -> None:
        """Take over what `state` gave; `dim` is k, None where all directions are explored."""
        self.transitions = int(arrays["transitions"])
        self.places = GridCells(dim or self._dim, float(arrays["cell_size"]))
        self.counts.restore(arrays)
