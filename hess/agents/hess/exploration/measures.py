"""Novelty and potential of subgoals (paper §3.2), with the visits and the graph that they rest on.

How each is measured is chosen by name, from the rows in `novelty.py`, `potential.py`, `visits.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hess.agents.hess.exploration.cells import Keys
from hess.agents.hess.exploration.graph import (
    Boundaries,
    PlaceGraph,
    common_edges,
    empty_graph,
    stored_graph,
)
from hess.agents.hess.exploration.novelty import NOVELTIES, Novelty
from hess.agents.hess.exploration.outcomes import Attempts
from hess.agents.hess.exploration.potential import POTENTIALS, Potential
from hess.agents.hess.exploration.selection import CandidatePool
from hess.agents.hess.exploration.visits import ESTIMATORS, Visits
from hess.arrays import Floats
from hess.config import ExplorationConfig
from hess.learning.trees import prefixed, select

_HIGHEST_TOLL = 10.0  # in log counts: nothing lies behind it that is worth so much


class Measures:
    """What the explorer knows about any embedding, in the directions that are explored."""

    def __init__(self, config: ExplorationConfig, dim: int):
        self.config = config
        estimator = ESTIMATORS[config.counts]
        self.visits = Visits(estimator, min(config.directions, dim) or dim, config.cell_size)
        self.plane: Floats | None = None  # [d, k] the directions that are explored; None: all
        self.graph = empty_graph()  # as of the newest refresh
        self._novelty: Novelty = NOVELTIES[config.novelty](config)
        self._potential: Potential = POTENTIALS[config.potential](config)
        self._attempts = Attempts(config.age_discount)
        self._edges = estimator.edges()

    @property
    def has_graph(self) -> bool:
        """Whether a refresh needs stored rollouts in smaller steps: for excursions, or novelty."""
        config = self.config
        rules = config.waypoints, config.detour, config.least_progress, config.revisit_cost
        excursions = any(rule > 0 for rule in rules)
        return self._novelty.needs_graph or (config.probability > 0 and excursions)

    def visit(self, embeddings: Floats) -> None:
        """n: count states with φ as it is at the time of the visit. [n, d]."""
        self.visits.add(self.project(embeddings))

    def recount(self, embeddings: Floats) -> None:
        """Forget the mixture of old and new spaces: count all stored states under φ now."""
        self.visits.recount(self.project(embeddings))

    def turn(self, plane: Floats | None) -> None:
        """Explore other directions; counts have to be taken anew, potentials carried over."""
        if plane is not None or self.plane is not None:
            self.visits.counts.clear()
        self.plane = plane

    def divide(self, size: float, embeddings: Floats) -> None:
        """Places of that size for all that was visited. [n, d]."""
        before = self.visits.places
        self.visits.divide(self.project(embeddings), size)
        if self.visits.places != before:
            self._edges.clear()

    def keys(self, embeddings: Floats) -> Keys:
        """The place of each embedding, -1 where there is none. [..., d] -> [...]."""
        return self.visits.places.keys(self.project(embeddings))

    def carry(self, before: Keys, now: Keys) -> None:
        """Potentials and attempts go where the states of their places are now. [n], [n]."""
        self._potential.carry(before, now)
        self._attempts.carry(before, now)

    def age(self) -> None:
        self._potential.age()
        self._attempts.age()
        self._edges.age()

    def record_outcomes(self, selected: Floats, distances: Floats) -> None:
        """Record segments: g_t and ‖φ(s_{t+c}) - g_e‖. [n, d], [n]."""
        self._potential.record(self.visits.places, self.project(selected), distances)

    def record_attempts(self, selected: Floats, nearest: Floats) -> None:
        """Record segments: g_t and how near to it any of their states was. [n, d], [n]."""
        self._attempts.record(self.visits.places, self.project(selected), nearest)

    def refresh(
        self, transitions: int, rollouts: Boundaries | None, steps: Boundaries | None
    ) -> None:
        """Novelty and graph of all that is stored: at the multiples of c, and in smaller steps."""
        self.visits.transitions = transitions
        if rollouts is not None:
            self._novelty.refresh(self.visits, self._pointed(rollouts))
        if steps is not None:
            self.graph = self._follow(self._pointed(steps))
            self._novelty.follow(self.graph)

    def _follow(self, steps: Boundaries) -> PlaceGraph:
        """The steps that are made from place to place, but for rare ones."""
        visits = self.visits
        edges, times = self._edges.update(visits.places, steps)
        keys = np.union1d(visits.counts.visited(visits.places), edges)
        edges = np.searchsorted(keys, edges)
        return PlaceGraph(
            keys,
            self._novelty.log_counts(visits, visits.places.centres(keys)),
            edges[common_edges(edges, times, self.config.way_share)],
            self.config.segment_cost * steps.share,
            self._tolls(keys),
        )

    def _tolls(self, keys: Keys) -> Floats:
        """For every attempt at a place but the one that any place takes. [n] -> [n]."""
        tolls = self.config.attempt_cost * (self._attempts.expected(keys) - 1.0)
        return np.minimum(tolls, _HIGHEST_TOLL)

    def novelty(self, embeddings: Floats) -> Floats:
        """Ñ: what is to be expected from here on, the least is the newest. [..., d] -> [...]."""
        return self._novelty.at(self.visits, self.project(embeddings))

    def expected_visits(self, embeddings: Floats) -> Floats:
        """N itself. [..., d] -> [...]."""
        return self._novelty.expected_visits(self.visits, self.project(embeddings))

    def potential(self, embeddings: Floats) -> Floats:
        """U: how near segments come to the imagined subgoal, at most 0. [..., d] -> [...]."""
        return self._potential.at(self.visits.places, self.project(embeddings))

    def rate(self, embeddings: Floats) -> CandidatePool:
        """Candidates with all that is known about them. [n, d]."""
        novelty, potential = self.novelty(embeddings), self.potential(embeddings)
        pool = CandidatePool(embeddings, novelty, potential, plane=self.plane)
        if len(self.graph.keys) == 0:
            return pool
        places = self.visits.places
        return pool._replace(
            graph=self.graph,
            cells=self.graph.locate(self.keys(embeddings)),
            places=places,
            wear=self._novelty.wear(self.visits),
        )

    def visited(self) -> tuple[Floats, Floats]:
        """The middles of all visited places, in all of φ's dimensions, and their n. [n, d], [n]."""
        visits = self.visits
        centres = visits.places.centres(visits.counts.visited(visits.places))
        embeddings = centres if self.plane is None else centres @ np.linalg.pinv(self.plane)
        return embeddings, visits.counts.at(visits.places, centres)

    def state(self) -> dict[str, Floats]:
        arrays = {
            **self.visits.state(),
            **self._novelty.state(),
            **self._potential.state(),
            **self._edges.state(),
            **self._attempts.state(),
            **prefixed(self.graph._asdict(), "graph."),
            "plane": self._stored_plane(),
        }
        return {name: np.asarray(array) for name, array in arrays.items()}

    def restore(self, arrays: dict[str, Any]) -> None:
        plane = arrays["plane"]
        self.plane = plane[:, plane.any(0)] if plane.size else None
        if self.plane is not None:
            self.visits.dim = self.plane.shape[1]
        parts = (self.visits, self._novelty, self._potential, self._attempts, self._edges)
        for part in parts:
            part.restore(arrays)
        self.graph = stored_graph(select(arrays, "graph."))

    def _stored_plane(self) -> Floats:
        """Of one width, however many directions are explored: what a checkpoint must look like."""
        if self.plane is None:
            return np.zeros((0, self.config.directions))
        return np.pad(self.plane, ((0, 0), (0, self.config.directions - self.plane.shape[1])))

    def project(self, embeddings: Floats) -> Floats:
        """Embeddings in the directions that are explored. [..., d] -> [..., k]."""
        return embeddings if self.plane is None else embeddings @ self.plane

    def _pointed(self, rollouts: Boundaries) -> Boundaries:
        return rollouts._replace(embeddings=self.project(rollouts.embeddings))
