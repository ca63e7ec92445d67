"""Which places of the explored directions were visited, and how often: three estimators.

| `exploration.counts` | places | n | memory |
|---|---|---|---|
| grid | cells of a grid | exact, by cell | grows with the visited cells, 3^k touch each |
| hashed | landmarks | by a hash of the cell | constant |
| neighbours | landmarks | by the nearest landmarks | constant |

Novelty along chains needs places with neighbours and edges, which hashes do not have. Landmarks
take the place of cells there: edges are between those that consecutive boundary states are nearest
to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hess.agents.hess.exploration.counts import Counts, HashedCounts, NeighbourCounts, TableCounts
from hess.agents.hess.exploration.graph import Edges, KeptEdges
from hess.agents.hess.exploration.landmarks import cover, stored_landmarks
from hess.agents.hess.exploration.places import Places, grid_cells, stored_grid_cells
from hess.arrays import Floats


class Estimator(NamedTuple):
    """What a value of `exploration.counts` stands for."""

    divide: Callable[[Floats, float], Places]  # points [n, k] and a size
    stored: Callable[[dict[str, Any], int], Places]  # arrays of a checkpoint and k
    counts: Callable[[float], Counts]  # a size
    edges: Callable[[], Edges]


ESTIMATORS = {
    "grid": Estimator(grid_cells, stored_grid_cells, lambda size: TableCounts(), Edges),
    "hashed": Estimator(cover, stored_landmarks, HashedCounts, KeptEdges),
    "neighbours": Estimator(cover, stored_landmarks, lambda size: NeighbourCounts(), KeptEdges),
}


class Visits:
    """Places and counts, which go together, and the number of stored transitions."""

    def __init__(self, estimator: Estimator, dim: int, size: float):
        self._estimator = estimator
        self.dim = dim  # directions that stored places will have
        self.places = estimator.divide(np.zeros((0, dim)), size)
        self.counts = estimator.counts(size)
        self.transitions = 0

    @property
    def number(self) -> int:
        return len(self.counts.visited(self.places))

    def add(self, points: Floats) -> None:
        """n: count states with φ as it is at the time of the visit. [n, k]."""
        self.places = self.places.grown(points)
        self.counts.add(self.places, points)

    def recount(self, points: Floats) -> None:
        """Forget the mixture of old and new spaces: count all stored states under φ now."""
        self.counts.clear()
        self.counts.add(self.places, points)

    def divide(self, points: Floats, size: float) -> None:
        """Other places, for all that was visited; counts go with them. [n, k]."""
        before = self.places
        self.places = self._estimator.divide(points, size)
        if self.places != before:
            self.counts.move(before, self.places, size)

    def state(self) -> dict[str, Any]:
        return {"transitions": self.transitions} | self.places.state() | self.counts.state()

    def restore(self, arrays: dict[str, Any]) -> None:
        self.transitions = int(arrays["transitions"])
        self.places = self._estimator.stored(arrays, self.dim)
        self.counts.restore(arrays)
