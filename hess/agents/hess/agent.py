"""HESS, Algorithm 1: active hierarchical exploration with stable subgoal representation learning.

Acting (lines 3-11) is in `acting.py`; this file is what happens between episodes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from hess.agents.agent import BaseAgent, Policy, Progress
from hess.agents.diagnostics import segment_diagnostics
from hess.agents.hess.acting import HierarchyPolicy
from hess.agents.hess.bonuses.bonus import SubgoalSpace
from hess.agents.hess.exploration.explorer import Explorer
from hess.agents.hess.high_level import HighLevel, HighState
from hess.agents.hess.known import Known
from hess.agents.hess.random_episodes import RandomPolicy, relabel, with_subgoals
from hess.agents.hess.representation import Representation, RepresentationState, update_is_due
from hess.agents.hess.rollouts import ViewedActor
from hess.agents.hess.snapshot_content import take_snapshot
from hess.arrays import Arrays, Floats
from hess.config import Config, override
from hess.learning.inputs import (
    HighView,
    Moments,
    Scaling,
    hide,
    high_view,
    host_high_actor,
    host_low_actor,
    low_input_dim,
    low_scaling,
)
from hess.learning.networks import MLP, HostMLP
from hess.learning.sac import SAC, Batch, Metrics, SACState
from hess.learning.transitions import LowView, low_batch
from hess.learning.trees import prefixed, select
from hess.replay.episode import Episode, EpisodeShape, segment_counts
from hess.replay.ring import Replay
from hess.replay.sampling import uniform_index


class Networks(eqx.Module):
    """All that learning changes on the device."""

    high: SACState
    low: SACState
    representation: RepresentationState
    bonus: Any  # what the intrinsic reward has learned; None without one


class Hess(BaseAgent):
    """The agent. Variants are configurations of it, see `hess.agents.methods`."""

    purposes = ("low", "high", "representation", "probe", "pool", "snapshot", "fit")
    recent_name = "explorer.recent_successes"

    def __init__(self, config: Config, shape: EpisodeShape):
        """Line 1: initialise π_h, π_l and φ; an empty replay; no counts."""
        super().__init__(config, shape, learners=(2,))  # low, high
        dim = shape.subgoal_dim
        low_dim = low_input_dim(config.low, shape.observation_dim, dim)
        self._low = SAC(config.low, low_dim, shape.action_dim)
        self._high = HighLevel(config, shape)
        self._representation = Representation(
            config.representation, shape.observation_dim, dim, config.subgoal_interval
        )
        high_key, low_key, representation_key = jax.random.split(self._key, 3)
        high = self._high.init(high_key)
        self.networks = Networks(
            high.policy,
            self._low.init(low_key),
            self._representation.init(representation_key),
            high.bonus,
        )
        self.explorer = Explorer(config, dim)
        self.successes = 0
        self.goal_moments = Moments(shape.goal_dim)
        self._known = Known(shape.observation_dim)
        self._learn_low = jax.jit(self._low_updates, donate_argnums=0)
        self._learn_high = jax.jit(self._high.learn, donate_argnums=0)

    @property
    def has_representation(self) -> bool:
        """φ has been learned; before that, everything is random."""
        return int(self.networks.representation.updates) > 0

    def policy(self, progress: float) -> Policy:
        """Freeze both levels, φ and the candidates with their measures (lines 5-6)."""
        if not self.has_representation:
            return RandomPolicy(self.config)
        probability = self.explorer.set_probability(progress, self.recent_success())
        return self._hierarchy_policy(probability)

    def evaluation_policy(self) -> Policy:
        """Both levels as they are, without candidates; who wants samples gets them every time."""
        if not self.has_representation:
            return RandomPolicy(self.config)
        sampling = override(self.config, {"exploration.greedy_share": 0.0})
        return self._hierarchy_policy(0.0)._replace(config=sampling, uniform_subgoals=False)

    @property
    def _phi(self) -> MLP:
        return self.networks.representation.network

    def _hierarchy_policy(self, probability: float) -> HierarchyPolicy:
        pool = None
        if probability > 0:
            pool = self.explorer.candidates(self._phi, self.replay, self.key("pool"))
        high, sizes = self.networks.high, (self.shape.observation_dim, self.shape.subgoal_dim)
        choices = self.config.high.choices
        return HierarchyPolicy(
            config=self.config,
            representation=HostMLP(self._phi),
            low=host_low_actor(self.config.low, self._scaling(), self.networks.low.actor),
            high=host_high_actor(self._high_view(), high.actor, high.critics, choices, sizes),
            uniform_subgoals=self._is_warming_up(),
            box=self.explorer.box(),
            unit=self.explorer.unit,
            probability=probability,
            pool=pool,
        )

    def _scaling(self) -> Scaling:
        scaling = low_scaling(self.config.low, self.moments, self.explorer.radius)
        if self.config.exploration.least_weight < 1:
            scaling = scaling._replace(metric=self.explorer.metric)
        if not self.config.low.hide_explained:
            return scaling
        return hide(scaling, self._known.hidden(self.moments))

    def _high_view(self) -> HighView:
        seen = self.moments, self.explorer.embeddings, self.goal_moments
        return high_view(self.config.high, self._phi, *seen)

    def _is_warming_up(self) -> bool:
        """Before the first success there is no reward that the high level could learn from."""
        return self.config.high.warmup == "uniform" and self.successes == 0

    def learn(self, episodes: Sequence[Episode], report: Progress) -> dict[str, float]:
        """Lines 7 and 11-15 for a round of episodes."""
        self._representation.check()
        before = self.episodes
        episodes = [self._store(episode) for episode in episodes]
        metrics: dict[str, float] = {}
        if self.has_representation:
            metrics |= segment_diagnostics(episodes, self.config.subgoal_interval)
            metrics |= self._improve_policies(episodes)  # lines 7 and 11
        if update_is_due(self.config.representation, before, self.episodes):  # line 13
            metrics |= self._update_representation(report)  # line 14
        interval = self.config.exploration.novelty_interval
        if self.has_representation and self.episodes // interval > before // interval:
            self._refresh_novelty()
        return metrics | {"train/recent_success": self.recent_success()} | self.explorer.metrics()

    def _store(self, episode: Episode) -> Episode:
        """Keep the episode; count its visits and what came of its selected subgoals."""
        if self.has_representation and not episode.embedded:
            # Collected at random while φ was learned for the first time.
            embeddings = self.embed(episode.observations)
            interval = self.config.subgoal_interval
            episode = with_subgoals(episode, embeddings, self.explorer.radius, interval)
        # Where p decides for episodes, those that leave every subgoal to the policy judge it.
        alone = self.config.exploration.decided == "segment" or not episode.active.any()
        self.store(episode, judged=alone)
        self.successes += bool(episode.successes.any())
        self.goal_moments.add(episode.goals[: int(episode.length) + 1])
        self.explorer.record(episode)
        return episode

    def _improve_policies(self, episodes: Sequence[Episode]) -> dict[str, float]:
        """SAC updates of both levels, in one compiled loop each.

        The high level waits while it warms up: without rewards, entropy tuning would only take
        its temperature to zero.
        """
        lengths = np.array([int(episode.length) for episode in episodes])
        decisions = np.array(
            [lengths.sum(), segment_counts(lengths, self.config.subgoal_interval).sum()]
        )
        high_rate = 0.0 if self._is_warming_up() else self.config.high.updates_per_decision
        rates = self.config.low.updates_per_decision, high_rate
        low_updates, high_updates = self.updates_due(decisions * rates)

        start = time.perf_counter()
        view = LowView(self._scaling(), self.explorer.box())
        low, low_metrics = self._learn_low(
            self.networks.low, self.replay, view, self.key("low"), low_updates
        )
        values = {f"low/{name}": float(value) for name, value in low_metrics.items()}
        middle = time.perf_counter()
        space = SubgoalSpace(self._phi, self.explorer.box(), self._high_view())
        high = HighState(self.networks.high, self.networks.bonus)
        high = self._high.refresh(high, self.explorer, space.network, self.replay)
        high, high_metrics = self._learn_high(
            high, self.replay, space, self.key("high"), high_updates
        )
        if high_updates:
            values |= {name: float(value) for name, value in high_metrics.items()}
        self.networks = replace(self.networks, high=high.policy, bonus=high.bonus, low=low)
        return values | {"time/low": middle - start, "time/high": time.perf_counter() - middle}

    def _low_updates(
        self, state: SACState, replay: Replay, view: LowView, key: PRNGKeyArray, updates: Array
    ) -> tuple[SACState, Metrics]:
        config, interval = self.config.low, self.config.subgoal_interval
        episodes, cumulative = replay.episodes, jnp.cumsum(replay.episodes.length)

        def sample(key: PRNGKeyArray) -> Batch:
            index_key, subgoal_key = jax.random.split(key)
            index = uniform_index(cumulative, index_key, config.batch_size)
            return low_batch(episodes, index, config, interval, view=view, key=subgoal_key)

        return self._low.learn(state, sample, key, updates)

    def _update_representation(self, report: Progress) -> dict[str, float]:
        """Line 14: m minibatches of Eq. 3 against φ as it was before."""
        start = time.perf_counter()
        before, first = self.networks.representation, not self.has_representation
        if first:
            self._known.begin(before.network, self.replay, self.key("probe"), self.moments)
        state, metrics = self._representation.update(
            before, self.replay, self.key("representation"), report
        )
        self.networks = replace(self.networks, representation=state)
        if first:
            self.explorer.fit_to_representation(state.network, self.replay, None, None)
            radius, interval = self.explorer.radius, self.config.subgoal_interval
            self.replay = relabel(self.replay, state.network, radius, interval)
            self.replay_revision += 1
        else:
            random = self._known.embed_random(state.network)
            self.explorer.fit_to_representation(state.network, self.replay, before.network, random)
        self._refresh_novelty()
        metrics |= self._known.measure(before.network, state.network, self.replay, self.key("fit"))
        return metrics | {"time/representation": time.perf_counter() - start}

    def _refresh_novelty(self) -> None:
        high = ViewedActor(self.networks.high.actor, self._high_view())
        self.explorer.refresh_novelty(self._phi, high, self.replay)

    def embed(self, observations: Floats) -> Floats:
        return np.asarray(self._phi(jnp.asarray(observations)))

    def state(self) -> Arrays:
        """With what is known of φ and of the space that is explored."""
        arrays = super().state() | self._known.state()
        arrays["replay_revision"] = np.asarray(self.replay_revision)
        arrays["explorer.successes"] = np.asarray(self.successes)
        arrays |= prefixed(self.goal_moments.state(), "goal_moments.")
        return arrays | prefixed(self.explorer.state(), "explorer.")

    def restore(self, arrays: Arrays) -> None:
        super().restore(arrays)
        self._known.restore(arrays)
        self.replay_revision = int(arrays["replay_revision"])
        self.successes = int(arrays["explorer.successes"])
        self.goal_moments.restore(select(arrays, "goal_moments."))
        self.explorer.restore(select(arrays, "explorer."))

    def snapshot(self) -> Arrays:
        if not self.has_representation:
            return {}
        interval, key = self.config.subgoal_interval, self.key("snapshot")
        return take_snapshot(self._phi, self.replay, self.explorer.measures, key, interval=interval)
