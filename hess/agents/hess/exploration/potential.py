"""U: what came of selected subgoals (paper §3.2, Eq. 5), by names that the config can have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from hess.agents.by_name import Registry
from hess.agents.hess.exploration.cells import Keys
from hess.agents.hess.exploration.outcomes import CellOutcomes
from hess.agents.hess.exploration.places import Places
from hess.arrays import Floats
from hess.config import ExplorationConfig


class Potential(ABC):
    """What active exploration asks of a potential. Points are as for `Novelty`.

    A potential of your own has `record` and `at`; what changes in training is in `state`.
    """

    def __init__(self, config: ExplorationConfig):
        self.config = config

    @abstractmethod
    def record(self, places: Places, selected: Floats, distances: Floats) -> None:
        """Segments have ended: g_t and ‖φ(s_{t+c}) - g_e‖. [n, k], [n]."""

    @abstractmethod
    def at(self, places: Places, points: Floats) -> Floats:
        """U of each point; higher is better. [..., k] -> [...]."""

    def age(self) -> None:
        """One episode has passed."""

    def carry(self, before: Keys, now: Keys) -> None:
        """φ or the division has changed: the places of the same states, then and now. [n], [n]."""

    def state(self) -> dict[str, Any]:
        """All arrays that a checkpoint must hold, under names of their own."""
        return {}

    def restore(self, arrays: dict[str, Any]) -> None:
        """Take over what `state` gave."""


class MeanDistance(CellOutcomes, Potential):
    """The mean of -‖φ(s_{t+c}) - g_e‖ over the segments of a place, older ones discounted."""

    def __init__(self, config: ExplorationConfig):
        super().__init__("potential_weights", "potential_sums", config.age_discount)

    def record(self, places: Places, selected: Floats, distances: Floats) -> None:
        self.add(places.keys(selected), -distances)

    def at(self, places: Places, points: Floats) -> Floats:
        """The place's mean; without data 0, the most optimistic (all U ≤ 0)."""
        keys = places.keys(points)
        number = self.number.get(keys)
        known = number > 0
        return np.where(known, self.total.get(keys) / np.where(known, number, 1.0), 0.0)


POTENTIALS: Registry[type[Potential]] = Registry("potential", {"distance": MeanDistance})

# Makes one of your own known: `exploration.potential` may then have its name.
register_potential = POTENTIALS.register
