"""What is read back from the replay: states, segment boundaries, everything, the newest."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from hess.agents.hess.rollouts import (
    ViewedActor,
    rollouts_at_boundaries,
    rollouts_in_parts,
    sample_states,
    segment_changes,
    stored_embeddings,
)
from hess.learning.inputs import HighView
from hess.learning.networks import HostActor
from hess.replay.ring import Replay, latest_episodes
from tests.agents.hess.test_acting import HIGH, HIGH_INPUT, high_inputs, policy
from tests.agents.tiny import INTERVAL, SHAPE, first_coordinates, network, play, stack

PHI = first_coordinates(SHAPE.observation_dim)
LENGTHS = [20, 12, 7]
VIEW = HighView(PHI, remembered=True)  # as `policy` shows it: s ‖ φ(s) ‖ memory ‖ goal


@pytest.fixture(scope="module")
def replay() -> Replay:
    """Three episodes in a ring of five, with log-probabilities of their subgoals."""
    acting = policy(exploration__novelty="importance")
    episodes = [play(acting, seed, length=length) for seed, length in enumerate(LENGTHS)]
    return stack(episodes, slots=5)


def test_states_are_drawn_from_all_steps_taken(replay: Replay) -> None:
    sampled = sample_states(PHI, replay, jax.random.key(0), 2_000)
    observations = np.asarray(sampled.observations)
    np.testing.assert_allclose(sampled.embeddings, observations[:, :2], atol=1e-6)
    np.testing.assert_allclose(sampled.positions, observations[:, :2], atol=1e-6)
    stored = {
        tuple(state.tolist())
        for episode, length in zip(replay.episodes.observations, LENGTHS, strict=False)
        for state in np.asarray(episode[:length])
    }
    drawn = {tuple(state.tolist()) for state in observations}
    assert drawn == stored
    assert np.asarray(sampled.steps).max() == 19


def test_boundaries_are_the_multiples_of_c_that_exist(replay: Replay) -> None:
    boundaries = rollouts_at_boundaries(PHI, ViewedActor(HIGH, VIEW), replay, INTERVAL)
    expected = np.asarray(replay.episodes.observations)[:3, ::INTERVAL, :2]
    np.testing.assert_allclose(boundaries.embeddings, expected, atol=1e-6)
    assert boundaries.valid.tolist() == [
        [True, True, True, True, True],
        [True, True, True, False, False],
        [True, True, False, False, False],
    ]
    assert boundaries.ages.tolist() == [2, 1, 0]


def test_rollouts_are_recalled_several_times_per_segment(replay: Replay) -> None:
    rollouts = rollouts_in_parts(PHI, replay, INTERVAL, parts=2)  # of 5 steps: every second one
    expected = np.asarray(replay.episodes.observations)[:3, ::2, :2]
    np.testing.assert_allclose(rollouts.embeddings, expected, atol=1e-6)
    lengths = np.asarray(LENGTHS)[:3]
    assert rollouts.valid.sum(1).tolist() == (lengths // 2 + 1).tolist()
    assert rollouts.share == 0.4


def test_ratios_are_one_for_the_policy_that_acted(replay: Replay) -> None:
    ratios = rollouts_at_boundaries(PHI, ViewedActor(HIGH, VIEW), replay, INTERVAL).log_ratios
    np.testing.assert_allclose(ratios, 0.0, atol=2e-3)


def test_segments_that_were_never_begun_change_no_ratio(replay: Replay) -> None:
    other = network([HIGH_INPUT, 16, 4], 9)
    ratios = rollouts_at_boundaries(PHI, ViewedActor(other, VIEW), replay, INTERVAL).log_ratios
    assert (ratios != 0).tolist() == [[True] * 4, [True] * 3 + [False], [True] * 2 + [False] * 2]


def test_ratios_compare_another_policy_with_the_one_that_acted(replay: Replay) -> None:
    other = network([HIGH_INPUT, 16, 4], 9)
    ratios = rollouts_at_boundaries(PHI, ViewedActor(other, VIEW), replay, INTERVAL).log_ratios
    episodes = replay.episodes
    inputs = high_inputs(jax.tree.map(lambda leaf: np.asarray(leaf[1]), episodes), INTERVAL)
    action = np.asarray(episodes.high_actions[1, 1])
    now, then = (HostActor(each).log_probability(inputs, action) for each in (other, HIGH))
    assert ratios[1, 1] == pytest.approx(now - then, abs=5e-3)
    assert abs(now - then) > 0.05


def test_segment_moves_are_those_of_whole_segments(replay: Replay) -> None:
    points = np.asarray(replay.episodes.observations)[:, ::INTERVAL, :2]
    expected = [
        points[slot, segment + 1] - points[slot, segment]
        for slot, length in enumerate(LENGTHS)
        for segment in range(length // INTERVAL)
    ]
    assert len(expected) == 4 + 2 + 1
    moves = segment_changes(PHI, replay, INTERVAL)
    np.testing.assert_allclose(moves, expected, rtol=1e-5, atol=1e-6)


def test_segment_moves_of_long_ago_do_not_count(
    replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hess.agents.hess.rollouts._RECENT", 2)
    assert len(segment_changes(PHI, replay, INTERVAL)) == 2 + 1


def test_all_embeddings_are_those_of_the_steps_taken(replay: Replay) -> None:
    embeddings = stored_embeddings(PHI, replay)
    expected = [
        np.asarray(replay.episodes.observations[slot, :length, :2])
        for slot, length in enumerate(LENGTHS)
    ]
    np.testing.assert_allclose(embeddings, np.concatenate(expected), atol=1e-6)


def test_the_newest_episodes_come_back_oldest_first(replay: Replay) -> None:
    assert [int(episode.length) for episode in latest_episodes(replay, 2)] == [12, 7]
    assert [int(episode.length) for episode in latest_episodes(replay, 10)] == [20, 12, 7]
    wrapped = Replay(replay.episodes, replay.inserted + 4)  # seven stored in five slots
    numbers = [int(episode.length) for episode in latest_episodes(wrapped, 10)]
    assert numbers == [7, 0, 0, 20, 12]
