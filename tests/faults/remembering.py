"""An agent whose every number depends on all that came before, and that needs no compiler.

What a checkpoint forgets or a resumed run repeats shows in its weights, its actions, eval.csv.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from hess.agents.agent import Progress
from hess.agents.methods import METHODS, Method
from hess.arrays import Arrays, Floats
from hess.config import Config
from hess.replay.episode import Episode, EpisodeShape
from hess.replay.ring import empty_replay, insert

METHOD = Method("remembering", "a test agent", "none", {}, f"{__name__}:Remembering")
_REWRITES_AFTER = 4  # episodes; like the first φ, which gives all stored ones their embeddings


@contextmanager
def registered() -> Iterator[None]:
    """While this lasts, it is a method like any other."""
    METHODS[METHOD.name] = METHOD
    try:
        yield
    finally:
        del METHODS[METHOD.name]


class RememberingPolicy(NamedTuple):
    """Weights as they were, and how much of training was done."""

    weights: NDArray[np.float64]
    progress: float

    def start(self, episode: Episode, rng: np.random.Generator) -> RememberingRollout:
        return RememberingRollout(self, episode, rng)

    def start_evaluation(self, episode: Episode) -> RememberingRollout:
        return RememberingRollout(self, episode, np.random.default_rng(0))


class RememberingRollout:
    """Noisy steps in the direction of the weights."""

    def __init__(self, policy: RememberingPolicy, episode: Episode, rng: np.random.Generator):
        self._policy, self._episode, self._rng = policy, episode, rng

    def act(self, step: int) -> Floats:
        noise = self._rng.uniform(-1, 1, 2) * (1.5 - self._policy.progress)
        return np.clip(np.tanh(self._policy.weights[:2]) + noise, -1, 1).astype(np.float32)

    def finish(self, length: int) -> None:
        """Nothing to annotate."""


class Remembering:
    """See above."""

    def __init__(self, config: Config, shape: EpisodeShape):
        self.config, self.shape = config, shape
        self.replay = empty_replay(shape, config.capacity)
        self.replay_revision = 0
        self.episodes = 0
        self.weights = np.zeros(8)
        self.visited = np.zeros((0, 2), np.int64)

    def policy(self, progress: float) -> RememberingPolicy:
        return RememberingPolicy(self.weights.copy(), progress)

    def evaluation_policy(self) -> RememberingPolicy:
        return self.policy(1.0)

    def learn(self, episodes: Sequence[Episode], report: Progress) -> dict[str, float]:
        for episode in episodes:
            self.replay = insert(self.replay, episode)
            self.episodes += 1
            squares = np.floor(episode.positions).astype(np.int64)
            self.visited = np.unique(np.concatenate([self.visited, squares]), axis=0)
        if self.replay_revision == 0 and self.episodes >= _REWRITES_AFTER:
            stored = self.replay.episodes
            self.replay = self.replay._replace(
                episodes=stored._replace(subgoals=jnp.ones_like(stored.subgoals))
            )
            self.replay_revision = 1
        rng = np.random.default_rng([self.config.seed, self.episodes])
        memory = [np.asarray(field, np.float64).sum() for field in self.replay.episodes]
        step = np.sin(np.array(memory[:7])) + rng.normal(size=7)
        self.weights = np.append(0.9 * self.weights[:7] + step, len(self.visited))
        return {"remembering/length": float(np.linalg.norm(self.weights))}

    def recent_success(self) -> float:
        return float(np.tanh(np.abs(self.weights).sum()))

    def embed(self, observations: Floats) -> Floats:
        return observations[:, :2]

    def state(self) -> Arrays:
        return {
            "episodes": np.asarray(self.episodes),
            "replay_revision": np.asarray(self.replay_revision),
            "weights": self.weights,
            "visited": self.visited,
        }

    def restore(self, arrays: Arrays) -> None:
        self.episodes = int(arrays["episodes"])
        self.replay_revision = int(arrays["replay_revision"])
        self.weights, self.visited = arrays["weights"], arrays["visited"]

    def snapshot(self) -> Arrays:
        return {"weights": self.weights}
