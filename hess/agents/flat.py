"""Flat soft actor-critic on (observation, goal): the baseline without a hierarchy (paper §5.2)."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from hess.agents.agent import Progress
from hess.agents.diagnostics import share
from hess.arrays import Arrays, Floats
from hess.config import Config
from hess.learning import transitions
from hess.learning.inputs import Moments, Scaling, fold_scaling, low_scaling
from hess.learning.networks import HostActor
from hess.learning.sac import SAC, Batch, Metrics, SACState
from hess.learning.trees import flatten, prefixed, select, unflatten
from hess.replay.episode import Episode, EpisodeShape
from hess.replay.ring import Replay, empty_replay, insert
from hess.replay.sampling import uniform_index


class FlatPolicy(NamedTuple):
    """The actor as it is at one moment; None before learning starts: uniform actions."""

    actor: HostActor | None

    def start(self, episode: Episode, rng: np.random.Generator) -> FlatRollout:
        """An episode of training."""
        return FlatRollout(self.actor, episode, rng)

    def start_evaluation(self, episode: Episode) -> FlatRollout:
        """An episode with the policy's mode."""
        rng = None if self.actor is not None else np.random.default_rng(0)
        return FlatRollout(self.actor, episode, rng)


class FlatRollout:
    """One episode."""

    def __init__(self, actor: HostActor | None, episode: Episode, rng: np.random.Generator | None):
        self._actor, self._episode, self._rng = actor, episode, rng

    def act(self, step: int) -> Floats:
        """An action for the observation and the goal."""
        if self._actor is None:
            assert self._rng is not None
            return self._rng.uniform(-1.0, 1.0, self._episode.actions.shape[1]).astype(np.float32)
        inputs = np.concatenate([self._episode.observations[step], self._episode.goals[step]])
        return self._actor.act(inputs, self._rng)

    def finish(self, length: int) -> None:
        """Nothing to annotate."""


class Flat:
    """SAC with the low level's networks and update rate, and the high level's reward handling."""

    def __init__(self, config: Config, shape: EpisodeShape):
        self.config, self.shape = config, shape
        self._learner = SAC(config.low, shape.observation_dim + shape.goal_dim, shape.action_dim)
        self._key = jax.random.key(config.seed)
        self.learner_state = self._learner.init(self._key)
        self.replay = empty_replay(shape, config.capacity)
        self.replay_revision = 0
        self.moments = Moments(shape.observation_dim)
        self.episodes = 0
        self._recent: deque[bool] = deque(maxlen=config.exploration.success_window)
        self._updates_owed = 0.0
        self._learn = jax.jit(self._updates, donate_argnums=0)

    def policy(self, progress: float) -> FlatPolicy:
        """A frozen copy of the actor."""
        if self.episodes < self.config.representation.first_update:
            return FlatPolicy(None)
        return FlatPolicy(HostActor(fold_scaling(self._scaling(), self.learner_state.actor)))

    def _scaling(self) -> Scaling:
        return low_scaling(self.config.low, self.moments)

    def evaluation_policy(self) -> FlatPolicy:
        """The same; its evaluation rollouts are deterministic."""
        return self.policy(1.0)

    def learn(self, episodes: Sequence[Episode], report: Progress) -> dict[str, float]:
        """Store a round and make as many updates as the low level of a hierarchy would."""
        warm = self.episodes >= self.config.representation.first_update
        for episode in episodes:
            self.replay = insert(self.replay, episode)
            self.episodes += 1
            self.moments.add(episode.observations[: int(episode.length) + 1])
            self._recent.append(bool(episode.successes.any()))
        metrics = {"train/recent_success": self.recent_success()}
        if warm:
            steps = sum(int(episode.length) for episode in episodes)
            self._updates_owed += steps * self.config.low.updates_per_decision
            updates = int(self._updates_owed)
            self._updates_owed -= updates
            start = time.perf_counter()
            key = jax.random.fold_in(self._key, self.episodes)
            self.learner_state, values = self._learn(
                self.learner_state, self.replay, self._scaling(), key, updates
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
            return transitions.flat_batch(replay.episodes, index, stop, scaling)

        return self._learner.learn(state, sample, key, updates)

    def recent_success(self) -> float:
        """Success over the last training episodes."""
        return share(self._recent)

    def embed(self, observations: Floats) -> Floats:
        """There is no φ: embeddings have no dimensions."""
        return np.zeros((len(observations), 0), np.float32)

    def state(self) -> Arrays:
        """All that changes in training, except the stored episodes."""
        host = {
            "episodes": np.asarray(self.episodes),
            "recent": np.asarray(self._recent, np.bool_),
            "updates_owed": np.asarray(self._updates_owed),
        }
        host |= prefixed(self.moments.state(), "moments.")
        return host | flatten(self.learner_state, "learner")

    def restore(self, arrays: Arrays) -> None:
        """Take over what `state` gave."""
        self.learner_state = unflatten(self.learner_state, arrays, "learner")
        self.episodes = int(arrays["episodes"])
        self._recent.extend(bool(flag) for flag in arrays["recent"])
        self._updates_owed = float(arrays["updates_owed"])
        self.moments.restore(select(arrays, "moments."))

    def snapshot(self) -> Arrays:
        """Nothing is explored in a subgoal space."""
        return {}
