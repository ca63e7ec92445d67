"""The episodes before the first φ: uniform actions, and subgoals that are filled in later."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from hess.agents.hess.acting import uniform_offset
from hess.agents.hess.rollouts import embed_replay
from hess.arrays import Floats
from hess.config import Config
from hess.replay.episode import Episode
from hess.replay.ring import Replay


class RandomPolicy(NamedTuple):
    """Uniform actions and subgoal directions, for the episodes before the first φ."""

    config: Config

    def start(self, episode: Episode, rng: np.random.Generator) -> RandomRollout:
        return RandomRollout(self.config, episode, rng)

    def start_evaluation(self, episode: Episode) -> RandomRollout:
        """There is nothing to evaluate yet: a fixed stream of uniform actions."""
        return RandomRollout(self.config, episode, np.random.default_rng(0))


class RandomRollout:
    """Acts at random; the agent fills in embeddings and subgoals once it has a φ."""

    def __init__(self, config: Config, episode: Episode, rng: np.random.Generator):
        self._episode, self._rng = episode, rng
        segments, dim = episode.high_actions.shape
        for segment in range(segments):
            episode.high_actions[segment] = uniform_offset(config.high.subgoal_shape, dim, rng)

    def act(self, step: int) -> Floats:
        return self._rng.uniform(-1.0, 1.0, self._episode.actions.shape[1]).astype(np.float32)

    def finish(self, length: int) -> None:
        """Nothing to annotate."""


@partial(jax.jit, donate_argnums=0, static_argnums=3)
def relabel(replay: Replay, network: Any, radius: float, interval: int) -> Replay:
    """Give the random episodes before the first φ their embeddings and subgoals.

    Their actions were uniform, whatever the subgoal, so any subgoal makes valid data.
    """
    embeddings = embed_replay(network, replay)
    return Replay(with_subgoals(replay.episodes, embeddings, radius, interval), replay.inserted)


def with_subgoals(episodes: Episode, embeddings: Any, radius: float, interval: int) -> Episode:
    """One episode or a ring of them, with subgoals where their high-level actions point."""
    subgoals = embeddings[..., :-1:interval, :] + radius * episodes.high_actions
    return episodes._replace(
        embeddings=embeddings,
        subgoals=subgoals,
        selected=subgoals,
        embedded=episodes.embedded | True,
    )
