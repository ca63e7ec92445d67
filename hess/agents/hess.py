"""HESS, Algorithm 1: active hierarchical exploration with stable subgoal representation learning.

Acting (lines 3-11) is in `hierarchy.py`; this file is what happens between episodes.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from hess.agents import transitions
from hess.agents.agent import Arrays, Floats, Policy, Progress
from hess.agents.diagnostics import segment_diagnostics
from hess.agents.exploration import (
    SPREAD_METRICS,
    CandidatePool,
    exploration_probability,
    explored_unit,
)
from hess.agents.hierarchy import HierarchyPolicy, RandomPolicy
from hess.agents.measures import GridMeasures
from hess.agents.networks import HostActor, HostMLP
from hess.agents.recall import recall_all_embeddings, recall_boundaries, recall_states
from hess.agents.representation import Representation, RepresentationState, embed_replay
from hess.agents.sac import SAC, Metrics, SACState
from hess.agents.snapshots import take_snapshot
from hess.agents.trees import flatten, unflatten
from hess.config import Config
from hess.replay import (
    Episode,
    EpisodeShape,
    Replay,
    empty_replay,
    insert,
    segment_counts,
    uniform_index,
)

_PROBE_STATES = 1_000  # fixed batch on which φ's change is measured


class Networks(eqx.Module):
    """All that gradients change."""

    high: SACState
    low: SACState
    representation: RepresentationState


class Hess:
    """The agent. Variants are configurations of it, see `hess.agents.methods`."""

    def __init__(self, config: Config, shape: EpisodeShape):
        """Line 1: initialise π_h, π_l and φ; an empty replay; no counts."""
        self.config, self.shape = config, shape
        dim = config.representation.dim
        self._low = SAC(config.low, shape.observation_dim + 2 * dim, shape.action_dim)
        self._high = SAC(config.high, shape.observation_dim + shape.goal_dim, dim)
        self._representation = Representation(
            config.representation, shape.observation_dim, config.subgoal_interval
        )
        self._key = jax.random.key(config.seed)
        high_key, low_key, representation_key = jax.random.split(self._key, 3)
        self.networks = Networks(
            self._high.init(high_key),
            self._low.init(low_key),
            self._representation.init(representation_key),
        )
        self.replay = empty_replay(shape, config.capacity)
        self.replay_revision = 0  # how often stored episodes were rewritten in place
        self.measures = GridMeasures(config.exploration, config.high.discount)
        self.episodes = 0
        self.successes = 0
        self.recent_successes: deque[bool] = deque(maxlen=config.exploration.success_window)
        self.unit = 1.0  # factor on r_g, d_e and cell size
        self.probability = 0.0  # p of the newest policy
        self._spread: dict[str, float] = {}  # of the measures over the newest pool
        self._updates_owed = np.zeros(2)  # low, high: fractions of an update carried over
        self._probe_states = np.zeros((_PROBE_STATES, shape.observation_dim), np.float32)
        self._learn_low = jax.jit(self._low_updates, donate_argnums=0)
        self._learn_high = jax.jit(self._high_updates, donate_argnums=0)

    @property
    def has_representation(self) -> bool:
        """φ has been learned; before that, everything is random."""
        return self.episodes >= self.config.representation.first_update

    def policy(self, progress: float) -> Policy:
        """Freeze both levels, φ and the candidates with their measures (lines 5-6)."""
        if not self.has_representation:
            return RandomPolicy(self.config)
        self.probability = exploration_probability(
            self.config.exploration, progress, self.recent_success()
        )
        return self._hierarchy_policy(self.probability)

    def evaluation_policy(self) -> Policy:
        """The same without candidates to explore."""
        return self._hierarchy_policy(0.0) if self.has_representation else RandomPolicy(self.config)

    def _hierarchy_policy(self, probability: float) -> HierarchyPolicy:
        warming_up = self.config.high.warmup == "uniform" and self.successes == 0
        return HierarchyPolicy(
            config=self.config,
            representation=HostMLP(self.networks.representation.network),
            low=HostActor(self.networks.low.actor),
            high=HostActor(self.networks.high.actor),
            uniform_subgoals=warming_up,
            unit=self.unit,
            probability=probability,
            pool=self._candidate_pool() if probability > 0 else None,
        )

    def learn(self, episodes: Sequence[Episode], report: Progress) -> dict[str, float]:
        """Lines 7 and 11-15 for a round of episodes."""
        started_without = not self.has_representation
        for episode in episodes:
            self._store(episode)
        metrics: dict[str, float] = {}
        if not started_without:
            metrics |= segment_diagnostics(episodes, self.config.subgoal_interval)
            metrics |= self._improve_policies(episodes)  # lines 7 and 11
        if self._representation_is_due(len(episodes)):
            metrics |= self._update_representation(report)  # lines 13-15
        if self.has_representation and self._novelty_is_due(len(episodes)):
            self._refresh_novelty()
        metrics["exploration/visited_cells"] = float(len(self.measures.counts))
        metrics["exploration/probability"] = self.probability
        metrics |= self._spread
        metrics["train/recent_success"] = self.recent_success()
        return metrics

    def _store(self, episode: Episode) -> None:
        """Keep the episode; count its visits and what came of its selected subgoals."""
        had_representation = self.has_representation
        self.replay = insert(self.replay, episode)
        self.episodes += 1
        solved = bool(episode.successes.any())
        self.successes += solved
        self.recent_successes.append(solved)
        if had_representation:
            length = int(episode.length)
            self.measures.visit(episode.embeddings[:length])
            self.measures.age()
            self._record_attempts(episode)

    def _record_attempts(self, episode: Episode) -> None:
        """U, Eq. 5: the distance that remains to g_e at the end of each active segment."""
        chosen = np.flatnonzero(episode.active)
        ends = np.minimum((chosen + 1) * self.config.subgoal_interval, int(episode.length))
        remaining = np.linalg.norm(episode.embeddings[ends] - episode.subgoals[chosen], axis=-1)
        self.measures.attempt(episode.selected[chosen], remaining)

    def _improve_policies(self, episodes: Sequence[Episode]) -> dict[str, float]:
        """SAC updates of both levels, in one compiled loop each."""
        lengths = np.array([int(episode.length) for episode in episodes])
        decisions = np.array(
            [lengths.sum(), segment_counts(lengths, self.config.subgoal_interval).sum()]
        )
        rates = (self.config.low.updates_per_decision, self.config.high.updates_per_decision)
        self._updates_owed += decisions * np.array(rates)
        low_updates, high_updates = np.floor(self._updates_owed).astype(int)
        self._updates_owed -= (low_updates, high_updates)

        start = time.perf_counter()
        low, low_metrics = self._learn_low(
            self.networks.low, self.replay, self._fold("low"), low_updates
        )
        values = {f"low/{name}": float(value) for name, value in low_metrics.items()}
        middle = time.perf_counter()
        high, high_metrics = self._learn_high(
            self.networks.high, self.replay, self._fold("high"), high_updates, self._radius()
        )
        values |= {f"high/{name}": float(value) for name, value in high_metrics.items()}
        self.networks = Networks(high, low, self.networks.representation)
        return values | {"time/low": middle - start, "time/high": time.perf_counter() - middle}

    def _low_updates(
        self, state: SACState, replay: Replay, key: PRNGKeyArray, updates: Array
    ) -> tuple[SACState, Metrics]:
        config = self.config.low
        cumulative = jnp.cumsum(replay.episodes.length)

        def sample(key: PRNGKeyArray) -> Any:
            index_key, hindsight_key = jax.random.split(key)
            index = uniform_index(cumulative, index_key, config.batch_size)
            return transitions.low_batch(
                replay.episodes, index, config, self.config.subgoal_interval, hindsight_key
            )

        return self._low.learn(state, sample, key, updates)

    def _high_updates(
        self, state: SACState, replay: Replay, key: PRNGKeyArray, updates: Array, radius: Array
    ) -> tuple[SACState, Metrics]:
        config, interval = self.config.high, self.config.subgoal_interval
        cumulative = jnp.cumsum(segment_counts(replay.episodes.length, interval))

        def sample(key: PRNGKeyArray) -> Any:
            index = uniform_index(cumulative, key, config.batch_size)
            return transitions.high_batch(replay.episodes, index, config, interval, radius)

        return self._high.learn(state, sample, key, updates)

    def _representation_is_due(self, new_episodes: int) -> bool:
        """Every I episodes, and once early: active exploration needs a φ to start."""
        config, before = self.config.representation, self.episodes - new_episodes
        if not self.has_representation:
            return False
        if before < config.first_update:
            return True
        return self.episodes // config.interval > before // config.interval

    def _update_representation(self, report: Progress) -> dict[str, float]:
        """Line 14: m minibatches of Eq. 3 against φ as it was before."""
        start = time.perf_counter()
        state, learner = self.networks.representation, self._representation
        first = int(state.updates) == 0
        if first:
            recalled = recall_states(state.network, self.replay, self._fold("probe"), _PROBE_STATES)
            self._probe_states = np.asarray(recalled.observations)
        old = self.embed(self._probe_states)
        anchors = learner.rank(state, self.replay)
        key, metrics = self._fold("representation"), {}
        chunks = learner.chunks()
        for index, minibatches in enumerate(chunks):
            state, metrics = learner.chunk(
                state, self.replay, anchors, jax.random.fold_in(key, index), minibatches
            )
            report("representation", (index + 1) / len(chunks))
        state = RepresentationState(state.network, state.optimiser, state.updates + 1)
        self.networks = Networks(self.networks.high, self.networks.low, state)
        self._measure_anew(first)
        new = self.embed(self._probe_states)
        values = {f"representation/{name}": float(value) for name, value in metrics.items()}
        return values | {
            "representation/change": float(np.linalg.norm(new - old, axis=-1).mean()),
            "exploration/unit": self.unit,
            "representation/span": float(np.ptp(new, axis=0).max()),
            "time/representation": time.perf_counter() - start,
        }

    def _measure_anew(self, first: bool) -> None:
        """Fit units and counts to the new φ."""
        network = self.networks.representation.network
        visited = recall_all_embeddings(network, self.replay)
        config = self.config.exploration
        unit = explored_unit(config, visited, 0.0 if first else self.unit)
        if unit != self.unit:
            self.unit = unit
            self.measures.resize(unit * config.cell_size, visited.shape[-1])
            self.measures.recount(visited)
        elif first or config.recount:
            self.measures.recount(visited)
        if first:
            self.replay = _relabel(self.replay, network, self._radius())
            self.replay_revision += 1

    def _radius(self) -> float:
        return self.unit * self.config.subgoal_radius

    def _novelty_is_due(self, new_episodes: int) -> bool:
        interval, before = self.config.exploration.novelty_interval, self.episodes - new_episodes
        first = before < self.config.representation.first_update
        return first or self.episodes // interval > before // interval

    def _refresh_novelty(self) -> None:
        """N of all stored rollouts under φ and counts as they are now."""
        networks = self.networks
        boundaries = recall_boundaries(
            networks.representation.network,
            networks.high.actor,
            self.replay,
            self.config.subgoal_interval,
        )
        self.measures.refresh(boundaries, int(self.replay.episodes.length.sum()))

    def _candidate_pool(self) -> CandidatePool:
        """Visited states with their measures, from which candidates within r_g are taken."""
        recalled = recall_states(
            self.networks.representation.network,
            self.replay,
            self._fold("pool"),
            self.config.exploration.pool,
        )
        embeddings = np.asarray(recalled.embeddings)
        pool = CandidatePool(
            embeddings, self.measures.novelty(embeddings), self.measures.potential(embeddings)
        )
        self._spread = pool.spread(self.config.exploration.potential_weight)
        return pool

    def embed(self, observations: Floats) -> Floats:
        """φ of observations. [n, obs] -> [n, d]."""
        return np.asarray(self.networks.representation.network(jnp.asarray(observations)))

    def recent_success(self) -> float:
        """Success over the last training episodes."""
        return float(np.mean(self.recent_successes)) if self.recent_successes else 0.0

    def _fold(self, purpose: str) -> PRNGKeyArray:
        """A key that depends only on the seed, the purpose and the number of episodes so far.

        No random state has to be kept: a resumed run draws what an uninterrupted one draws.
        """
        number = _PURPOSES.index(purpose)
        return jax.random.fold_in(jax.random.fold_in(self._key, number), self.episodes)

    def state(self) -> Arrays:
        """All that changes in training, except the stored episodes."""
        host = {
            "episodes": np.asarray(self.episodes),
            "replay_revision": np.asarray(self.replay_revision),
            "successes": np.asarray(self.successes),
            "recent_successes": np.asarray(self.recent_successes, np.bool_),
            "updates_owed": self._updates_owed.copy(),
            "unit": np.asarray(self.unit),
            "probability": np.asarray(self.probability),
            "spread": np.array(list(self._spread.values())),
            "probe_states": self._probe_states,
        }
        measures = {f"measures.{name}": array for name, array in self.measures.state().items()}
        return host | measures | flatten(self.networks, "networks")

    def restore(self, arrays: Arrays) -> None:
        """Take over what `state` gave."""
        self.networks = unflatten(self.networks, arrays, "networks")
        self.episodes = int(arrays["episodes"])
        self.replay_revision = int(arrays["replay_revision"])
        self.successes = int(arrays["successes"])
        self.recent_successes.extend(bool(flag) for flag in arrays["recent_successes"])
        self._updates_owed = arrays["updates_owed"].copy()
        self.unit = float(arrays["unit"])
        self.probability = float(arrays["probability"])
        self._spread = dict(zip(SPREAD_METRICS, arrays["spread"].tolist(), strict=False))
        self._probe_states = arrays["probe_states"]
        prefix = "measures."
        self.measures.restore(
            {
                name[len(prefix) :]: array
                for name, array in arrays.items()
                if name.startswith(prefix)
            }
        )

    def snapshot(self) -> Arrays:
        """What figures and the viewer need, small."""
        if not self.has_representation:
            return {}
        return take_snapshot(
            self.networks.representation.network, self.replay, self.measures, self._fold("snapshot")
        )


_PURPOSES = ("low", "high", "representation", "probe", "pool", "snapshot")


def _relabel_episodes(replay: Replay, network: Any, radius: float) -> Replay:
    """Give the random episodes before the first φ their embeddings and subgoals.

    Their actions were uniform, whatever the subgoal, so any subgoal makes valid data.
    """
    embeddings = embed_replay(network, replay)
    interval = replay.episodes.actions.shape[1] // replay.episodes.subgoals.shape[1]
    subgoals = embeddings[:, :-1:interval] + radius * replay.episodes.high_actions
    episodes = replay.episodes._replace(embeddings=embeddings, subgoals=subgoals, selected=subgoals)
    return Replay(episodes, replay.inserted)


_relabel = jax.jit(_relabel_episodes, donate_argnums=0)
