"""Episodes of noise in the shape of AntMaze, for rows that need no simulator."""

from __future__ import annotations

from typing import TypeVar

import jax
import numpy as np

from hess.replay.episode import Episode, EpisodeShape, empty_episode
from hess.replay.ring import Replay, empty_replay, insert

Arrays = TypeVar("Arrays")

ANT_MAZE = EpisodeShape(
    horizon=500, observation_dim=29, goal_dim=2, action_dim=8, subgoal_dim=2, segments=10
)


def noise_episode(shape: EpisodeShape, rng: np.random.Generator) -> Episode:
    """A full-length episode: noise in all that is a float, False in all that is a flag."""
    episode = empty_episode(shape)
    for array in episode:
        if array.dtype.kind == "f":
            array[...] = 0.5 * rng.standard_normal(array.shape)
    return episode._replace(length=np.asarray(shape.horizon, np.int32))


def noise_replay(shape: EpisodeShape, episodes: int, seed: int = 0) -> Replay:
    """A full ring."""
    rng = np.random.default_rng(seed)
    replay = empty_replay(shape, episodes * shape.horizon)
    for _ in range(episodes):
        replay = insert(replay, noise_episode(shape, rng))
    return finished(replay)


def finished(arrays: Arrays) -> Arrays:
    """The arrays, once they are there: JAX computes in the background."""
    jax.block_until_ready(arrays)  # type: ignore[no-untyped-call]
    return arrays
