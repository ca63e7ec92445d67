"""H-ICM: the error of a model of φ's dynamics."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.agents.hess.bonuses.bonus import Segments
from hess.agents.hess.bonuses.prediction import Prediction, PredictionState, prediction_errors
from hess.replay.sampling import Index
from tests.agents.tiny import SHAPE, linear, tiny_config


def segments(embeddings: Any, actions: Any, next_embeddings: Any) -> Segments:
    zeros = jnp.zeros(len(embeddings))
    return Segments(
        place=Index(zeros, zeros),
        embeddings=jnp.asarray(embeddings),
        actions=jnp.asarray(actions),
        next_embeddings=jnp.asarray(next_embeddings),
        features=zeros,
        terminated=zeros,
    )


def test_the_error_by_hand() -> None:
    # A model that expects the agent to arrive: φ(s') - φ(s) = g - φ(s).
    arrives = linear(np.concatenate([np.zeros((2, 2)), np.eye(2)]), np.zeros(2))
    seen = segments(
        [[1.0, 2.0], [5.0, 5.0], [0.0, 0.0]],
        [[0.5, -0.5], [1.0, 0.0], [1.0, -1.0]],
        [[1.5, 2.5], [6.0, 5.0], [-1.0, 1.0]],
    )
    # Missed by (0, 1), by nothing, and by (-2, 2).
    np.testing.assert_allclose(prediction_errors(arrives, seen), [0.5, 0.0, 4.0], atol=1e-6)
    bonus = Prediction(tiny_config(intrinsic__weight=10.0), SHAPE)
    state = PredictionState(arrives, bonus.optimiser.init(arrives))
    np.testing.assert_allclose(bonus.rewards(state, seen), [5.0, 0.0, 40.0], atol=1e-5)


def test_the_reward_of_repeated_transitions_falls_and_of_others_stays() -> None:
    config = tiny_config(intrinsic__hidden=(16,), intrinsic__learning_rate=1e-2)
    bonus = Prediction(config, SHAPE)
    rng = np.random.default_rng(0)
    start, action = rng.uniform(-0.5, 0.5, (2, 8, 2))
    # Walls: half of the way is all that can be made, and elsewhere it is made backwards.
    repeated = segments(start, action, start + 0.5 * action)
    other = segments(start + 3.0, action, start + 3.0 - 2.0 * action)
    state = bonus.init(jax.random.key(0))
    before = float(bonus.rewards(state, repeated).mean())
    state = jax.lax.fori_loop(0, 500, lambda _, state: bonus.update(state, repeated), state)
    after = float(bonus.rewards(state, repeated).mean())
    assert after < 0.05 * before
    assert float(bonus.rewards(state, other).mean()) > 20 * after


def test_only_the_size_of_the_error_counts() -> None:
    model = linear(np.zeros((4, 2)), np.zeros(2))
    moves = [[0.3, 0.4], [-0.5, 0.0]]
    errors = prediction_errors(model, segments(np.zeros((2, 2)), np.zeros((2, 2)), moves))
    assert errors[0] == pytest.approx(errors[1])
