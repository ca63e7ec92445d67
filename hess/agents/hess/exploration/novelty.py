"""Novelty of subgoals (paper §3.2): a class for each measure, by its name in the config."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from hess.agents.by_name import Registry
from hess.agents.hess.exploration.cells import CellTable
from hess.agents.hess.exploration.graph import Boundaries, PlaceGraph
from hess.agents.hess.exploration.visits import Visits
from hess.arrays import Floats
from hess.config import ExplorationConfig

Wear = Callable[[PlaceGraph, Floats], Floats]


class Novelty(ABC):
    """What active exploration asks of a novelty. Points are embeddings in the explored directions.

    One of your own has `expected_visits`; what it learns from stored rollouts, and what a
    checkpoint must hold of that, is up to it.

    The graph of places is there for every novelty: waypoints and detours follow its edges alone.
    Places that an episode has been to wear out by w in log(1 + N), whatever N is measured by; what
    is compared afterwards is the same measure of N' = (1 + N) e^w - 1.
    """

    follows_rollouts: ClassVar[bool] = False
    """Whether `refresh` is wanted, with all stored rollouts at the multiples of c."""
    weighs_actions: ClassVar[bool] = False
    """Whether those come with log π_new - log π_old of their high-level actions."""
    needs_graph: ClassVar[bool] = False
    """Whether it cannot do without the graph, which other novelties need for excursions only."""

    def __init__(self, config: ExplorationConfig):
        self.config = config

    @abstractmethod
    def expected_visits(self, visits: Visits, points: Floats) -> Floats:
        """N: visits to be expected from here on. [..., k] -> [...]."""

    def at(self, visits: Visits, points: Floats) -> Floats:
        """Ñ: what candidates are compared by, the least is the newest. [..., k] -> [...]."""
        return self.expected_visits(visits, points) / max(visits.transitions, 1)

    def refresh(self, visits: Visits, rollouts: Boundaries) -> None:
        """Counts have changed, and there are new rollouts; their embeddings are points."""

    def log_counts(self, visits: Visits, centres: Floats) -> Floats:
        """log(1 + N) of the graph's places. [n, k] -> [n]."""
        return np.log1p(self.expected_visits(visits, centres))

    def follow(self, graph: PlaceGraph) -> None:
        """The graph is new."""

    def wear(self, visits: Visits) -> Wear:
        """A function, for any later time, from a graph and wear w to Ñ of its places. [n]."""
        return partial(_worn, max(visits.transitions, 1))

    def state(self) -> dict[str, Any]:
        """All arrays that a checkpoint must hold, under names of their own."""
        return {}

    def restore(self, arrays: dict[str, Any]) -> None:
        """Take over what `state` gave."""


def _worn(transitions: int, graph: PlaceGraph, wear: Floats) -> Floats:
    return np.asarray(np.expm1(graph.log_counts + wear) / transitions)


class Immediate(Novelty):
    """n, the plain visit count (§5.4)."""

    def expected_visits(self, visits: Visits, points: Floats) -> Floats:
        return visits.counts.at(visits.places, points)


class Tabulated(Novelty):
    """A novelty that is worked out for all places at once."""

    def __init__(self, config: ExplorationConfig):
        super().__init__(config)
        self.table = CellTable()

    def state(self) -> dict[str, Any]:
        return self.table.state("cumulative_counts")

    def restore(self, arrays: dict[str, Any]) -> None:
        self.table = CellTable.stored(arrays, "cumulative_counts")


