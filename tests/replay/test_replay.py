"""The ring of episodes: what it holds, how old it is, and how items are drawn from it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.replay.episode import EpisodeShape, empty_episode, segment_counts
from hess.replay.ring import Replay, age_in_episodes, empty_replay, insert
from hess.replay.sampling import uniform_index
from tests.agents.tiny import chi_square_probability

SHAPE = EpisodeShape(
    horizon=4, observation_dim=3, goal_dim=2, action_dim=1, subgoal_dim=2, segments=2
)


def filled(number: int) -> Replay:
    """A ring of three slots after `number` episodes, each with its number as rewards."""
    replay = empty_replay(SHAPE, capacity=14)
    for index in range(number):
        episode = empty_episode(SHAPE)
        episode.rewards[:] = index
        episode.length[...] = index % 4 + 1
        replay = insert(replay, episode)
    return replay


def test_an_episode_has_one_more_state_than_steps() -> None:
    episode = empty_episode(SHAPE)
    assert episode.observations.shape == (5, 3)
    assert episode.goals.shape == (5, 2)
    assert episode.embeddings.shape == (5, 2)
    assert episode.actions.shape == (4, 1)
    assert episode.subgoals.shape == (2, 2)
    assert episode.length.shape == ()


def test_capacity_is_in_steps_and_rounded_down_to_episodes() -> None:
    replay = empty_replay(SHAPE, capacity=14)
    assert replay.slots == 3
    assert replay.episodes.actions.shape == (3, 4, 1)
    assert int(replay.stored) == 0


@pytest.mark.parametrize(
    ("number", "slots"),
    [
        (1, [0, 0, 0]),
        (2, [0, 1, 0]),
        (3, [0, 1, 2]),
        (4, [3, 1, 2]),
        (8, [6, 7, 5]),
    ],
)
def test_the_oldest_episode_is_replaced_once_the_ring_is_full(
    number: int, slots: list[int]
) -> None:
    replay = filled(number)
    assert replay.episodes.rewards[:, 0].tolist() == slots
    assert int(replay.inserted) == number
    assert int(replay.stored) == min(number, 3)


def test_an_insertion_leaves_nothing_of_the_old_episode() -> None:
    replay = filled(3)
    episode = empty_episode(SHAPE)
    episode.length[...] = 1
    replay = insert(replay, episode)
    assert replay.episodes.rewards[0].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("number", "ages"),
    [
        (0, [-1, -1, -1]),
        (1, [0, -1, -1]),
        (2, [1, 0, -1]),
        (3, [2, 1, 0]),
        (4, [0, 2, 1]),
        (8, [1, 0, 2]),
    ],
)
def test_the_newest_episode_has_age_zero(number: int, ages: list[int]) -> None:
    assert age_in_episodes(filled(number)).tolist() == ages


def test_started_segments_are_counted() -> None:
    lengths = np.array([0, 1, 9, 10, 11, 20])
    assert segment_counts(lengths, 10).tolist() == [0, 1, 1, 1, 2, 2]


def test_items_are_drawn_uniformly_from_slots_of_unequal_lengths() -> None:
    lengths = np.array([3, 0, 7, 1, 0])
    draws = 20_000
    draw = jax.jit(lambda key: uniform_index(jnp.cumsum(jnp.asarray(lengths)), key, draws))
    slot, step = map(np.asarray, draw(jax.random.key(0)))
    observed = np.zeros((5, 8))
    np.add.at(observed, (slot, step), 1)
    expected = draws / 11 * (np.arange(8) < lengths[:, None])
    assert chi_square_probability(observed.ravel(), expected.ravel()) > 1e-3
    per_slot = draws / 3 * (np.arange(8) < lengths[:, None]) / np.maximum(lengths, 1)[:, None]
    assert chi_square_probability(observed.ravel(), per_slot.ravel()) < 1e-6
