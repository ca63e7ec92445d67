"""The objectives of both levels against values worked out by hand."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.agents.fun import losses
from hess.agents.fun.networks import cosine
from tests.learning.gradients import assert_gradient


def column(*values: float) -> jax.Array:
    """One episode of numbers. -> [T, 1]."""
    return jnp.asarray(values)[:, None]


def test_the_cosine_by_hand() -> None:
    first = jnp.array([[3.0, 4.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    second = jnp.array([[4.0, 3.0], [-2.0, 0.0], [1.0, 0.0], [0.0, 5.0]])
    np.testing.assert_allclose(cosine(first, second), [0.96, -1.0, 0.0, 0.5**0.5], atol=1e-6)


def test_the_intrinsic_reward_by_hand() -> None:
    latents = jnp.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])[:, None]
    goals = jnp.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [0.0, 0.0]])[:, None]
    root = 0.5**0.5
    # i = 1: (1,0)·(1,0), (0,1)·(0,1), (-1,0)·(.6,.8); i = 2: (1,1)/√2·(1,0), (-1,1)/√2·(0,1).
    expected = [1.0 / 2, (1.0 + root) / 2, (-0.6 + root) / 2]
    rewards = losses.intrinsic_rewards(latents, goals, interval=2)
    np.testing.assert_allclose(rewards[:, 0], expected, atol=1e-6)


def test_movements_end_with_the_episode() -> None:
    latents = jnp.stack([column(0.0, 1.0, 3.0, 6.0, 10.0), column(0.0, 1.0, 3.0, 50.0, 60.0)], 1)
    moved = losses.movements(latents, jnp.array([4, 2]), interval=2)
    assert moved[:, 0, 0].tolist() == [3, 5, 7, 4]
    assert moved[:2, 1, 0].tolist() == [3, 2]


def test_the_transition_policy_gradient_in_closed_form() -> None:
    """∇ of -A cos(m, g) by g is -A (m/‖m‖ - cos · g/‖g‖)/‖g‖, and nothing reaches m."""
    goals = jnp.array([[[0.6, 0.8]], [[1.0, 0.0]], [[2.0, 0.0]]])
    moved = jnp.array([[[3.0, 0.0]], [[0.0, 2.0]], [[5.0, 5.0]]])
    advantages, mask = column(2.0, -1.0, 7.0), column(1.0, 1.0, 0.0) > 0

    def loss(goals: jax.Array, moved: jax.Array) -> jax.Array:
        return losses.transition_policy_loss(goals, moved, advantages, mask)[0]

    assert float(loss(goals, moved)) == pytest.approx(-(2.0 * 0.6 - 1.0 * 0.0) / 2)
    by_goals, by_moved = jax.grad(loss, argnums=(0, 1))(goals, moved)
    expected = np.array([[1.0 - 0.36, -0.48], [0.0, 1.0], [0.0, 0.0]]) * [[-2.0], [1.0], [0.0]] / 2
    np.testing.assert_allclose(by_goals[:, 0], expected, atol=1e-6)
    assert not np.asarray(by_moved).any()


def test_the_transition_policy_gradient_against_differences() -> None:
    with jax.enable_x64(True):
        rng = np.random.default_rng(0)
        goals, moved = jnp.asarray(rng.normal(size=(2, 4, 3, 5)))
        advantages = jnp.asarray(rng.normal(size=(4, 3)))
        mask = jnp.asarray(rng.random((4, 3)) < 0.7)
        assert_gradient(
            lambda each: losses.transition_policy_loss(each, moved, advantages, mask)[0], goals
        )


def test_advantages_by_hand() -> None:
    """γ = 0.5, λ = 0.5; one episode of two steps, terminated, one of three, cut off."""
    rewards = jnp.array([[1.0, 0.0], [2.0, 4.0], [9.0, 0.0]])
    values = jnp.array([[1.0, 2.0], [2.0, 0.0], [8.0, 4.0], [8.0, 6.0]])
    advantages, targets = losses.advantages_and_targets(
        rewards,
        values,
        lengths=jnp.array([2, 3]),
        terminated=jnp.array([True, False]),
        discount=0.5,
        trace=0.5,
    )
    # First: δ = 1 + 1 - 1, 2 - 2. Second: δ = 0 + 0 - 2, 4 + 2 - 0, 0 + 3 - 4.
    assert advantages[:, 0].tolist() == [1.0, 0.0, 0.0]
    assert advantages[:, 1].tolist() == [-2.0 + 0.25 * 5.75, 6.0 - 0.25, -1.0]
    assert targets[:, 0].tolist() == [2.0, 2.0, 0.0]
    assert targets[2, 1] == 3.0


def test_the_policy_gradient_is_plain_at_first_and_stops_at_the_clip() -> None:
    before = column(-1.0, -1.0, -1.0, -1.0)
    advantages, mask = column(2.0, -3.0, 1.0, 1.0), column(1.0, 1.0, 1.0, 0.0) > 0

    def loss(now: jax.Array) -> jax.Array:
        return losses.clipped_policy_loss(now, before, advantages, mask, 0.2)[0]

    assert jax.grad(loss)(before)[:, 0].tolist() == pytest.approx([-2 / 3, 1.0, -1 / 3, 0.0])
    # More likely and good, less likely and bad: both have moved far enough.
    far = before + column(0.5, -0.5, 0.0, 0.0)
    assert jax.grad(loss)(far)[:, 0].tolist() == pytest.approx([0.0, 0.0, -1 / 3, 0.0])
    _, metrics = losses.clipped_policy_loss(far, before, advantages, mask, 0.2)
    assert float(metrics["low/clipped_share"]) == pytest.approx(2 / 3)


def test_a_mean_over_nothing_is_zero() -> None:
    assert float(losses.masked_mean(column(5.0, jnp.nan), column(0.0, 0.0) > 0)) == 0.0
    assert float(losses.critic_loss(column(1.0, 5.0), column(3.0, 0.0), column(1, 0) > 0)) == 4.0
