"""U: what came of selected subgoals (paper §3.2, Eq. 5), by names that the config can have."""

from __future__ import annotations

from typing import Any

import numpy as np

from hess.agents.hess.exploration.cells import CellTable, Keys
from hess.agents.hess.exploration.places import Places
from hess.agents.named import Named
from hess.arrays import Floats
from hess.config import ExplorationConfig


class Potential:
    """What active exploration asks of a potential. Points are as for `Novelty`.

    A potential of your own has `record` and `at`; what changes in training is in `state`.
    """

    def __init__(self, config: ExplorationConfig):
        self.config = config

    def record(self, places: Places, selected: Floats, distances: Floats) -> None:
        """Segments have ended: g_t and ‖φ(s_{t+c}) - g_e‖. [n, k], [n]."""
        raise NotImplementedError

    def at(self, places: Places, points: Floats) -> Floats:
        """U of each point; higher is better. [..., k] -> [...]."""
        raise NotImplementedError

    def age(self) -> None:
        """One episode has passed."""

    def carry(self, before: Keys, now: Keys) -> None:
        """φ or the division has changed: the places of the same states, then and now. [n], [n]."""

    def state(self) -> dict[str, Any]:
        """All arrays that a checkpoint must hold, under names of their own."""
        return {}

    def restore(self, arrays: dict[str, Any]) -> None:
        """Take over what `state` gave."""


class MeanDistance(Potential):
    """The mean of -‖φ(s_{t+c}) - g_e‖ over the segments of a place, older ones discounted."""

    def __init__(self, config: ExplorationConfig):
        super().__init__(config)
        self.weights, self.sums = CellTable(), CellTable()

    def record(self, places: Places, selected: Floats, distances: Floats) -> None:
        """Add to the place's mean."""
        keys = places.keys(selected)
        known = keys >= 0
        self.weights.add(keys[known], 1.0)
        self.sums.add(keys[known], -distances[known])

    def at(self, places: Places, points: Floats) -> Floats:
        """The place's mean; without data 0, the most optimistic (all U ≤ 0)."""
        keys = places.keys(points)
        weights = self.weights.get(keys)
        known = weights > 0
        return np.where(known, self.sums.get(keys) / np.where(known, weights, 1.0), 0.0)

    def age(self) -> None:
        """Older segments weigh less."""
        self.weights.scale(self.config.age_discount)
        self.sums.scale(self.config.age_discount)

    def carry(self, before: Keys, now: Keys) -> None:
        """Weights and sums go along: means stay means where places are joined or divided."""
        self.weights = self.weights.carried(before, now)
        self.sums = self.sums.carried(before, now)

    def state(self) -> dict[str, Any]:
        """Both tables."""
        return self.weights.state("potential_weights") | self.sums.state("potential_sums")

    def restore(self, arrays: dict[str, Any]) -> None:
        """The tables of a checkpoint."""
        self.weights = CellTable.stored(arrays, "potential_weights")
        self.sums = CellTable.stored(arrays, "potential_sums")


POTENTIALS: Named[type[Potential]] = Named("potential", {"distance": MeanDistance})


def register_potential(name: str, kind: type[Potential]) -> None:
    """Make a potential of your own known: `exploration.potential` may then have its name."""
    POTENTIALS.register(name, kind)
