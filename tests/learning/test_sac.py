"""Losses and targets of soft actor-critic by hand, and that it learns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.config import LevelConfig
from hess.learning.networks import MLP, HostActor, sample_action
from hess.learning.sac import (
    SAC,
    Batch,
    SACState,
    actor_loss,
    bellman_targets,
    critic_loss,
    temperature_loss,
    weight_norm,
)
from tests.agents.tiny import linear, network
from tests.learning.gradients import assert_gradient

KEY = jax.random.key(3)
NOISE = jnp.array([[0.6], [-1.1], [0.2]])
UPDATES = 1500


def constant_critics(first: float, second: float, inputs: int) -> MLP:
    """Two critics that always say the same."""
    return linear(np.zeros((2, inputs, 1)), [[first], [second]])


def batch(rewards: list[float], terminated: list[float]) -> Batch:
    """Observations of one number, actions of one number."""
    size = len(rewards)
    columns = [np.linspace(low, high, size) for low, high in ((-1, 1), (1, -1), (0, 2))]
    states, actions, next_states = (jnp.asarray(column[:, None], jnp.float32) for column in columns)
    return Batch(states, actions, jnp.array(rewards), next_states, jnp.array(terminated))


def state(critics: MLP, targets: MLP, actor: MLP, temperature: float) -> SACState:
    """A state in which only what the losses read is set."""
    shapes = eqx.filter_eval_shape(SAC(LevelConfig(hidden=()), 1, 1).init, KEY)
    made: SACState = eqx.tree_at(
        lambda state: (state.actor, state.critics, state.target_critics, state.log_temperature),
        shapes,
        (actor, critics, targets, jnp.asarray(math.log(temperature) if temperature else -math.inf)),
    )
    return made


def test_the_critic_loss_is_the_squared_error_of_both() -> None:
    loss, metrics = critic_loss(
        constant_critics(3, 5, 2), batch([0, 0], [0, 0]), targets=jnp.array([1.0, 3.0])
    )
    assert float(loss) == ((3 - 1) ** 2 + (5 - 1) ** 2 + (3 - 3) ** 2 + (5 - 3) ** 2) / 2
    assert float(metrics["value"]) == 4.0


def test_targets_bootstrap_at_truncation_and_stop_at_termination() -> None:
    # The online critics must play no part, and of the targets the smaller value counts.
    made = state(
        constant_critics(100, 100, 2), constant_critics(7, 4, 2), linear([[0, 0]], [0, 0]), 0.0
    )
    targets = bellman_targets(
        made, batch([1, 1, -2], [0, 1, 0]), 0.5, reward_scale=10.0, noise=NOISE
    )
    assert targets.tolist() == [10 + 0.5 * 4, 10, -20 + 0.5 * 4]


def test_targets_have_an_entropy_bonus() -> None:
    actor = linear([[0.5, 0.0]], [0.2, -1.0])
    made = state(constant_critics(0, 0, 2), constant_critics(7, 4, 2), actor, 0.25)
    data = batch([1, 1, 1], [0, 1, 0])
    _, log_probabilities = sample_action(actor, data.next_observations, NOISE)
    targets = bellman_targets(made, data, 0.5, reward_scale=1.0, noise=NOISE)
    expected = 1 + 0.5 * np.array([1, 0, 1]) * (4 - 0.25 * np.asarray(log_probabilities))
    np.testing.assert_allclose(targets, expected, rtol=1e-6)
    assert np.abs(log_probabilities).min() > 1e-3


def test_the_actor_loss_weighs_entropy_against_the_smaller_value() -> None:
    actor = linear([[0.5, 0.0]], [0.2, -1.0])
    data = batch([0, 0, 0], [0, 0, 0])
    _, log_probabilities = sample_action(actor, data.observations, NOISE)
    critics = constant_critics(3, 5, 2)
    loss, metrics = actor_loss(actor, critics, jnp.asarray(0.25), data, NOISE)
    mean = float(np.mean(log_probabilities))
    assert float(loss) == pytest.approx(0.25 * mean - 3)
    assert float(metrics["entropy"]) == pytest.approx(-mean)


@pytest.mark.parametrize(("entropy", "direction"), [(-3.0, 1), (0.5, -1)])
def test_temperature_rises_while_entropy_is_below_its_target(
    entropy: float, direction: int
) -> None:
    gradient = jax.grad(temperature_loss)(jnp.asarray(0.7), jnp.asarray(entropy), -1.0)
    assert float(gradient) == pytest.approx(entropy + 1.0)
    assert np.sign(-gradient) == direction
    assert float(temperature_loss(jnp.asarray(0.7), jnp.asarray(entropy), -1.0)) == pytest.approx(
        0.7 * (entropy + 1.0)
    )


def test_the_norm_of_the_weights_is_that_of_the_hidden_layers() -> None:
    made = SAC(LevelConfig(hidden=(4, 3)), 2, 1).init(KEY)
    hidden = [*made.actor.weights[:2], *made.critics.weights[:2]]
    expected = math.sqrt(sum(float((weight**2).sum()) for weight in hidden))
    assert float(weight_norm(made)) == pytest.approx(expected)


def test_weight_decay_shrinks_hidden_weights_beside_the_gradient_step() -> None:
    config = LevelConfig(hidden=(4, 4), learning_rate=0.01)
    plain, decaying = (SAC(replace(config, weight_decay=each), 1, 1) for each in (0.0, 0.5))
    state, data = plain.init(KEY), batch([0, 1, 0], [0, 1, 0])
    noise = jnp.stack([NOISE, NOISE])
    (one, _), (two, _) = (sac.update(state, data, noise) for sac in (plain, decaying))
    for part in ("critics", "actor"):
        before, without, with_decay = (getattr(each, part) for each in (state, one, two))
        for layer in range(2):
            lost = without.weights[layer] - with_decay.weights[layer]
            # The actor's gradient is that of critics which have shrunk by then.
            tolerance = 1e-6 if part == "critics" else 1e-3
            np.testing.assert_allclose(lost, 0.005 * before.weights[layer], atol=tolerance)
        np.testing.assert_allclose(without.weights[2], with_decay.weights[2], atol=1e-3)
    assert eqx.tree_equal(plain._decayed(state.actor), state.actor)


class TestGradients:
    """In double precision, against differences."""

    @pytest.fixture(autouse=True)
    def double_precision(self) -> Iterator[None]:
        with jax.enable_x64(True):
            yield

    def random_batch(self) -> Batch:
        rng = np.random.default_rng(0)
        shapes = [(4, 2), (4, 1), (4,), (4, 2), (4,)]
        return Batch(*(jnp.asarray(rng.uniform(-0.9, 0.9, shape)) for shape in shapes))

    @pytest.mark.parametrize("layer_norm", [False, True])
    def test_of_the_critic_loss(self, layer_norm: bool) -> None:
        data = self.random_batch()
        critics = network([3, 4, 1], twins=True, layer_norm=layer_norm)
        assert_gradient(lambda each: critic_loss(each, data, data.rewards)[0], critics)

    def test_of_the_actor_loss_through_the_drawn_action(self) -> None:
        data = self.random_batch()
        critics = network([3, 4, 1], twins=True)
        temperature, noise = jnp.asarray(0.3), jax.random.normal(KEY, (4, 1))
        assert_gradient(
            lambda actor: actor_loss(actor, critics, temperature, data, noise)[0],
            network([2, 4, 2]),
        )

    def test_of_the_temperature_loss(self) -> None:
        entropy = jnp.asarray(0.4)
        assert_gradient(lambda value: temperature_loss(value, entropy, -2.0), jnp.asarray(0.1))


class Bandit(NamedTuple):
    """A one-step problem and its learner before and after."""

    learner: SAC
    before: SACState
    after: SACState
    one_more: SACState
    metrics: dict[str, float]


@pytest.fixture(scope="module")
def bandit() -> Bandit:
    """The reward is 1 - 4 (a - 0.5)²."""
    config = LevelConfig(
        hidden=(32,), learning_rate=3e-3, batch_size=64, initial_temperature=0.1, target_rate=0.02
    )
    learner = SAC(config, 1, 1)

    def sample(key: jax.Array) -> Batch:
        actions = jax.random.uniform(key, (64, 1), minval=-1.0, maxval=1.0)
        states, ends = jnp.ones((64, 1)), jnp.ones(64)
        return Batch(states, actions, 1 - 4 * (actions[:, 0] - 0.5) ** 2, states, ends)

    learn = jax.jit(lambda state, updates: learner.learn(state, sample, KEY, updates))
    before = learner.init(KEY)
    after, metrics = learn(before, UPDATES)
    one_more, _ = learn(after, 1)
    values = {name: float(value) for name, value in metrics.items()}
    return Bandit(learner, before, after, one_more, values)


def test_it_learns_the_better_action(bandit: Bandit) -> None:
    mode = [HostActor(each.actor).act(np.ones(1), None)[0] for each in bandit[1:3]]
    assert abs(mode[0] - 0.5) > 0.2, "the start must not be the solution"
    assert mode[1] == pytest.approx(0.5, abs=0.1)


def test_it_makes_exactly_the_updates_asked_for_and_averages_their_metrics(bandit: Bandit) -> None:
    counts = [int(each.critic_optimiser[0].count) for each in bandit[1:4]]
    assert counts == [0, UPDATES, UPDATES + 1]
    names = {"critic_loss", "value", "actor_loss", "entropy", "temperature", "weight_norm"}
    assert set(bandit.metrics) == names
    # Of all of them, where they end.
    assert bandit.metrics["weight_norm"] == pytest.approx(float(weight_norm(bandit.after)))
    # Rewards lie in [-8, 1], so must a mean of their values; a sum would not.
    assert -8 < bandit.metrics["value"] < 1


@pytest.mark.parametrize("updates", [1, 16, 17, 40])
def test_every_update_has_a_batch_of_its_own(updates: int) -> None:
    drawn: list[float] = []

    def sample(key: jax.Array) -> Batch:
        draw = jax.random.uniform(key, (2, 1))
        return Batch(draw, draw, draw[:, 0], draw, jnp.ones(2))

    class Watched(SAC):
        def update(
            self, state: SACState, batch: Batch, noise: jax.Array, number: jax.Array | int = 0
        ) -> Any:
            seen = jnp.stack([batch.rewards[0], noise[0, 0, 0], noise[1, 0, 0]])
            jax.debug.callback(lambda values: drawn.extend(values.tolist()), seen)
            return super().update(state, batch, noise, number)

    learner = Watched(LevelConfig(hidden=(4,)), 1, 1)
    learner.learn(learner.init(KEY), sample, KEY, jnp.asarray(updates))
    jax.effects_barrier()  # type: ignore[no-untyped-call]
    assert len(drawn) == len(set(drawn)) == 3 * updates


@pytest.mark.parametrize(("interval", "updates", "acted"), [(2, 17, 9), (3, 5, 2), (3, 20, 8)])
def test_the_actor_may_wait_for_the_critics(interval: int, updates: int, acted: int) -> None:
    def sample(key: jax.Array) -> Batch:
        draw = jax.random.uniform(key, (2, 1))
        return Batch(draw, draw, draw[:, 0], draw, jnp.ones(2))

    learner = SAC(LevelConfig(hidden=(4,), actor_interval=interval), 1, 1)
    before = learner.init(KEY)
    after, metrics = learner.learn(before, sample, KEY, jnp.asarray(updates))
    # Adam counts the steps that it has taken.
    assert int(after.actor_optimiser[0].count) == acted
    assert int(after.critic_optimiser[0].count) == updates
    # Means over the actor's own updates: the temperature has hardly moved from where it starts.
    assert float(metrics["temperature"]) == pytest.approx(1.0, abs=0.01)


def test_a_fresh_target_equals_its_critic_and_then_follows_at_its_rate(bandit: Bandit) -> None:
    fresh, rate = bandit.before, bandit.learner.config.target_rate
    for pair in zip(fresh.target_critics.weights, fresh.critics.weights, strict=True):
        assert np.array_equal(*pair)
    for old, target, online in zip(
        map(np.asarray, bandit.after.target_critics.weights),
        map(np.asarray, bandit.one_more.target_critics.weights),
        map(np.asarray, bandit.one_more.critics.weights),
        strict=True,
    ):
        np.testing.assert_allclose(target, (1 - rate) * old + rate * online, rtol=1e-5, atol=1e-6)
        assert not np.array_equal(old, target)


def test_the_target_entropy_is_per_action_and_minus_one_by_default() -> None:
    assert SAC(LevelConfig(), 3, 8).target_entropy == -8.0
    assert SAC(LevelConfig(target_entropy=0.25), 3, 8).target_entropy == 2.0


def test_the_temperature_starts_where_the_config_says() -> None:
    fresh = SAC(LevelConfig(hidden=(4,), initial_temperature=0.018), 1, 1).init(KEY)
    assert float(jnp.exp(fresh.log_temperature)) == pytest.approx(0.018)
