"""Slow directions on rollouts whose answer is known, and networks that begin with them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.agents.hess.random_episodes import RandomPolicy
from hess.agents.hess.representation import Representation
from hess.agents.hess.slow_features import (
    alignment,
    changes,
    first_scale,
    linear_network,
    slow_directions,
    slow_start,
)
from hess.arrays import Floats
from hess.learning.networks import MLP
from tests.agents.tiny import INTERVAL, SHAPE, play, stack, tiny_config

LENGTHS = np.full(60, 100)


def rollouts(march: float, seed: int = 0) -> Floats:
    """A march that turns around at times, a random walk, and noise; 60 rollouts of 100 steps."""
    rng = np.random.default_rng(seed)
    ways = np.repeat(rng.choice([-1.0, 1.0], (60, 4)), 25, axis=1)
    steps = np.stack([march * ways, rng.normal(size=(60, 100))], -1)
    walked = np.concatenate([np.zeros((60, 1, 2)), np.cumsum(steps, 1)], 1)
    return np.concatenate([walked, rng.normal(size=(60, 101, 1))], -1)


def correlation(first: Floats, second: Floats) -> float:
    return abs(float(np.corrcoef(first.ravel(), second.ravel())[0, 1]))


def test_what_leads_far_for_its_pace_comes_first() -> None:
    known, mixing = rollouts(0.3), np.random.default_rng(1).normal(size=(3, 3))
    mixed = known @ np.linalg.qr(mixing)[0] + 5.0
    slow = slow_directions(mixed, LENGTHS)
    found = (mixed - slow.centre) @ slow.directions
    for place in range(3):
        within = [each[..., place] - each[..., place].mean(1)[:, None] for each in (found, known)]
        assert correlation(*within) > 0.9
    assert slow.strengths.tolist() == sorted(slow.strengths, reverse=True)


def test_large_observations_have_the_same_slow_directions() -> None:
    """As pictures have: two numbers that matter, each in many entries, and noise in all of them."""
    rng = np.random.default_rng(2)
    known = rollouts(0.3)[:20, :, :2]
    entries = known @ rng.normal(size=(2, 1_500)) + 0.1 * rng.normal(size=(20, 101, 1_500))
    start = slow_start(entries.astype(np.float32), LENGTHS[:20], None, 2, 5)
    assert start.weight.shape == (1_500, 2)
    found = (entries @ start.weight + start.bias).reshape(-1, 2)
    for place in range(2):
        asked = known[..., place].ravel()
        fitted = np.column_stack([found, np.ones(len(found))])
        told = fitted @ np.linalg.lstsq(fitted, asked, rcond=None)[0]
        assert correlation(told, asked) > 0.98


def test_large_observations_in_which_nothing_moves_have_no_directions() -> None:
    """Rounding errors of the mixtures are no movement: in units of them, places are far apart."""
    begun = np.random.default_rng(3).uniform(0, 255, (20, 1, 1_500)).astype(np.float32)
    still = np.repeat(begun, 101, axis=1)
    start = slow_start(still, LENGTHS[:20], None, 2, 5)
    assert not start.weight.any()
    assert not start.bias.any()


def test_large_observations_are_centred() -> None:
    rng = np.random.default_rng(4)
    entries = 200.0 + rollouts(0.3)[:20] @ rng.normal(size=(3, 1_500))
    entries[10:] += 50.0  # as pictures of another place
    start = slow_start(entries.astype(np.float32), LENGTHS[:20], None, 2, 5)
    found = entries @ start.weight + start.bias
    np.testing.assert_allclose(found.mean((0, 1)), 0.0, atol=1e-3)


def walks(count: int, seed: int) -> Floats:
    """Random walks between two walls, at 0 and 1. -> [60, 1001, count]."""
    rng = np.random.default_rng(seed)
    walked = np.cumsum(0.03 * rng.choice([-1.0, 1.0], (60, 1001, count)), 1)
    return np.abs((walked + rng.uniform(0, 2, (60, 1, count))) % 2.0 - 1.0)


def test_what_turns_back_half_way_comes_after_what_does_not() -> None:
    """Both are as slow over a few steps: the fold of x leads half as far as x."""
    place = walks(1, 3)[..., 0]
    observed = np.stack([place, 2.0 * np.abs(place - 0.5)], -1)
    slow = slow_directions(observed, np.full(60, 1000))
    assert correlation(observed @ slow.directions[:, 0], place) > 0.98


def test_of_two_that_are_as_slow_the_more_visible_comes_first() -> None:
    for scale in ([3.0, 1.0], [1.0, 3.0]):
        observed = walks(2, 4) * scale
        slow = slow_directions(observed, np.full(60, 1000))
        assert correlation(observed @ slow.directions[:, 0], observed[..., np.argmax(scale)]) > 0.98


def test_one_step_along_each_direction_has_unit_variance() -> None:
    observed = rollouts(0.3)
    steps = np.diff(observed @ slow_directions(observed, LENGTHS).directions, axis=1)
    np.testing.assert_allclose((steps**2).mean((0, 1)), 1.0, rtol=2e-2)  # but for the ridge


@pytest.mark.parametrize("value", [np.ones(60), np.arange(60.0)], ids=["ever", "an episode"])
def test_what_never_changes_is_in_no_direction(value: Floats) -> None:
    still = np.concatenate([rollouts(0.3), np.tile(value[:, None, None], (1, 101, 1))], -1)
    slow = slow_directions(still, LENGTHS)
    assert slow.directions.shape == (4, 3)
    assert not slow.directions[3].any()
    assert np.isfinite(slow.strengths).all()


def test_an_object_that_only_trembles_is_in_no_direction_until_it_moves() -> None:
    """In units of its trembling, the first push would be thousands of steps long."""
    observed = rollouts(0.3)
    trembling = 1e-5 * np.random.default_rng(0).normal(size=(60, 101, 1))
    resting = slow_directions(np.concatenate([observed, trembling], -1), LENGTHS)
    assert not resting.directions[3].any()
    pushed = trembling.copy()
    pushed[0, 50:] += 0.5
    moved = slow_directions(np.concatenate([observed, pushed], -1), LENGTHS)
    assert moved.directions[3].any()


def test_only_steps_that_were_taken_count() -> None:
    observed, garbage = rollouts(0.3), rollouts(0.3)
    garbage[:, 51:] = 1e6
    short = slow_directions(observed[:, :51], np.full(60, 50))
    padded = slow_directions(garbage, np.full(60, 50))
    np.testing.assert_allclose(short.strengths, padded.strengths)
    np.testing.assert_allclose(short.centre, padded.centre)


def test_alignment_undoes_turns_signs_and_lengths() -> None:
    rng = np.random.default_rng(2)
    before = rng.normal(size=(200, 3)) * [3.0, 2.0, 1.0]
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    now = 0.2 * before @ turn
    np.testing.assert_allclose(now @ alignment(now, before), before, atol=1e-9)


def test_a_first_space_has_a_length_of_its_own() -> None:
    ways = np.random.default_rng(2).normal(size=(200, 2)) * 77.0
    scaled = ways @ first_scale(ways)
    assert (scaled**2).sum(-1).mean() == pytest.approx(1.5**2)
    assert np.array_equal(first_scale(np.zeros((5, 2))), np.eye(2))


@pytest.mark.parametrize("hidden", [(), (7,), (9, 6)])
def test_a_linear_network_has_room_to_learn(hidden: tuple[int, ...]) -> None:
    rng = np.random.default_rng(4)
    random = MLP([5, *hidden, 2], jax.random.key(0))
    weight, bias, states = rng.normal(size=(5, 2)), rng.normal(size=2), rng.normal(size=(50, 5))
    made = linear_network(random, weight, bias)
    np.testing.assert_allclose(made(jnp.asarray(states)), states @ weight + bias, atol=1e-5)
    if hidden:  # units that have no influence yet, but a gradient
        gradient = jax.grad(lambda network: (network(jnp.asarray(states)) ** 3).sum())(made)
        assert np.abs(gradient.weights[-1][4:]).max() > 0


def update(learner: Representation, state: Any, replay: Any, seed: int) -> tuple[Any, Any]:
    return learner.update(state, replay, jax.random.key(seed), lambda what, share: None)


def test_an_update_starts_at_slow_directions_turned_to_where_they_were() -> None:
    config = tiny_config(representation__start="slow", representation__minibatches=1)
    learner = Representation(
        config.representation, SHAPE.observation_dim, SHAPE.subgoal_dim, INTERVAL
    )
    replay = stack([play(RandomPolicy(config), seed) for seed in range(6)])
    states = np.asarray(replay.episodes.observations[0])
    lengths = np.asarray(replay.episodes.length)
    first, metrics = update(learner, learner.init(jax.random.key(0)), replay, 1)
    slow = slow_directions(np.asarray(replay.episodes.observations), lengths)
    directions = slow.directions[:, :2]
    ways = changes(np.asarray(replay.episodes.observations) @ directions, lengths, INTERVAL)
    expected = (states - slow.centre) @ directions @ first_scale(ways)
    np.testing.assert_allclose(first.network(states), expected, atol=0.1)  # one minibatch away
    shares = [metrics[f"representation/strength_{place}"] for place in range(2)]
    assert shares == pytest.approx([1.0, slow.strengths[1] / slow.strengths[0]], rel=1e-3)
    second, _ = update(learner, first, replay, 2)
    np.testing.assert_allclose(second.network(states), first.network(states), atol=0.2)
    assert int(second.updates) == 2


def test_fewer_entries_than_dimensions_leave_the_rest_to_triplets() -> None:
    config = tiny_config(representation__dim=3)
    learner = Representation(config.representation, 2, 3, INTERVAL)
    replay = stack([play(RandomPolicy(tiny_config()), seed) for seed in range(6)])
    episodes = replay.episodes._replace(observations=replay.episodes.observations[..., :2])
    state = learner.init(jax.random.key(0))
    for seed in (1, 2):
        state, _ = update(learner, state, replay._replace(episodes=episodes), seed)
    embeddings = np.asarray(state.network(episodes.observations[0]))
    assert embeddings.shape[-1] == 3
    assert np.isfinite(embeddings).all()
