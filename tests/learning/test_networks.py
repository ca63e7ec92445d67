"""Networks by hand, and the NumPy copies against the JAX originals."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.learning.networks import (
    LOG_STD_MAX,
    LOG_STD_MIN,
    MLP,
    HostActor,
    HostMLP,
    gaussian,
    log_slope_of_tanh,
    sample_action,
    squashed_log_probability,
    twin,
    twin_values,
)
from tests.agents.tiny import linear, network


@pytest.fixture(scope="module")
def actor() -> MLP:
    """Three numbers in, two actions out."""
    return network([3, 16, 16, 4])


def hidden_by_hand(layer_norm: bool) -> MLP:
    """One hidden layer of two units."""
    weights = [jnp.array([[1.0, -1.0], [2.0, 0.0]]), jnp.array([[3.0], [5.0]])]
    biases = [jnp.array([0.5, 0.0]), jnp.array([0.25])]
    template = network([2, 2, 1], layer_norm=layer_norm)
    made: MLP = eqx.tree_at(
        lambda module: (module.weights, module.biases), template, (weights, biases)
    )
    return made


def test_layers_are_affine_with_relu_between() -> None:
    # Hidden: (1 + 4 + 0.5, -1) -> (5.5, 0); output: 3 * 5.5 + 0.25.
    assert hidden_by_hand(False)(jnp.array([1.0, 2.0])).tolist() == [16.75]


def test_layer_norm_comes_before_relu() -> None:
    # (5.5, -1) has mean 2.25 and deviation 3.25: normalised (1, -1), after ReLU (1, 0).
    output = hidden_by_hand(True)(jnp.array([1.0, 2.0]))
    np.testing.assert_allclose(output, [3.25], rtol=1e-5)


def test_a_network_applies_to_the_last_axis() -> None:
    made = hidden_by_hand(False)
    batch = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    outputs = np.asarray(made(jnp.asarray(batch)))
    assert outputs.shape == (2, 3, 1)
    np.testing.assert_allclose(outputs[1, 2], made(jnp.asarray(batch[1, 2])))


def test_twins_differ_and_are_the_two_rows_of_their_values() -> None:
    critics = twin([3, 8, 1], jax.random.key(0), layer_norm=True)
    inputs = jnp.asarray(np.random.default_rng(0).normal(size=(5, 3)), jnp.float32)
    values = np.asarray(twin_values(critics, inputs[:, :2], inputs[:, 2:]))
    assert values.shape == (2, 5)
    assert not np.allclose(values[0], values[1])
    second = jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf)[1]), critics)
    np.testing.assert_allclose(values[1], np.asarray(second(inputs))[:, 0], rtol=1e-4, atol=1e-6)


def test_standard_deviations_are_bounded() -> None:
    extreme = linear(np.zeros((1, 4)), [0.0, 0.0, -100.0, 100.0])
    _, log_std = gaussian(extreme, jnp.zeros((1, 1)))
    assert log_std.tolist() == [[LOG_STD_MIN, LOG_STD_MAX]]


def test_the_squashed_density_integrates_to_one() -> None:
    actions = np.linspace(-1, 1, 20_001)[1:-1]
    density = np.exp(
        squashed_log_probability(
            jnp.full((1,), 0.4), jnp.full((1,), -0.5), jnp.arctanh(actions)[:, None]
        )
    )
    assert np.sum(density) * (actions[1] - actions[0]) == pytest.approx(1.0, abs=1e-3)


def test_the_log_probability_is_finite_far_out() -> None:
    far = squashed_log_probability(jnp.zeros(1), jnp.zeros(1), jnp.array([[40.0], [-40.0]]))
    # -u²/2 - log √2π - log(1 - tanh²(u)), and log(1 - tanh²(u)) → log 4 - 2|u|.
    np.testing.assert_allclose(far, -800 - 0.5 * np.log(2 * np.pi) - np.log(4) + 80, rtol=1e-5)


@pytest.mark.parametrize("number", [-30.0, -2.0, -1e-3, 0.0, 0.7, 5.0, 30.0])
def test_the_slope_of_tanh_and_how_it_changes(number: float) -> None:
    with jax.enable_x64(True):
        value, change = jax.value_and_grad(log_slope_of_tanh)(number)
        below, above = (float(log_slope_of_tanh(number + step)) for step in (-1e-6, 1e-6))
    assert float(value) == pytest.approx(-2.0 * np.log(np.cosh(number)), abs=1e-12)
    assert float(change) == pytest.approx((above - below) / 2e-6, abs=1e-5)


def test_the_log_probability_of_a_sample_has_the_gradient_of_its_definition() -> None:
    observations, noise = jnp.ones((9, 1)), jax.random.normal(jax.random.key(0), (9, 2))

    def by_definition(policy: MLP) -> jax.Array:
        mean, log_std = gaussian(policy, observations)
        return squashed_log_probability(mean, log_std, mean + jnp.exp(log_std) * noise).sum()

    policy = linear(np.array([[0.1, -0.4, 0.2, -0.3]]), [0.3, 0.2, -1.0, 0.1])
    found = jax.grad(lambda policy: sample_action(policy, observations, noise)[1].sum())(policy)
    expected = jax.grad(by_definition)(policy)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-4), found, expected)


def test_samples_follow_the_gaussian_and_carry_their_log_probability() -> None:
    policy = linear(np.zeros((1, 2)), [0.3, -1.0])
    noise = jax.random.normal(jax.random.key(0), (20_000, 1))
    actions, log_probabilities = sample_action(policy, jnp.zeros((20_000, 1)), noise)
    unsquashed = np.arctanh(np.asarray(actions, np.float64))
    assert unsquashed.mean() == pytest.approx(0.3, abs=0.01)
    assert unsquashed.std() == pytest.approx(np.exp(-1.0), rel=0.02)
    expected = squashed_log_probability(
        jnp.array([0.3]), jnp.array([-1.0]), jnp.asarray(unsquashed, jnp.float32)
    )
    np.testing.assert_allclose(log_probabilities, expected, atol=1e-3)


def test_the_host_network_computes_the_same(actor: MLP) -> None:
    host = HostMLP(actor)
    for inputs in np.random.default_rng(0).normal(0, 3, (20, 3)).astype(np.float32):
        before = inputs.copy()
        np.testing.assert_allclose(host(inputs), actor(jnp.asarray(inputs)), rtol=1e-4, atol=1e-5)
        assert np.array_equal(inputs, before)


def test_the_host_actor_takes_the_same_actions(actor: MLP) -> None:
    host = HostActor(actor)
    observation = np.array([0.2, -1.0, 3.0], np.float32)
    mean, log_std = map(np.asarray, gaussian(actor, jnp.asarray(observation)))
    np.testing.assert_allclose(host.act(observation, None), np.tanh(mean), rtol=1e-5)
    noise = np.random.default_rng(5).standard_normal(2, dtype=np.float32)
    drawn = host.act(observation, np.random.default_rng(5))
    np.testing.assert_allclose(drawn, np.tanh(mean + np.exp(log_std) * noise), rtol=1e-5)


def test_the_host_actor_has_the_same_log_probabilities(actor: MLP) -> None:
    host = HostActor(actor)
    rng = np.random.default_rng(0)
    for _ in range(10):
        observation = rng.normal(0, 1, 3).astype(np.float32)
        action = host.act(observation, rng)
        mean, log_std = gaussian(actor, jnp.asarray(observation))
        expected = float(squashed_log_probability(mean, log_std, jnp.arctanh(action)))
        assert host.log_probability(observation, action) == pytest.approx(expected, abs=1e-3)


def test_a_log_probability_on_the_edge_of_the_box_is_finite(actor: MLP) -> None:
    edge = np.array([1.0, -1.0], np.float32)
    assert np.isfinite(HostActor(actor).log_probability(np.zeros(3, np.float32), edge))


def test_a_normalised_network_is_the_same_on_the_host() -> None:
    made = network([3, 32, 32, 2], layer_norm=True)
    inputs = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)
    np.testing.assert_allclose(HostMLP(made)(inputs), made(jnp.asarray(inputs)), atol=1e-5)
