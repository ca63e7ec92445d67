"""What every method is made of: an agent that learns, and policies that act on the host."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from hess.arrays import Arrays, Floats
from hess.config import Config
from hess.learning.inputs import Moments
from hess.learning.trees import flatten, prefixed, select, unflatten
from hess.replay.episode import Episode, EpisodeShape
from hess.replay.ring import empty_replay, insert

Progress = Callable[[str, float], None]
"""Called with the name of a long computation and the share of it that is done."""


class Rollout(Protocol):
    """One episode being acted in. It reads and annotates the episode's arrays in place."""

    def act(self, step: int) -> Floats:
        """The action in [-1, 1] for `episode.observations[step]`. -> [action]."""

    def finish(self, length: int) -> None:
        """Annotate the last state; the episode is complete."""


class Policy(Protocol):
    """A frozen copy of what an agent would do now; safe to use while the agent learns."""

    def start(self, episode: Episode, rng: np.random.Generator) -> Rollout:
        """Begin an episode of training: stochastic, exploring."""

    def start_evaluation(self, episode: Episode) -> Rollout:
        """Begin an episode of evaluation: deterministic, no exploration."""


class BaseAgent(ABC):
    """What every method derives from: it adds `networks`, `policy` and `learn`.

    Kept here are stored episodes, success, the sizes of what is seen and the updates that are owed;
    `learners` is the shape of those: () for one learner, (n,) for several, None where a round is a
    number of updates of its own.
    """

    purposes: ClassVar[tuple[str, ...]] = ()
    """What keys are drawn for; their order is part of a run's randomness."""
    learned: ClassVar[str] = "networks"
    recent_name: ClassVar[str] = "recent"
    """Names in checkpoints, which have to stay as they are."""

    networks: Any
    """All that gradients change, one pytree."""

    def __init__(
        self,
        config: Config,
        shape: EpisodeShape,
        *,
        learners: tuple[int, ...] | None = (),
        inputs: int | None = None,
        capacity: int | None = None,
    ):
        self.config, self.shape = config, shape
        self._key = jax.random.key(config.seed)
        self.replay = empty_replay(shape, config.capacity if capacity is None else capacity)
        self.replay_revision = 0  # how often stored episodes were rewritten: files are stale then
        self.episodes = 0
        self.recent: deque[bool] = deque(maxlen=config.exploration.success_window)
        self.moments = Moments(shape.observation_dim if inputs is None else inputs)
        self._updates_owed = None if learners is None else np.zeros(learners)

    @abstractmethod
    def policy(self, progress: float) -> Policy:
        """A policy for the next round; `progress` is the share of training that is done."""

    def evaluation_policy(self) -> Policy:
        """A policy for evaluation only; the same where its evaluation rollouts differ enough."""
        return self.policy(1.0)

    @abstractmethod
    def learn(self, episodes: Sequence[Episode], report: Progress) -> dict[str, float]:
        """Store a round of episodes and learn from it; returns metrics."""

    def store(self, episode: Episode, *, judged: bool = True, measured: bool = True) -> None:
        """Keep an episode; whether it was solved, and the sizes of what was seen, if they count."""
        self.replay = insert(self.replay, episode)
        self.episodes += 1
        if judged:
            self.recent.append(bool(episode.successes.any()))
        if measured:
            self.moments.add(self.seen(episode)[: int(episode.length) + 1])

    def seen(self, episode: Episode) -> Floats:
        """What networks see of an episode, before it is scaled. -> [T+1, inputs]."""
        return np.asarray(episode.observations)

    def recent_success(self) -> float:
        """Success over the last training episodes that were judged, 0 before the first one."""
        return sum(self.recent) / len(self.recent) if self.recent else 0.0

    @property
    def is_warm(self) -> bool:
        """Enough random episodes have been stored to learn from."""
        return self.episodes >= self.config.representation.first_update

    def updates_due(self, more: Any, which: Any = ...) -> Any:
        """Whole updates to make now, of all learners or some; fractions are carried over."""
        assert self._updates_owed is not None
        self._updates_owed[which] += more
        due = np.floor(self._updates_owed[which]).astype(int)
        self._updates_owed[which] -= due
        return due

    def key(self, purpose: str | None = None) -> PRNGKeyArray:
        """A key that depends only on the seed, the purpose and the number of episodes so far.

        No random state has to be kept: a resumed run draws what an uninterrupted one draws.
        """
        key = self._key
        if purpose is not None:
            key = jax.random.fold_in(key, self.purposes.index(purpose))
        return jax.random.fold_in(key, self.episodes)

    def embed(self, observations: Floats) -> Floats:
        """φ of observations; without one, embeddings have no dimensions. [n, obs] -> [n, d]."""
        return np.zeros((len(observations), 0), np.float32)

    def snapshot(self) -> Arrays:
        """What figures and the viewer need, small; names that begin "skills." for skill traces."""
        return {}

    def state(self) -> Arrays:
        """All that changes in training, except the stored episodes."""
        arrays = {
            "episodes": np.asarray(self.episodes),
            self.recent_name: np.asarray(self.recent, np.bool_),
        }
        if self._updates_owed is not None:
            arrays["updates_owed"] = self._updates_owed.copy()
        arrays |= prefixed(self.moments.state(), "moments.")
        return arrays | flatten(self.networks, self.learned)

    def restore(self, arrays: Arrays) -> None:
        """Take over what `state` gave."""
        self.networks = unflatten(self.networks, arrays, self.learned)
        self.episodes = int(arrays["episodes"])
        self.recent.clear()
        self.recent.extend(bool(flag) for flag in arrays[self.recent_name])
        if self._updates_owed is not None:
            self._updates_owed = arrays["updates_owed"].copy()
        self.moments.restore(select(arrays, "moments."))
