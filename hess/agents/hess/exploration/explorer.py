"""The exploring side of the agent: what it has counted, how far it has come, where to go next."""

from __future__ import annotations

import numpy as np
from jaxtyping import PRNGKeyArray

from hess.agents.hess.exploration.cells import Keys
from hess.agents.hess.exploration.directions import explored_directions, growth_metric
from hess.agents.hess.exploration.measures import Measures
from hess.agents.hess.exploration.novelty import NOVELTIES
from hess.agents.hess.exploration.selection import (
    SPREAD_METRICS,
    CandidatePool,
    exploration_probability,
    explored_unit,
    resolving_size,
)
from hess.agents.hess.rollouts import (
    ViewedActor,
    rollouts_at_boundaries,
    rollouts_in_parts,
    sample_states,
    segment_changes,
    stored_embeddings,
)
from hess.arrays import Arrays, Floats
from hess.config import Config
from hess.learning.inputs import Moments
from hess.learning.networks import MLP
from hess.learning.subgoal_box import SubgoalBox, weighted_box
from hess.learning.trees import prefixed, select
from hess.replay.episode import Episode, segment_counts
from hess.replay.ring import Replay

_PARTS = 5  # of a segment, for edges from place to place: in c steps a robot skips some


class Explorer:
    """Measures (§3.2) and candidates for active selection (§3.3), kept up to date by the agent."""

    def __init__(self, config: Config, dim: int):
        self.config = config
        self.measures = Measures(config.exploration, dim)
        self.metric: Floats = np.eye(dim, dtype=np.float32)
        self.unit = 1.0  # factor on r_g, d_e and cell size
        self.embeddings = Moments(dim)  # of all that was visited, under φ now
        self.probability = 0.0  # p of the newest policy
        self._spread: dict[str, float] = {}  # of the measures over the newest pool

    @property
    def radius(self) -> float:
        """r_g in φ's units."""
        return self.unit * self.config.subgoal_radius

    def box(self) -> SubgoalBox:
        """Where subgoals lie around φ(s): they ask for a place, and hardly for a pose."""
        if self.config.exploration.least_weight == 1:
            return SubgoalBox(self.radius)
        return weighted_box(self.radius, self.metric)

    def set_probability(self, progress: float, success: float) -> float:
        """p for the next policy, at this share of training and with this recent success."""
        self.probability = exploration_probability(self.config.exploration, progress, success)
        return self.probability

    def record(self, episode: Episode) -> None:
        """Note the visits of an embedded episode, and what came of its subgoals."""
        if episode.embedded:
            self.embeddings.add(episode.embeddings[: int(episode.length)])
            self.measures.visit(episode.embeddings[: int(episode.length)])
            self.measures.age()
            self._record_outcomes(episode)

    def _record_outcomes(self, episode: Episode) -> None:
        """U, Eq. 5: the distance that remains to g_e at the end of each active segment.

        Without active selection the policy's own subgoals have to do ("all"): they are g_t and
        g_e in one.
        """
        begun = segment_counts(int(episode.length), self.config.subgoal_interval)
        every = self.config.exploration.attempts == "all"
        chosen = np.arange(begun) if every else np.flatnonzero(episode.active)
        ends = np.minimum((chosen + 1) * self.config.subgoal_interval, int(episode.length))
        missed = self.measures.project(episode.embeddings[ends] - episode.subgoals[chosen])
        remaining = np.linalg.norm(missed, axis=-1)
        selected = episode.selected[chosen]
        self.measures.record_outcomes(selected, remaining)
        begins = chosen * self.config.subgoal_interval
        paths = [
            self.measures.project(episode.embeddings[begin : end + 1] - goal)
            for begin, end, goal in zip(begins, ends, selected, strict=True)
        ]
        nearest = [float(np.linalg.norm(path, axis=-1).min()) for path in paths]
        self.measures.record_attempts(selected, np.array(nearest))

    def fit_to_representation(
        self, network: MLP, replay: Replay, before: MLP | None, random: Floats | None = None
    ) -> None:
        """Units, counts and potentials after φ has changed from what it was `before`, if it was.

        `random` [n, d]: states of the random episodes.
        """
        places, keys = self.measures.visits.places, self._keys(before, replay)
        visited = stored_embeddings(network, replay)
        self.embeddings = Moments(visited.shape[-1])
        self.embeddings.add(visited)
        turned = self._choose_directions(visited, random)
        explored = self.measures.project(visited)
        unit = self._unit(network, replay, explored, self.unit if before else 0.0)
        config = self.config.exploration
        recount = before is None or turned or config.recount or unit != self.unit
        self.unit = unit
        size = resolving_size(explored, unit * config.cell_size, config.least_cells)
        self.measures.divide(size, visited)
        if recount:
            self.measures.recount(visited)
        if recount or self.measures.visits.places != places:
            self.measures.carry(keys, self._keys(network if before else None, replay))

    def _choose_directions(self, visited: Floats, random: Floats | None) -> bool:
        """What directions weigh and which are explored; whether these are not simply all."""
        config, dim = self.config.exploration, visited.shape[-1]
        if random is not None and config.least_weight < 1:
            self.metric = growth_metric(visited, random, config.least_weight)
        chosen = config.directions > 0 and dim > min(config.directions, 2)
        count = min(config.directions, dim)
        self.measures.turn(explored_directions(visited, random, count) if chosen else None)
        return chosen

    def _unit(self, network: MLP, replay: Replay, explored: Floats, before: float) -> float:
        """The factor on r_g, d_e and cell size, from what is explored and how far segments go."""
        changes = segment_changes(network, replay, self.config.subgoal_interval)
        lengths = np.linalg.norm(self.measures.project(changes), axis=-1)
        return explored_unit(self.config.exploration, explored, lengths, before)

    def _keys(self, network: MLP | None, replay: Replay) -> Keys:
        """The places of stored states, of some in every segment, under φ. -> [n]."""
        if network is None:
            return np.zeros(0, np.int64)
        steps = rollouts_in_parts(network, replay, self.config.subgoal_interval, _PARTS)
        return self.measures.keys(steps.embeddings[steps.valid])

    def refresh_novelty(self, network: MLP, high: ViewedActor, replay: Replay) -> None:
        """What the measures need of all stored rollouts, under φ as it is now."""
        interval, measures = self.config.subgoal_interval, self.measures
        rollouts = steps = None
        novelty = NOVELTIES[self.config.exploration.novelty]
        if novelty.follows_rollouts:
            compared = high if novelty.weighs_actions else None
            rollouts = rollouts_at_boundaries(network, compared, replay, interval)
        if measures.has_graph:
            steps = rollouts_in_parts(network, replay, interval, _PARTS)
        measures.refresh(int(replay.episodes.length.sum()), rollouts, steps)

    def candidates(self, network: MLP, replay: Replay, key: PRNGKeyArray) -> CandidatePool:
        """Visited states with their measures, from which those within r_g are taken."""
        sampled = sample_states(network, replay, key, self.config.exploration.pool)
        embeddings = np.asarray(sampled.embeddings)
        pool = self.measures.rate(embeddings)
        self._spread = pool.spread(self.config.exploration.potential_weight)
        return pool

    def metrics(self) -> dict[str, float]:
        return {
            "exploration/probability": self.probability,
            "exploration/unit": self.unit,
            "exploration/visited_cells": float(self.measures.visits.number),
            "exploration/leading_directions": float(np.trace(self.metric)),
            **self._spread,
        }

    def state(self) -> Arrays:
        host = {
            "unit": np.asarray(self.unit),
            "metric": self.metric.copy(),
            "probability": np.asarray(self.probability),
            "spread": np.array(list(self._spread.values())),
        }
        host |= prefixed(self.embeddings.state(), "embeddings.")
        return host | prefixed(self.measures.state(), "measures.")

    def restore(self, arrays: Arrays) -> None:
        self.unit = float(arrays["unit"])
        self.metric = arrays["metric"].copy()
        self.probability = float(arrays["probability"])
        # Before the first pool there is no spread.
        self._spread = dict(zip(SPREAD_METRICS, arrays["spread"].tolist(), strict=False))
        self.embeddings.restore(select(arrays, "embeddings."))
        self.measures.restore(select(arrays, "measures."))
