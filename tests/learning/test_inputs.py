"""What both levels see, by hand, and the host's actors against the networks they stand for."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from hess.arrays import Floats
from hess.config import HighConfig, LowConfig
from hess.learning.inputs import (
    HighView,
    Moments,
    Scaling,
    fold_scaling,
    hide,
    high_input,
    high_input_dim,
    high_view,
    host_high_actor,
    host_low_actor,
    low_input,
    low_input_dim,
    measured,
    no_scaling,
    scaled,
)
from hess.learning.networks import gaussian, twin_values
from tests.agents.tiny import linear, network

STATE = np.array([[1.0, 2.0, 3.0]], np.float32)
EMBEDDING = np.array([[10.0, 20.0]], np.float32)
SUBGOAL = np.array([[13.0, 16.0]], np.float32)
SCALING = Scaling(np.array([1.0, 0.0, 1.0], np.float32), np.array([5.0, 0.5, 2.0], np.float32), 0.5)


def seen(scaling: Scaling, **fields: Any) -> list[float]:
    arguments = (jnp.asarray(part) for part in (STATE, EMBEDDING, SUBGOAL))
    values: list[float] = low_input(LowConfig(**fields), scaling, *arguments)[0].tolist()
    return values


def test_the_paper_shows_the_low_level_embedding_and_subgoal() -> None:
    assert seen(no_scaling(3), subgoal_input="absolute") == [1, 2, 3, 10, 20, 13, 16]


def test_relative_input_is_the_way_to_the_subgoal() -> None:
    assert seen(no_scaling(3), subgoal_input="relative") == [1, 2, 3, 3, -4]


def test_observation_and_way_are_scaled() -> None:
    assert seen(SCALING, subgoal_input="relative") == [0, 1, 4, 1.5, -2]


METRIC = np.array([[1.0, 0.5], [0.5, 0.25]], np.float32)


def test_a_metric_weighs_the_way_to_the_subgoal() -> None:
    weighted = SCALING._replace(metric=METRIC)
    assert seen(weighted, subgoal_input="relative")[3:] == [0.5 * (3 - 2), 0.5 * (1.5 - 1)]
    assert measured(weighted, jnp.array([2.0, 0.0])).tolist() == [2.0, 1.0]
    assert measured(SCALING, jnp.array([2.0, 0.0])).tolist() == [2.0, 0.0]


@pytest.mark.parametrize("subgoal_input", ["absolute", "relative"])
@pytest.mark.parametrize("metric", [None, METRIC], ids=["plain", "weighted"])
def test_the_host_actor_takes_plain_inputs_and_acts_as_the_network(
    subgoal_input: Any, metric: Floats | None
) -> None:
    config, scaling = LowConfig(subgoal_input=subgoal_input), SCALING._replace(metric=metric)
    actor = network([low_input_dim(config, 3, 2), 16, 16, 4])
    arguments = (jnp.asarray(part) for part in (STATE, EMBEDDING, SUBGOAL))
    mean, _ = gaussian(actor, low_input(config, scaling, *arguments))
    plain = np.concatenate([STATE[0], EMBEDDING[0], SUBGOAL[0]])
    acted = host_low_actor(config, scaling, actor).act(plain, None)
    np.testing.assert_allclose(acted, np.tanh(mean[0]), atol=1e-5)


GOAL = np.array([[8.0]], np.float32)
REMEMBERED = np.array([[10.0, 4.0]], np.float32)
PHI = linear([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]], [3.0, 0.0])  # of STATE: (4, 8)


def moments(*pairs: tuple[float, float]) -> Moments:
    """Of two observations: each pair is the mean and deviation of an entry."""
    made = Moments(len(pairs))
    made.add(np.array([[mean + sign * deviation for mean, deviation in pairs] for sign in (-1, 1)]))
    return made


Inputs = tuple[bool, bool, bool]
STATE_ONLY, EMBEDDING_ONLY, BOTH = (True, False, False), (False, True, False), (True, True, False)
MEMORY = (False, True, True)


def high_config(normalise: bool, inputs: Inputs) -> HighConfig:
    observed, embedded, remembered = inputs
    return HighConfig(
        normalise=normalise,
        observation_input=observed,
        embedding_input=embedded,
        memory_input=remembered,
    )


def view(config: HighConfig) -> HighView:
    observations = moments((1.0, 0.2), (0.0, 2.0), (1.0, 0.5))
    return high_view(
        config, PHI, observations, moments((2.0, 4.0), (0.0, 4.0)), moments((6.0, 1.0))
    )


@pytest.mark.parametrize(
    ("normalise", "inputs", "expected"),
    [
        (False, STATE_ONLY, [1, 2, 3, 8]),
        (False, BOTH, [1, 2, 3, 4, 8, 8]),
        (False, EMBEDDING_ONLY, [4, 8, 8]),
        (True, STATE_ONLY, [0, 1, 4, 2]),
        (True, BOTH, [0, 1, 4, 0.5, 2, 2]),
        (True, EMBEDDING_ONLY, [0.5, 2, 2]),
        (False, MEMORY, [4, 8, 10, 4, 8]),
        (True, MEMORY, [0.5, 2, 2, 1, 2]),
    ],
)
def test_what_the_high_level_sees(normalise: bool, inputs: Inputs, expected: list[float]) -> None:
    config = high_config(normalise, inputs)
    seen = high_input(view(config), jnp.asarray(STATE), jnp.asarray(GOAL), jnp.asarray(REMEMBERED))
    np.testing.assert_allclose(seen[0], expected, rtol=1e-6)
    assert high_input_dim(config, 3, 2, 1) == len(expected)


@pytest.mark.parametrize("inputs", [STATE_ONLY, BOTH, EMBEDDING_ONLY, MEMORY])
@pytest.mark.parametrize("normalise", [True, False])
def test_the_host_s_high_level_takes_plain_inputs_and_acts_as_the_network(
    normalise: bool, inputs: Inputs
) -> None:
    config = high_config(normalise, inputs)
    seeing = view(config)
    actor = network([high_input_dim(config, 3, 2, 1), 16, 16, 4])
    states, goals, memories = (jnp.asarray(each) for each in (STATE, GOAL, REMEMBERED))
    mean, _ = gaussian(actor, high_input(seeing, states, goals, memories))
    plain = np.concatenate([STATE[0], np.asarray(PHI(states))[0], REMEMBERED[0], GOAL[0]])
    critics = network([high_input_dim(config, 3, 2, 1) + 2, 16, 1], twins=True, layer_norm=True)
    acted = host_high_actor(seeing, actor, critics, 1, (3, 2)).act(plain, None)
    np.testing.assert_allclose(acted, np.tanh(mean[0]), atol=1e-5)
    assert np.abs(acted).max() > 0.05


@pytest.mark.parametrize("inputs", [STATE_ONLY, BOTH, EMBEDDING_ONLY, MEMORY])
@pytest.mark.parametrize("normalise", [True, False])
def test_the_host_s_high_level_chooses_what_its_critics_value_most(
    normalise: bool, inputs: Inputs
) -> None:
    config = high_config(normalise, inputs)
    seeing, width = view(config), high_input_dim(config, 3, 2, 1)
    actor = network([width, 16, 16, 4])
    critics = network([width + 2, 16, 1], seed=1, twins=True, layer_norm=True)
    states, goals, memories = (jnp.asarray(each) for each in (STATE, GOAL, REMEMBERED))
    seen = high_input(seeing, states, goals, memories)
    plain = np.concatenate([STATE[0], np.asarray(PHI(states))[0], REMEMBERED[0], GOAL[0]])
    choosing = host_high_actor(seeing, actor, critics, 200, (3, 2))
    chosen = choosing.act(plain, None)
    assert chosen.tolist() == choosing.act(plain, None).tolist()

    def value(actions: Floats) -> Floats:
        many = jnp.broadcast_to(seen, (len(actions), width))
        return np.asarray(twin_values(critics, many, jnp.asarray(actions)).min(0))

    rng = np.random.default_rng(1)
    drawn = np.stack([choosing.act(plain, rng) for _ in range(200)])
    best = value(chosen[None])[0]
    assert (value(drawn) > best).mean() < 0.03  # one of 200 others of the same policy is better
    assert best > value(np.tanh(np.asarray(gaussian(actor, seen)[0])))[0]


def test_a_folded_network_takes_plain_observations() -> None:
    made = network([5, 16, 4])
    rest = np.array([0.3, -0.7], np.float32)
    scaled = np.append((STATE[0] - SCALING.centre) * SCALING.factor, rest)
    expected = made(jnp.asarray(scaled))
    plain = fold_scaling(SCALING, made)(jnp.asarray(np.append(STATE[0], rest)))
    np.testing.assert_allclose(plain, expected, atol=1e-5)


def test_moments_of_parts_are_those_of_the_whole() -> None:
    values = np.random.default_rng(0).normal((3.0, -50.0), (2.0, 10.0), (1_000, 2))
    moments = Moments(2)
    for part in np.split(values, [10, 400, 401]):
        moments.add(part)
    scaling = moments.scaling(radius=20.0)
    np.testing.assert_allclose(scaling.centre, values.mean(0), rtol=1e-5)
    np.testing.assert_allclose(scaling.factor, 1 / values.std(0), rtol=1e-5)
    assert scaling.offset_factor == 0.25


def test_what_is_known_otherwise_is_hidden() -> None:
    scaling = Scaling(np.array([1.0, 2.0, 3.0]), np.full(3, 2.0, np.float32))
    seen = scaled(hide(scaling, np.array([0.0, 0.75, 1.0])), jnp.array([2.0, 4.0, 9.0]))
    assert seen == pytest.approx([2.0, 1.0, 0.0])


def test_growth_is_what_came_after_the_variance_before() -> None:
    grown = moments((0.0, 2.0), (0.0, 1.0), (0.0, 1.0)).growth(np.array([1.0, 1.0, 4.0]))
    assert grown == pytest.approx([0.75, 0.0, 0.0])
    never = Moments(1)
    never.add(np.full((10, 1), 7.0))
    assert never.growth(np.zeros(1)) == [1.0]


def test_an_entry_that_hardly_varies_is_not_blown_up() -> None:
    moments = Moments(1)
    moments.add(np.full((10, 1), 7.0))
    assert moments.scaling(radius=1.0).factor.tolist() == [20.0]
