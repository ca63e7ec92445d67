"""What came of the segments that cells were chosen for."""

from __future__ import annotations

from typing import Any

import numpy as np

from hess.agents.hess.exploration.cells import CellTable, Keys
from hess.agents.hess.exploration.places import Places
from hess.arrays import Floats


class CellOutcomes:
    """How many segments each cell was chosen for, and the sum of what came of them.

    Older ones are discounted. Both are shared out alike where cells are joined or divided, so
    that means stay means.
    """

    def __init__(self, number_name: str, total_name: str, discount: float):
        """The names of both tables in a checkpoint, and what an episode takes away of them."""
        self._names, self._discount = (number_name, total_name), discount
        self.number, self.total = CellTable(), CellTable()

    def add(self, keys: Keys, outcomes: Floats) -> None:
        """Segments have ended; keys below 0 are no cells. [n], [n]."""
        known = keys >= 0
        self.number.add(keys[known], 1.0)
        self.total.add(keys[known], outcomes[known])

    def age(self) -> None:
        """One episode has passed."""
        self.number.scale(self._discount)
        self.total.scale(self._discount)

    def carry(self, before: Keys, now: Keys) -> None:
        """φ or the division has changed: the cells of the same states, then and now. [n], [n]."""
        self.number = self.number.carried(before, now)
        self.total = self.total.carried(before, now)

    def state(self) -> dict[str, Any]:
        number, total = self._names
        return self.number.state(number) | self.total.state(total)

    def restore(self, arrays: dict[str, Any]) -> None:
        self.number, self.total = (CellTable.stored(arrays, name) for name in self._names)


class Attempts(CellOutcomes):
    """Segments that were to reach a place, and those that did.

    Chains of cells know nothing of what they hide. Where the same cell holds a block that stands
    in the way and one that does not, a chain leads through it that nobody can follow; it shows in
    attempts that fail.
    """

    def __init__(self, discount: float) -> None:
        super().__init__("attempts_made", "attempts_reached", discount)

    def record(self, places: Places, selected: Floats, nearest: Floats) -> None:
        """Segments have ended: g_t, and how near they came to it. [n, k], [n]."""
        self.add(places.keys(selected), (nearest <= places.size).astype(np.float64))

    def expected(self, keys: Keys) -> Floats:
        """Attempts for each time that a place is reached, 1 where nothing is known. [n] -> [n]."""
        return np.asarray((self.number.get(keys) + 1.0) / (self.total.get(keys) + 1.0))
