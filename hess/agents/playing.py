"""A trained policy used from outside: several episodes at once, a step of each at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hess.agents.agent import Policy
from hess.arrays import Floats
from hess.errors import HessError
from hess.replay.episode import EpisodeShape, empty_episode


class Playing:
    """One episode that is being played: what a hierarchy has to remember between two steps."""

    def __init__(self, policy: Policy, shape: EpisodeShape, rng: np.random.Generator | None):
        """Deterministic without a generator."""
        self.episode = empty_episode(shape)
        self.time = 0
        self._horizon = shape.horizon
        if rng is None:
            self._rollout = policy.start_evaluation(self.episode)
        else:
            self._rollout = policy.start(self.episode, rng)

    def act(self, observation: Floats, goal: Floats | None, position: Floats | None) -> Floats:
        """The action in [-1, 1] for the next step of the episode. -> [action]."""
        if self.time >= self._horizon:
            raise HessError(
                f"the episode is over after {self._horizon} steps; call reset() first, or with "
                "predict() say so by episode_start"
            )
        self.episode.observations[self.time] = observation
        if goal is not None:
            self.episode.goals[self.time] = goal
        self.episode.positions[self.time] = np.nan if position is None else position
        action = self._rollout.act(self.time)
        self.time += 1
        return action


State = tuple[Playing, ...]
"""One per environment; to be handed to the next `predict`."""


def split_batch(raw: Any) -> list[Any]:
    """What a vectorised environment observes, one by one."""
    if isinstance(raw, dict):
        parts = {key: split_batch(value) for key, value in raw.items()}
        count = {len(part) for part in parts.values()}.pop()
        return [{key: part[index] for key, part in parts.items()} for index in range(count)]
    if isinstance(raw, tuple):
        return list(zip(*map(split_batch, raw), strict=True))
    return list(raw)


def started(episode_start: Any, count: int) -> NDArray[np.bool_]:
    """Which environments have just been reset. -> [count]."""
    if episode_start is None:
        return np.zeros(count, np.bool_)
    flags = np.ravel(np.asarray(episode_start, np.bool_))
    if flags.shape != (count,):
        raise HessError(f"episode_start has {flags.size} values for {count} environments")
    return flags


def check_state(state: Any, count: int) -> Sequence[Playing | None]:
    """What the last `predict` returned; nothing before the first one."""
    if state is None:
        return [None] * count
    fits = isinstance(state, tuple) and all(isinstance(each, Playing) for each in state)
    if not fits or len(state) != count:
        raise HessError(
            f"state must be what the last predict() returned for the same {count} environments"
        )
    return state
