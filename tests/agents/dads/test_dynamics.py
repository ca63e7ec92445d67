"""Skill dynamics and the reward made from them, against values computed by hand."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, PRNGKeyArray
from numpy.typing import ArrayLike

from hess.agents.dads.dynamics import (
    DynamicsLearner,
    Moves,
    Scale,
    SkillDynamics,
    fit_scale,
    log_likelihood,
    skill_reward,
)
from hess.config import DadsConfig
from hess.learning.networks import MLP
from tests.agents.tiny import linear, network


def dynamics(made: MLP, size: int) -> SkillDynamics:
    """With scales of 1."""
    unit = Scale(jnp.zeros(size), jnp.ones(size))
    return SkillDynamics(made, unit, unit)


def moves(states: ArrayLike, skills: ArrayLike, changes: ArrayLike) -> Moves:
    return Moves(*(jnp.asarray(each, jnp.float32) for each in (states, skills, changes)))


# One number of state and one of skill; one expert, which expects a change as large as the skill.
FOLLOWS_SKILL = dynamics(linear([[0.0, 0.0], [1.0, 0.0]], [0.0, 0.0]), 1)
IGNORES_SKILL = dynamics(linear([[0.3, 0.0], [0.0, 0.0]], [0.2, 0.0]), 1)


def test_the_log_likelihood_is_that_of_a_mixture_of_whitened_gaussians() -> None:
    rng = np.random.default_rng(0)
    size, experts = 3, 4
    made = network([size + 2, 8, experts * (size + 1)], seed=1)
    mean, deviation = rng.normal(size=(2, size)), rng.uniform(0.5, 2.0, (2, size))
    scales = [Scale(jnp.asarray(mean[i]), jnp.asarray(deviation[i])) for i in range(2)]
    batch = moves(
        rng.normal(size=(5, size)), rng.uniform(-1, 1, (5, 2)), rng.normal(size=(5, size))
    )
    found = log_likelihood(SkillDynamics(made, *scales), batch)

    states, skills, changes = (np.asarray(each, np.float64) for each in batch)
    inputs = np.concatenate([(states - mean[0]) / deviation[0], skills], -1)
    outputs = np.asarray(made(jnp.asarray(inputs))).reshape(5, experts, size + 1)
    weights = np.exp(outputs[..., -1]) / np.exp(outputs[..., -1]).sum(-1, keepdims=True)
    change = ((changes - mean[1]) / deviation[1])[:, None]
    density = np.exp(-0.5 * (change - outputs[..., :-1]) ** 2) / math.sqrt(2 * math.pi)
    np.testing.assert_allclose(found, np.log((weights * density.prod(-1)).sum(-1)), rtol=1e-4)


def test_the_reward_of_a_transition_against_two_other_skills() -> None:
    """The own skill 1 explains the change 1 exactly; 0 and -1 are off by 1 and by 2."""
    others = jnp.array([[[0.0]], [[-1.0]]])
    found = skill_reward(FOLLOWS_SKILL, moves([[0.0]], [[1.0]], [[1.0]]), others)
    expected = math.log(3) - math.log(1 + math.exp(-0.5) + math.exp(-2.0))
    np.testing.assert_allclose(found, [expected], rtol=1e-6)


@pytest.mark.parametrize("made", [FOLLOWS_SKILL, IGNORES_SKILL])
def test_where_skills_make_no_difference_the_reward_is_zero(made: SkillDynamics) -> None:
    same = (
        jnp.full((5, 1, 1), 0.4) if made is FOLLOWS_SKILL else jnp.linspace(-1, 1, 5)[:, None, None]
    )
    found = skill_reward(made, moves([[0.7]], [[0.4]], [[-0.3]]), same)
    np.testing.assert_allclose(found, [0.0], atol=1e-6)


def test_the_reward_is_bounded_on_both_sides() -> None:
    others = jnp.zeros((4, 1, 1))
    far = 100.0
    best = skill_reward(FOLLOWS_SKILL, moves([[0.0]], [[far]], [[far]]), others)
    worst = skill_reward(FOLLOWS_SKILL, moves([[0.0]], [[far]], [[0.0]]), others)
    np.testing.assert_allclose(best, [math.log(5)], rtol=1e-6)
    np.testing.assert_allclose(worst, [math.log(5) - math.log(1 + 4 * math.e)], rtol=1e-6)


def test_every_transition_is_compared_with_its_own_other_skills() -> None:
    batch = moves([[0.0], [0.0]], [[1.0], [-1.0]], [[1.0], [-1.0]])
    others = jnp.array([[[1.0], [1.0]]])
    expected = [0.0, math.log(2) - math.log(1 + math.exp(-2.0))]
    np.testing.assert_allclose(skill_reward(FOLLOWS_SKILL, batch, others), expected, atol=1e-6)


def test_a_number_that_never_changes_keeps_its_unit() -> None:
    scale = fit_scale(jnp.array([[1.0, 5.0], [3.0, 5.0]]))
    np.testing.assert_allclose(scale.mean, [2.0, 5.0])
    np.testing.assert_allclose(scale.deviation, [1.0, 1.0])
    np.testing.assert_allclose(scale(jnp.array([4.0, 5.0])), [2.0, 0.0])


def test_learned_dynamics_tell_skills_apart() -> None:
    """A skill turns into a move of its size, with a little noise."""
    config = DadsConfig(hidden=(16,), experts=2, learning_rate=3e-3)
    learner = DynamicsLearner(config, state_dim=2, skill_dim=2)

    def sample(key: PRNGKeyArray) -> Moves:
        states, skills, noise = (
            jax.random.uniform(each, (64, 2), minval=-1.0) for each in jax.random.split(key, 3)
        )
        return Moves(states, skills, 3.0 * skills + 0.1 * noise)

    probe = sample(jax.random.key(1))
    before = learner.rescale(learner.init(jax.random.key(0)), probe)
    learn: Any = jax.jit(
        lambda state, updates: learner.learn(state, sample, jax.random.key(2), updates)
    )
    after, metrics = learn(before, 400)
    old, new = (float(log_likelihood(each.model, probe).mean()) for each in (before, after))
    ceiling = -math.log(2 * math.pi)  # of a unit Gaussian in two dimensions
    assert old < new < ceiling
    assert new > ceiling - 0.1
    assert old < float(metrics["log_likelihood"]) < new
    others = jax.random.uniform(jax.random.key(3), (20, 64, 2), minval=-1.0)
    rewards: Array = skill_reward(after.model, probe, others)
    assert float(rewards.mean()) > 0.5
