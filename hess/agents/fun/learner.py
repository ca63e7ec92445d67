"""Learning from one round of whole episodes: both levels, their critics and the perception."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, PRNGKeyArray

from hess.agents.fun import losses
from hess.agents.fun.networks import FunNetwork, Outputs, Steps
from hess.config import FunConfig
from hess.learning.inputs import HighView, Scaling, high_input
from hess.learning.networks import squashed_log_probability
from hess.learning.sac import Metrics
from hess.replay.episode import Episode, EpisodeShape

_EDGE = 1e-6  # actions are moved inside the box by this before the tanh is undone
_FLAT = 1e-3  # standard deviation below which advantages are noise and stay small


class FunState(eqx.Module):
    """Everything that changes when both levels learn."""

    network: FunNetwork
    optimiser: optax.OptState


class Plan(NamedTuple):
    """What is worked out once per round, with the networks that acted in it."""

    manager_advantages: Array  # [T, B]
    manager_targets: Array  # [T, B]
    worker_advantages: Array  # [T, B]
    worker_targets: Array  # [T, B]
    log_probabilities: Array  # [T, B]


class FunLearner:
    """Fixed settings outside, a `FunState` in and out."""

    def __init__(self, config: FunConfig, shape: EpisodeShape, interval: int):
        self.config, self.shape, self.interval = config, shape, interval
        self.optimiser = optax.chain(
            optax.clip_by_global_norm(config.gradient_norm), optax.adam(config.learning_rate)
        )
        self.learn = jax.jit(self._learn, donate_argnums=0)

    def init(self, key: PRNGKeyArray) -> FunState:
        network = FunNetwork(self.config, self.shape, key)
        return FunState(network, self.optimiser.init(network))

    def _learn(
        self, state: FunState, scaling: Scaling, episodes: Episode
    ) -> tuple[FunState, Metrics]:
        """A few gradient steps on a round. Episodes: stacked, [B, ...] each."""
        steps = self.steps(scaling, episodes)
        plan, measured = self._plan(state.network, steps, episodes)

        def improve(
            carry: tuple[FunNetwork, optax.OptState], _: None
        ) -> tuple[tuple[FunNetwork, optax.OptState], Metrics]:
            network, optimiser = carry
            loss = partial(self._loss, steps=steps, episodes=episodes, plan=plan)
            (_, metrics), gradient = jax.value_and_grad(loss, has_aux=True)(network)
            changes, optimiser = self.optimiser.update(gradient, optimiser)
            return (optax.apply_updates(network, changes), optimiser), metrics

        (network, optimiser), metrics = jax.lax.scan(
            improve, (state.network, state.optimiser), length=self.config.epochs
        )
        return FunState(network, optimiser), jax.tree.map(jnp.mean, metrics) | measured

    def steps(self, scaling: Scaling, episodes: Episode) -> Steps:
        """Stacked episodes as the networks see them; observations and goals are scaled."""
        view = HighView(scaling=scaling)
        inputs = _time_first(high_input(view, episodes.observations, episodes.goals))
        observations, goals = jnp.split(inputs, [self.shape.observation_dim], -1)
        random, directions = (
            jnp.repeat(each, self.interval, axis=0)[: self.shape.horizon]  # the last one is shorter
            for each in (episodes.active.T, _time_first(episodes.high_actions))
        )
        # The state after the last step has no segment; its goal is the manager's.
        return Steps(
            observations,
            goals,
            jnp.pad(random, ((0, 1), (0, 0))),
            jnp.pad(directions, ((0, 1), (0, 0), (0, 0))),
        )

    def _plan(self, network: FunNetwork, steps: Steps, episodes: Episode) -> tuple[Plan, Metrics]:
        config, mask = self.config, self._mask(episodes)
        outputs = network(steps, self.interval)
        rewards = episodes.rewards.T
        intrinsic = losses.intrinsic_rewards(outputs.latents, outputs.goals, self.interval)
        advantages = partial(
            losses.advantages_and_targets,
            lengths=episodes.length,
            terminated=episodes.terminated,
            trace=config.trace,
        )
        manager = advantages(
            self._share(config.manager_discount) * rewards,
            outputs.manager_values,
            discount=config.manager_discount,
        )
        worker = advantages(
            self._share(config.worker_discount) * (rewards + config.intrinsic_weight * intrinsic),
            outputs.worker_values,
            discount=config.worker_discount,
        )
        plan = Plan(
            _scaled(manager[0], mask),
            manager[1],
            _scaled(worker[0], mask),
            worker[1],
            _log_probabilities(network, outputs, episodes),
        )
        return plan, {
            "low/intrinsic_reward": losses.masked_mean(intrinsic, mask),
            "low/value": losses.masked_mean(outputs.worker_values[:-1], mask),
            "high/value": losses.masked_mean(outputs.manager_values[:-1], mask),
        }

    def _share(self, discount: float) -> float:
        """Factor that makes 1 of the largest return that rewards of 1 give in an episode."""
        return 1.0 / sum(discount**step for step in range(self.shape.horizon))

    def _loss(
        self, network: FunNetwork, steps: Steps, episodes: Episode, plan: Plan
    ) -> tuple[Array, Metrics]:
        """Transition policy gradient, clipped policy gradient, both critics, entropy."""
        config, mask = self.config, self._mask(episodes)
        outputs = network(steps, self.interval)
        manager_loss, manager_metrics = losses.transition_policy_loss(
            outputs.goals[:-1],
            losses.movements(outputs.latents, episodes.length, self.interval),
            plan.manager_advantages,
            mask & ~steps.random[:-1],
        )
        worker_loss, worker_metrics = losses.clipped_policy_loss(
            _log_probabilities(network, outputs, episodes),
            plan.log_probabilities,
            plan.worker_advantages,
            mask,
            config.clip,
        )
        manager_critic = losses.critic_loss(outputs.manager_values[:-1], plan.manager_targets, mask)
        worker_critic = losses.critic_loss(outputs.worker_values[:-1], plan.worker_targets, mask)
        # Of the Gaussian before the tanh, up to a constant: only the scale counts.
        entropy = network.bounded_log_std().sum()
        loss = (
            manager_loss
            + worker_loss
            + config.value_weight * (manager_critic + worker_critic)
            - config.entropy_weight * entropy
        )
        metrics = {
            "high/critic_loss": manager_critic,
            "low/critic_loss": worker_critic,
            "low/deviation": jnp.exp(network.bounded_log_std()).mean(),
        }
        return loss, metrics | manager_metrics | worker_metrics

    def _mask(self, episodes: Episode) -> Array:
        """Steps that were taken. [T, B]."""
        mask: Array = jnp.arange(self.shape.horizon)[:, None] < episodes.length
        return mask


def _time_first(values: Array) -> Array:
    return jnp.swapaxes(values, 0, 1)


def _scaled(advantages: Array, mask: Array) -> Array:
    """Advantages with a standard deviation of 1: one learning rate suits every task. [T, B]."""
    square = losses.masked_mean(advantages**2, mask)
    return advantages / (jnp.sqrt(square) + _FLAT)


def _log_probabilities(network: FunNetwork, outputs: Outputs, episodes: Episode) -> Array:
    """log π of the actions that were taken. -> [T, B]."""
    inside = jnp.clip(_time_first(episodes.actions), -1.0 + _EDGE, 1.0 - _EDGE)
    return squashed_log_probability(
        outputs.means[:-1], network.bounded_log_std(), jnp.arctanh(inside)
    )
