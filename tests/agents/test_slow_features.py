"""Slow directions on rollouts whose answer is known, and how they are turned to what was before."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from hess.agents.hierarchy import RandomPolicy
from hess.agents.representation import Representation
from hess.agents.slow_features import aligned, slow_directions
from tests.agents.tiny import INTERVAL, SHAPE, Floats, play, stack, tiny_config


def rollouts(march: float, seed: int = 0) -> Floats:
    """A march that turns around at times, a random walk, and noise; 60 rollouts of 100 steps."""
    rng = np.random.default_rng(seed)
    ways = np.repeat(rng.choice([-1.0, 1.0], (60, 4)), 25, axis=1)
    steps = np.stack([march * ways, rng.normal(size=(60, 100))], -1)
    walked = np.concatenate([np.zeros((60, 1, 2)), np.cumsum(steps, 1)], 1)
    return np.concatenate([walked, rng.normal(size=(60, 101, 1))], -1)


LENGTHS = np.full(60, 100)


def test_ratios_are_those_of_a_march_of_a_walk_and_of_noise() -> None:
    mixing = np.random.default_rng(1).normal(size=(3, 3))
    slow = slow_directions(rollouts(0.3) @ mixing, LENGTHS, 10)
    # Ten steps in a row are a hundred times one, squared, less where it turns around.
    assert 70 < slow.ratios[0] < 100
    assert slow.ratios[1] == pytest.approx(10, rel=0.1)
    assert slow.ratios[2] == pytest.approx(1, rel=0.1)
    first = rollouts(0.3) @ mixing @ slow.directions[:, 0]
    assert abs(np.corrcoef(first.ravel(), rollouts(0.3)[..., 0].ravel())[0, 1]) > 0.99


def test_one_step_along_each_direction_has_unit_variance() -> None:
    features = rollouts(0.3)
    steps = np.diff(features @ slow_directions(features, LENGTHS, 10).directions, axis=1)
    np.testing.assert_allclose((steps**2).mean((0, 1)), 1.0, rtol=1e-6)


def test_what_never_moves_has_no_direction() -> None:
    still = np.concatenate([rollouts(0.3), np.ones((60, 101, 1))], -1)
    slow = slow_directions(still, LENGTHS, 10)
    assert slow.directions.shape == (4, 3)
    assert np.isfinite(slow.ratios).all()


def test_only_steps_that_were_taken_count() -> None:
    features, garbage = rollouts(0.3), rollouts(0.3)
    garbage[:, 51:] = 1e6
    short = slow_directions(features[:, :51], np.full(60, 50), 10)
    padded = slow_directions(garbage, np.full(60, 50), 10)
    np.testing.assert_allclose(short.ratios, padded.ratios)


def test_alignment_undoes_turns_signs_and_lengths() -> None:
    rng = np.random.default_rng(2)
    before = rng.normal(size=(200, 3)) * [3.0, 2.0, 1.0]
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    now = 0.2 * before @ turn + 7.0
    back = now @ aligned(now, before)
    np.testing.assert_allclose(back - back.mean(0), before - before.mean(0), atol=1e-9)


def test_the_representation_is_made_of_the_slowest_features() -> None:
    config = tiny_config(representation__features=6, representation__dim=3)
    learner = Representation(config.representation, SHAPE.observation_dim, INTERVAL)
    shape = SHAPE._replace(subgoal_dim=3)
    replay = stack([play(RandomPolicy(config), seed, shape) for seed in range(6)])
    state = learner.init(jax.random.key(0))
    state, metrics = learner.update(state, replay, jax.random.key(1), lambda what, share: None)
    assert state.features.biases[-1].shape == (6,)
    assert state.network.biases[-1].shape == (3,)
    states = replay.episodes.observations[0]
    assert state.reduction is not None
    np.testing.assert_allclose(
        state.network(states), state.features(states) @ state.reduction, atol=1e-5
    )
    ratios = [metrics[f"representation/slowness_{place}"] for place in range(3)]
    assert ratios == sorted(ratios, reverse=True)
    again, _ = learner.update(state, replay, jax.random.key(2), lambda what, share: None)
    before, after = (np.asarray(each.network(states)) for each in (state, again))
    correlations = [np.corrcoef(before[:, i], after[:, i])[0, 1] for i in range(3)]
    assert min(correlations) > 0.5  # the same directions, with the same sign
