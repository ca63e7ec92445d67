"""Soft actor-critic with twin critics and automatic entropy tuning (paper §5).

One implementation serves the high level, the low level and the flat baseline.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, PRNGKeyArray

from hess.config import LevelConfig
from hess.learning.networks import MLP, sample_action, twin, twin_values
from hess.native.adam import Adam

Metrics = dict[str, Array]
ACTOR_METRICS = ("actor_loss", "entropy", "temperature")
METRICS = ("critic_loss", "value", *ACTOR_METRICS)
_BLOCK = 16  # updates whose batches and noise are drawn at once


class Batch(NamedTuple):
    """Transitions; `terminated` stops bootstrapping, truncation does not."""

    observations: Array  # [B, obs]
    actions: Array  # [B, action]
    rewards: Array  # [B]
    next_observations: Array  # [B, obs]
    terminated: Array  # [B]


class SACState(eqx.Module):
    """Everything that changes when one level learns."""

    actor: MLP
    critics: MLP
    target_critics: MLP
    log_temperature: Array
    actor_optimiser: optax.OptState
    critic_optimiser: optax.OptState
    temperature_optimiser: optax.OptState


def critic_loss(critics: MLP, batch: Batch, targets: Array) -> tuple[Array, Metrics]:
    """Mean squared Bellman error, summed over the two critics."""
    values = twin_values(critics, batch.observations, batch.actions)
    loss = ((values - targets) ** 2).sum(0).mean()
    return loss, {"critic_loss": loss, "value": values.mean()}


def bellman_targets(
    state: SACState, batch: Batch, discount: float, reward_scale: float, noise: Array
) -> Array:
    """r + γ (1 - terminated) (min Q'(s', a') - temperature · log π(a'|s')). -> [B]."""
    actions, log_probabilities = sample_action(state.actor, batch.next_observations, noise)
    values = twin_values(state.target_critics, batch.next_observations, actions).min(0)
    soft_values = values - jnp.exp(state.log_temperature) * log_probabilities
    return reward_scale * batch.rewards + discount * (1.0 - batch.terminated) * soft_values


def actor_loss(
    actor: MLP, critics: MLP, temperature: Array, batch: Batch, noise: Array
) -> tuple[Array, Metrics]:
    """temperature · log π(a|s) - min Q(s, a), a drawn from π."""
    actions, log_probabilities = sample_action(actor, batch.observations, noise)
    values = twin_values(critics, batch.observations, actions).min(0)
    loss = (temperature * log_probabilities - values).mean()
    return loss, {"actor_loss": loss, "entropy": -log_probabilities.mean()}


def temperature_loss(log_temperature: Array, entropy: Array, target_entropy: float) -> Array:
    """Raises the temperature while the policy's entropy lies below its target."""
    return log_temperature * (entropy - target_entropy)


def weight_norm(state: SACState) -> Array:
    """L2 norm of the hidden weights of actor and critics: large ones hardly turn any more."""
    hidden = [*state.actor.weights[:-1], *state.critics.weights[:-1]]
    return jnp.sqrt(jnp.asarray([(weight**2).sum() for weight in hidden]).sum())


class SAC:
    """The learner: fixed settings outside, a `SACState` in and out."""

    def __init__(self, config: LevelConfig, observation_dim: int, action_dim: int):
        self.config = config
        self.observation_dim = observation_dim
        self.action_dim = action_dim
        self.target_entropy = config.target_entropy * action_dim
        self.optimiser = Adam(config.learning_rate)

    def init(self, key: PRNGKeyArray) -> SACState:
        """Fresh networks; targets equal the critics."""
        config, actor_key, critic_key = self.config, *jax.random.split(key)
        actor = MLP([self.observation_dim, *config.hidden, 2 * self.action_dim], actor_key)
        critic_sizes = [self.observation_dim + self.action_dim, *config.hidden, 1]
        critics = twin(critic_sizes, critic_key, config.layer_norm)
        log_temperature = jnp.log(jnp.asarray(config.initial_temperature, jnp.float32))
        return SACState(
            actor=actor,
            critics=critics,
            target_critics=jax.tree.map(jnp.copy, critics),
            log_temperature=log_temperature,
            actor_optimiser=self.optimiser.init(actor),
            critic_optimiser=self.optimiser.init(critics),
            temperature_optimiser=self.optimiser.init(log_temperature),
        )

    def update(
        self, state: SACState, batch: Batch, noise: Array, number: Array | int = 0
    ) -> tuple[SACState, Metrics]:
        """One gradient step of critics and their targets, and of actor and temperature if due.

        `noise` [2, B, action] draws the actions of the targets and of the actor's loss; `number`
        counts the updates. Metrics of an actor that waits are 0.
        """
        state, critic_metrics = self._update_critics(state, batch, noise[0])
        if self.config.actor_interval == 1:
            state, actor_metrics = self._update_actor(state, batch, noise[1])
        else:
            state, actor_metrics = jax.lax.cond(
                number % self.config.actor_interval == 0,
                lambda: self._update_actor(state, batch, noise[1]),
                lambda: (state, {name: jnp.zeros(()) for name in ACTOR_METRICS}),
            )
        return state, critic_metrics | actor_metrics

    def _update_critics(
        self, state: SACState, batch: Batch, target_noise: Array
    ) -> tuple[SACState, Metrics]:
        config = self.config
        targets = bellman_targets(state, batch, config.discount, config.reward_scale, target_noise)
        (_, metrics), gradient = jax.value_and_grad(critic_loss, has_aux=True)(
            state.critics, batch, targets
        )
        critics, critic_optimiser, target_critics = self.optimiser.polyak_step(
            self._decayed(state.critics),
            gradient,
            state.critic_optimiser,
            state.target_critics,
            config.target_rate,
        )
        return replace(
            state, critics=critics, target_critics=target_critics, critic_optimiser=critic_optimiser
        ), metrics

    def _update_actor(
        self, state: SACState, batch: Batch, noise: Array
    ) -> tuple[SACState, Metrics]:
        temperature = jnp.exp(state.log_temperature)
        (_, metrics), gradient = jax.value_and_grad(actor_loss, has_aux=True)(
            state.actor, state.critics, temperature, batch, noise
        )
        actor, actor_optimiser = self.optimiser.step(
            self._decayed(state.actor), gradient, state.actor_optimiser
        )

        gradient = jax.grad(temperature_loss)(
            state.log_temperature, metrics["entropy"], self.target_entropy
        )
        log_temperature, temperature_optimiser = self.optimiser.step(
            state.log_temperature, gradient, state.temperature_optimiser
        )
        return replace(
            state,
            actor=actor,
            log_temperature=log_temperature,
            actor_optimiser=actor_optimiser,
            temperature_optimiser=temperature_optimiser,
        ), metrics | {"temperature": temperature}

    def _decayed(self, network: MLP) -> MLP:
        """Decoupled weight decay of the hidden layers; the last one's scale is that of values."""
        if self.config.weight_decay == 0:
            return network
        kept = 1.0 - self.config.learning_rate * self.config.weight_decay
        *hidden, last = network.weights
        return eqx.tree_at(
            lambda each: each.weights, network, [*(kept * weight for weight in hidden), last]
        )

    def learn(
        self,
        state: SACState,
        sample: Callable[[PRNGKeyArray], Batch],
        key: PRNGKeyArray,
        updates: Array,
    ) -> tuple[SACState, Metrics]:
        """Many updates in one compiled loop; metrics are means over it, or of its end.

        Batches and noise are drawn for a block of updates at once: one by one, the small
        operations of the random generator take a twentieth of the time.
        """

        def block(number: Array, carry: tuple[SACState, Metrics]) -> tuple[SACState, Metrics]:
            batches, noise = self._draw(sample, jax.random.fold_in(key, number))

            def body(index: Array, carry: tuple[SACState, Metrics]) -> tuple[SACState, Metrics]:
                state, totals = carry
                batch = jax.tree.map(lambda stacked: stacked[index], batches)
                state, metrics = self.update(state, batch, noise[index], index)
                return state, jax.tree.map(jnp.add, totals, metrics)

            left = updates - number * _BLOCK
            return jax.lax.fori_loop(0, jnp.minimum(left, _BLOCK), body, carry)

        zeros = {name: jnp.zeros(()) for name in METRICS}
        blocks = (updates + _BLOCK - 1) // _BLOCK
        state, totals = jax.lax.fori_loop(0, blocks, block, (state, zeros))
        acted = _acted(updates, self.config.actor_interval)
        counts = {name: acted if name in ACTOR_METRICS else updates for name in METRICS}
        means = {name: total / jnp.maximum(counts[name], 1) for name, total in totals.items()}
        return state, means | {"weight_norm": weight_norm(state)}

    def _draw(
        self, sample: Callable[[PRNGKeyArray], Batch], key: PRNGKeyArray
    ) -> tuple[Batch, Array]:
        """What a block of updates needs. -> batches [block, B, ...], noise [block, 2, B, act]."""
        sample_key, noise_key = jax.random.split(key)
        batches = jax.vmap(sample)(jax.random.split(sample_key, _BLOCK))
        size = batches.rewards.shape[1]
        return batches, jax.random.normal(noise_key, (_BLOCK, 2, size, self.action_dim))


def _acted(updates: Array, interval: int) -> Array:
    """How many of these updates were the actor's, too: the first of every few in a block."""
    whole, rest = updates // _BLOCK, updates % _BLOCK
    return whole * (-(-_BLOCK // interval)) + (rest + interval - 1) // interval
