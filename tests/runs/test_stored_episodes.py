"""The ring of episodes, taken apart for a checkpoint and put together again."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from hess.replay.episode import EpisodeShape, empty_episode
from hess.replay.ring import Replay, empty_replay, insert
from hess.runs.stored_episodes import read_episodes, refill, stored_range

SHAPE = EpisodeShape(
    horizon=2, observation_dim=1, goal_dim=0, action_dim=1, subgoal_dim=1, segments=1
)
SLOTS = 5


def ring(number: int) -> Replay:
    """After `number` episodes, each marked with its number."""
    replay = empty_replay(SHAPE, capacity=SLOTS * 2)
    for index in range(number):
        episode = empty_episode(SHAPE)
        episode.rewards[:] = index
        episode.length[...] = 2
        replay = insert(replay, episode)
    return replay


@pytest.mark.parametrize(("number", "first"), [(0, 0), (3, 0), (5, 0), (6, 1), (13, 8)])
def test_the_episodes_of_a_ring_have_numbers(number: int, first: int) -> None:
    replay = ring(number)
    assert stored_range(replay) == (first, number)
    if number:
        stored = read_episodes(replay, first, number)
        assert stored.rewards[:, 0].tolist() == list(range(first, number))
        assert read_episodes(replay, number - 1, number).rewards.tolist() == [[number - 1] * 2]


@pytest.mark.parametrize("number", [1, 5, 8, 12])
def test_a_ring_survives_in_parts(number: int) -> None:
    replay = ring(number)
    first, last = stored_range(replay)
    middle = (first + last) // 2
    parts = [
        (start, read_episodes(replay, start, stop))
        for start, stop in ((first, middle), (middle, last))
        if start < stop
    ]
    copy = refill(empty_replay(SHAPE, SLOTS * 2), number, parts)
    for one, two in zip(jax.tree.leaves(replay), jax.tree.leaves(copy), strict=True):
        assert np.array_equal(one, two)
        assert one.dtype == two.dtype


def test_episodes_that_the_ring_has_dropped_are_ignored() -> None:
    whole = read_episodes(ring(5), 0, 5)
    later = read_episodes(ring(7), 5, 7)
    copy = refill(empty_replay(SHAPE, SLOTS * 2), 7, [(0, whole), (5, later)])
    assert copy.episodes.rewards[:, 0].tolist() == [5, 6, 2, 3, 4]
