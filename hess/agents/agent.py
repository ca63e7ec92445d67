"""What the trainer asks of a method, and what a method's policy is on the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from hess.arrays import Arrays, Floats
from hess.replay.episode import Episode, EpisodeShape
from hess.replay.ring import Replay

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


class Agent(Protocol):
    """A method: acts through policies, learns from rounds of episodes, and is all arrays."""

    shape: EpisodeShape
    episodes: int
    replay: Replay
    replay_revision: int
    """How often stored episodes were rewritten in place; files of them are stale then."""

    def policy(self, progress: float) -> Policy:
        """A policy for the next round; `progress` is the share of training that is done."""

    def evaluation_policy(self) -> Policy:
        """A policy for evaluation only."""

    def learn(self, episodes: Sequence[Episode], report: Progress) -> dict[str, float]:
        """Store a round of episodes and learn from it; returns metrics."""

    def recent_success(self) -> float:
        """Success over the last training episodes."""

    def embed(self, observations: Floats) -> Floats:
        """φ of observations. [n, obs] -> [n, d]."""

    def state(self) -> Arrays:
        """All that changes in training, except the stored episodes."""

    def restore(self, arrays: Arrays) -> None:
        """Take over what `state` gave."""

    def snapshot(self) -> Arrays:
        """What figures and the viewer need, small; names that begin "skills." for skill traces."""
