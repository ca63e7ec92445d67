"""Flat soft actor-critic on (observation, goal): the baseline without a hierarchy (paper §5.2).

The shortest method there is, and the template for others: a policy that is frozen, the rollout that
acts in one episode, and the agent that learns.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from hess.agents.agent import BaseAgent, Progress
from hess.arrays import Floats
from hess.config import Config
from hess.learning.inputs import Scaling, fold_scaling, low_scaling
from hess.learning.networks import HostActor
from hess.learning.sac import SAC, Batch, Metrics, SACState
from hess.learning.transitions import flat_batch
from hess.replay.episode import Episode, EpisodeShape
from hess.replay.ring import Replay
from hess.replay.sampling import uniform_index


class FlatPolicy(NamedTuple):
    """The actor as it is at one moment; None before learning starts: uniform actions."""

    actor: HostActor | None

    def start(self, episode: Episode, rng: np.random.Generator) -> FlatRollout:
        return FlatRollout(self.actor, episode, rng)

    def start_evaluation(self, episode: Episode) -> FlatRollout:
        rng = None if self.actor is not None else np.random.default_rng(0)
        return FlatRollout(self.actor, episode, rng)


class FlatRollout:
    """One episode."""

    def __init__(self, actor: HostActor | None, episode: Episode, rng: np.random.Generator | None):
        self._actor, self._episode, self._rng = actor, episode, rng

    def act(self, step: int) -> Floats:
        if self._actor is None:
            assert self._rng is not None
            return self._rng.uniform(-1.0, 1.0, self._episode.actions.shape[1]).astype(np.float32)
        inputs = np.concatenate([self._episode.observations[step], self._episode.goals[step]])
        return self._actor.act(inputs, self._rng)

    def finish(self, length: int) -> None:
        """Nothing to annotate."""


class Flat(BaseAgent):
    """SAC with the low level's networks and update rate, and the high level's reward handling."""

    learned = "learner"

    def __init__(self, config: Config, shape: EpisodeShape):
        super().__init__(config, shape)
        self._sac = SAC(config.low, shape.observation_dim + shape.goal_dim, shape.action_dim)
        self.networks: SACState = self._sac.init(self._key)
        self._learn = jax.jit(self._updates, donate_argnums=0)

    def policy(self, progress: float) -> FlatPolicy:
        if not self.is_warm:
            return FlatPolicy(None)
        return FlatPolicy(HostActor(fold_scaling(self._scaling(), self.networks.actor)))

    def _scaling(self) -> Scaling:
        return low_scaling(self.config.low, self.moments)

    def learn(self, episodes: Sequence[Episode], report: Progress) -> dict[str, float]:
        """Store a round and make as many updates as the low level of a hierarchy would."""
        warm = self.is_warm
        for episode in episodes:
            self.store(episode)
        metrics = {"train/recent_success": self.recent_success()}
        if warm:
            start = time.perf_counter()
            steps = sum(int(episode.length) for episode in episodes)
            updates = int(self.updates_due(steps * self.config.low.updates_per_decision))
            self.networks, values = self._learn(
                self.networks, self.replay, self._scaling(), self.key(), updates
            )
            metrics |= {f"low/{name}": float(value) for name, value in values.items()}
            metrics["time/low"] = time.perf_counter() - start
        return metrics

    def _updates(
        self, state: SACState, replay: Replay, scaling: Scaling, key: PRNGKeyArray, updates: Array
    ) -> tuple[SACState, Metrics]:
        cumulative = jnp.cumsum(replay.episodes.length)

        def sample(key: PRNGKeyArray) -> Batch:
            index = uniform_index(cumulative, key, self.config.low.batch_size)
            stop = self.config.high.stop_at_success
            return flat_batch(replay.episodes, index, stop, scaling)

        return self._sac.learn(state, sample, key, updates)
