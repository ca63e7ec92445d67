"""The networks of FeUdal Networks, and all they give along whole episodes (their paper, §3).

    z = perception(x)                      shared by both levels
    s = space(z)                           latent state in which goals are directions
    g = normalised output of a dilated LSTM on s
    w = embedding of the sum of the last c goals, linear and without bias
    U = output of an LSTM on z;  the mean of the policy is U w

The goal that the task gives joins behind the perception, so that s stands for states alone.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from hess.agents.fun.recurrent import LSTM, sum_of_last
from hess.config import FunConfig
from hess.learning.networks import LOG_STD_MAX, LOG_STD_MIN, MLP
from hess.replay.episode import EpisodeShape

_TINY = 1e-12  # keeps the gradient of a norm finite at zero


class Steps(NamedTuple):
    """Whole episodes as the networks see them; time first."""

    observations: Array  # [T+1, B, obs], scaled
    goals: Array  # [T+1, B, goal], scaled; the task's
    random: Array  # [T+1, B] the manager's goal was replaced by
    directions: Array  # [T+1, B, d] this one


class Outputs(NamedTuple):
    """What both levels make of them."""

    latents: Array  # [T+1, B, d] s
    goals: Array  # [T+1, B, d] g
    means: Array  # [T+1, B, action] of the policy, before the tanh
    manager_values: Array  # [T+1, B]
    worker_values: Array  # [T+1, B]


class FunNetwork(eqx.Module):
    """All that gradients change."""

    perception: MLP
    space: MLP
    manager: LSTM
    goal_embedding: Array  # [d, k]
    worker: LSTM
    policy: MLP  # to U, [action · k]
    log_std: Array  # [action]
    manager_value: MLP
    worker_value: MLP

    def __init__(self, config: FunConfig, shape: EpisodeShape, key: PRNGKeyArray):
        keys = jax.random.split(key, 8)
        seen, dim, size = config.perception[-1], shape.subgoal_dim, config.goal_embedding
        units = config.worker_units
        self.perception = MLP([shape.observation_dim, *config.perception], keys[0])
        self.space = MLP([seen, dim], keys[1])
        self.manager = LSTM(dim + shape.goal_dim, dim, keys[2])
        bound = 1.0 / np.sqrt(dim)
        self.goal_embedding = jax.random.uniform(keys[3], (dim, size), minval=-bound, maxval=bound)
        self.worker = LSTM(seen + shape.goal_dim, units, keys[4])
        self.policy = MLP([units, shape.action_dim * size], keys[5])
        self.log_std = jnp.full(shape.action_dim, np.log(config.initial_deviation), jnp.float32)
        self.manager_value = MLP([dim, 1], keys[6])
        self.worker_value = MLP([units + size, 1], keys[7])

    def __call__(self, steps: Steps, interval: int) -> Outputs:
        """Both levels along whole episodes; the worker's gradient does not reach the manager."""
        perceived = jax.nn.relu(self.perception(steps.observations))
        latents = jax.nn.relu(self.space(perceived))
        remembered = self.manager.unroll_dilated(
            jnp.concatenate([latents, steps.goals], -1), interval
        )
        own = unit(sum_of_last(remembered, interval))
        goals = jnp.where(steps.random[..., None], steps.directions, own)
        pooled = sum_of_last(jax.lax.stop_gradient(goals), interval)
        embedded = pooled @ self.goal_embedding
        hidden = self.worker.unroll(jnp.concatenate([perceived, steps.goals], -1))
        modulated = self.policy(hidden).reshape(*hidden.shape[:-1], -1, embedded.shape[-1])
        return Outputs(
            latents=latents,
            goals=goals,
            means=(modulated @ embedded[..., None])[..., 0],
            manager_values=self.manager_value(remembered)[..., 0],
            worker_values=self.worker_value(jnp.concatenate([hidden, embedded], -1))[..., 0],
        )

    def bounded_log_std(self) -> Array:
        """Log standard deviation of the policy, within the bounds of every policy here."""
        return jnp.clip(self.log_std, LOG_STD_MIN, LOG_STD_MAX)


def unit(vectors: Array) -> Array:
    """Vectors of length 1. [..., d] -> [..., d]."""
    return vectors * jax.lax.rsqrt((vectors**2).sum(-1, keepdims=True) + _TINY)


def cosine(first: Array, second: Array) -> Array:
    """d_cos, the cosine of the angle between vectors; 0 where one has no length. -> [...]."""
    return (unit(first) * unit(second)).sum(-1)
