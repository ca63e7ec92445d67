"""Planning over skills: on dynamics that are known, the right skill comes out."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.agents.dads.dynamics import Scale, SkillDynamics, mixture
from hess.agents.dads.planning import HostDynamics, Planner, predicted_returns
from hess.arrays import Floats
from hess.config import DadsConfig
from tests.agents.tiny import network

CONFIG = DadsConfig(plan_length=2, plan_candidates=64, plan_refinements=5)
HERE = np.zeros(2)


def glide(positions: Floats, skills: Floats) -> Floats:
    """A skill is a direction."""
    return positions + 0.2 * skills


def around_a_wall(positions: Floats, skills: Floats) -> Floats:
    """Only above y = 1 can one move in x."""
    return positions + 0.2 * skills * np.stack([positions[:, 1] > 1.0, np.ones(len(positions))], -1)


@pytest.mark.parametrize("goal", [(8.0, 0.0), (-8.0, 0.0), (0.0, 8.0), (6.0, -6.0)])
def test_the_plan_leads_straight_to_a_far_goal(goal: tuple[float, float]) -> None:
    plan = Planner(glide, CONFIG, 5, 2)(HERE, np.array(goal), np.random.default_rng(0))
    assert plan.shape == (2, 2)
    assert np.abs(plan).max() <= 1.0
    for skill in plan:
        assert skill @ np.array(goal) / np.linalg.norm(goal) > 0.75
        assert np.linalg.norm(skill - np.sign(goal)) < 0.6


def test_a_long_plan_takes_the_way_around() -> None:
    """The goal lies to the east; the first skill has to lead north."""
    config = DadsConfig(plan_length=3, plan_candidates=256, plan_refinements=10)
    plan = Planner(around_a_wall, config, 10, 2)(
        HERE, np.array([4.0, 1.2]), np.random.default_rng(0)
    )
    assert plan[0, 1] > 0.4
    assert plan[1, 0] > 0.4


def test_at_the_goal_it_stays() -> None:
    planner = Planner(glide, CONFIG, 5, 2)
    plan = planner(HERE, HERE, np.random.default_rng(0))
    assert np.linalg.norm(plan[0]) < 0.4


def test_the_same_generator_gives_the_same_plan() -> None:
    planner = Planner(glide, CONFIG, 5, 2)
    one, two = (planner(HERE, np.ones(2), np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(one, two)


def test_returns_are_the_mean_distance_to_the_goal() -> None:
    """Two skills of two steps each: 0.2 forth, twice, then back again."""
    plans = np.array([[[1.0, 0.0], [-1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]])
    returns = predicted_returns(glide, HERE, np.array([1.0, 0.0]), plans, 2)
    np.testing.assert_allclose(returns, [-(0.8 + 0.6 + 0.8 + 1.0) / 4, -1.0])


def test_the_host_predicts_the_mean_of_the_mixture() -> None:
    rng = np.random.default_rng(0)
    scales = [
        Scale(jnp.asarray(rng.normal(size=2), jnp.float32), jnp.asarray([0.5, 3.0], jnp.float32))
        for _ in range(2)
    ]
    model = SkillDynamics(network([4, 8, 9]), *scales)
    states, skills = rng.normal(size=(2, 6, 2)).astype(np.float32)
    means, log_weights = mixture(model, jnp.asarray(states), jnp.asarray(skills))
    whitened = (jax.nn.softmax(log_weights)[..., None] * means).sum(1)
    expected = states + np.asarray(whitened) * scales[1].deviation + scales[1].mean
    np.testing.assert_allclose(HostDynamics(model)(states, skills), expected, rtol=1e-4, atol=1e-5)
