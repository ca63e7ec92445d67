"""How many attempts it takes to reach a place."""

from __future__ import annotations

from typing import Any

import numpy as np

from hess.agents.hess.exploration.cells import CellTable, Keys
from hess.agents.hess.exploration.places import Places
from hess.arrays import Floats


class Attempts:
    """Segments that were to reach a place, and those that did, older ones discounted.

    Chains of cells know nothing of what they hide. Where the same cell holds a block that stands
    in the way and one that does not, a chain leads through it that nobody can follow; it shows in
    attempts that fail.
    """

    def __init__(self) -> None:
        self.made, self.reached = CellTable(), CellTable()

    def record(self, places: Places, selected: Floats, nearest: Floats) -> None:
        """Segments have ended: g_t, and how near they came to it. [n, k], [n]."""
        keys = places.keys(selected)
        known = keys >= 0
        self.made.add(keys[known], 1.0)
        self.reached.add(keys[known], (nearest[known] <= places.size).astype(np.float64))

    def expected(self, keys: Keys) -> Floats:
        """Attempts for each time that a place is reached, 1 where nothing is known. [n] -> [n]."""
        return np.asarray((self.made.get(keys) + 1.0) / (self.reached.get(keys) + 1.0))

    def age(self, discount: float) -> None:
        """One episode has passed."""
        self.made.scale(discount)
        self.reached.scale(discount)

    def carry(self, before: Keys, now: Keys) -> None:
        """φ or the division has changed: the places of the same states, then and now. [n], [n]."""
        self.made = self.made.carried(before, now)
        self.reached = self.reached.carried(before, now)

    def state(self) -> dict[str, Any]:
        """Both tables."""
        return self.made.state("attempts_made") | self.reached.state("attempts_reached")

    def restore(self, arrays: dict[str, Any]) -> None:
        """The tables of a checkpoint."""
        self.made = CellTable.stored(arrays, "attempts_made")
        self.reached = CellTable.stored(arrays, "attempts_reached")