class Cumulative(Tabulated):
    """N of every place that holds a segment boundary, Eq. 4: a weighted mean over rollouts."""

    follows_rollouts = True

    def refresh(self, visits: Visits, rollouts: Boundaries) -> None:
        """N of all stored rollouts under φ and counts as they are now."""
        places, points = visits.places, rollouts.embeddings
        keys = places.keys(points)
        known = rollouts.valid & (keys >= 0)
        counts = np.where(known, visits.counts.at(places, points), 0.0)
        values, weights = self._weighted(counts, rollouts)
        totals, sums = CellTable(), CellTable()
        totals.add(keys[known], weights[known])
        sums.add(keys[known], (weights * values)[known])
        self.table = CellTable(sums.keys, sums.values / totals.values)

    def _weighted(self, counts: Floats, rollouts: Boundaries) -> tuple[Floats, Floats]:
        """The sum from each boundary on, and its weight in the mean. [E, S+1] -> 2 x [E, S+1]."""
        values = discounted_sums(counts, self.config.count_discount)
        weights = self.config.age_discount ** rollouts.ages[:, None]
        return values, np.broadcast_to(weights, values.shape)

    def expected_visits(self, visits: Visits, points: Floats) -> Floats:
        """N; where no boundary fell into a place, its first term n stands in."""
        keys = visits.places.keys(points)
        counts = visits.counts.at(visits.places, points)
        return np.where(self.table.contains(keys), self.table.get(keys), counts)


class Importance(Cumulative):
    """N with importance weights instead of the age discount (Appendix E.3)."""

    weighs_actions = True

    def _weighted(self, counts: Floats, rollouts: Boundaries) -> tuple[Floats, Floats]:
        values = importance_sums(counts, rollouts.log_ratios, self.config.count_discount)
        return values, np.ones_like(values)


class Reachable(Tabulated):
    """The log count of the least visited place that chains of edges lead to, with their cost.

    The log count is that of a place and all that touch it: a cell of which only a corner can be
    reached has few visits for ever, which makes it look new; its surroundings do not.
    """

    needs_graph = True

    def at(self, visits: Visits, points: Floats) -> Floats:
        """The log count as it is; of a place that the graph does not have, its own."""
        keys = visits.places.keys(points)
        values, unknown = self.table.get(keys), ~self.table.contains(keys)
        if unknown.any():
            values[unknown] = self.log_counts(visits, points[unknown])
        return values

    def expected_visits(self, visits: Visits, points: Floats) -> Floats:
        """Those of the best end of any chain, more for the chain's cost."""
        return np.expm1(self.at(visits, points))

    def log_counts(self, visits: Visits, centres: Floats) -> Floats:
        """log(1 + n) of places and all that touch them."""
        return np.asarray(np.log1p(visits.counts.around(visits.places, centres)))

    def follow(self, graph: PlaceGraph) -> None:
        """Chains once for all candidates; episodes that wear places out follow them anew."""
        self.table = CellTable(graph.keys, graph.reachable())

    def wear(self, visits: Visits) -> Wear:
        """Wear counts before chains are followed."""
        return PlaceGraph.reachable


def discounted_sums(counts: Floats, discount: float) -> Floats:
    """Σ_j γ^j n_{i+j} for every boundary i. [E, S+1] -> [E, S+1]."""
    sums = np.array(counts, np.float64)
    for index in range(sums.shape[1] - 2, -1, -1):
        sums[:, index] += discount * sums[:, index + 1]
    return sums


_MAX_LOG_RATIO = 5.0  # products of ratios over an episode explode without a bound


def importance_sums(counts: Floats, log_ratios: Floats, discount: float) -> Floats:
    """Σ_j γ^j ρ n_{i+j}, ρ the product of π_new/π_old over segments 0..i+j. -> [E, S+1].

    The last boundary has no action of its own and takes the product over all segments.
    """
    products = np.cumsum(log_ratios, axis=1)
    products = np.concatenate([products, products[:, -1:]], axis=1)
    ratios = np.exp(np.clip(products, -_MAX_LOG_RATIO, _MAX_LOG_RATIO))
    return discounted_sums(ratios * counts, discount)


NOVELTIES: Registry[type[Novelty]] = Registry(
    "novelty",
    {
        "reachable": Reachable,
        "cumulative": Cumulative,
        "immediate": Immediate,
        "importance": Importance,
    },
)

# Makes one of your own known: `exploration.novelty` may then have its name.
register_novelty = NOVELTIES.register
