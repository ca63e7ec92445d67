"""How many attempts it takes to reach a place."""

from __future__ import annotations

import numpy as np

from hess.agents.hess.exploration.cells import CellOutcomes, Keys
from hess.agents.hess.exploration.places import Places
from hess.arrays import Floats


class Attempts(CellOutcomes):
    """Segments that were to reach a place, and those that did.

    Chains of cells know nothing of what they hide. Where the same cell holds a block that stands
    in the way and one that does not, a chain leads through it that nobody can follow; it shows in
    attempts that fail.
    """

    def __init__(self) -> None:
        super().__init__("attempts_made", "attempts_reached")

    def record(self, places: Places, selected: Floats, nearest: Floats) -> None:
        """Segments have ended: g_t, and how near they came to it. [n, k], [n]."""
        self.add(places.keys(selected), (nearest <= places.size).astype(np.float64))

    def expected(self, keys: Keys) -> Floats:
        """Attempts for each time that a place is reached, 1 where nothing is known. [n] -> [n]."""
        return np.asarray((self.number.get(keys) + 1.0) / (self.total.get(keys) + 1.0))
