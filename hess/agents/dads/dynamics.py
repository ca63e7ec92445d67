"""Skill dynamics q(s'|s,z): what a skill does to the state, and the reward made from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, PRNGKeyArray

from hess.config import DadsConfig
from hess.learning.networks import MLP
from hess.learning.sac import Metrics
from hess.native.adam import Adam

# A skill that explains a transition better than the skill that made it counts at most e times as
# much: transitions of long ago would otherwise have rewards of minus a hundred.
_LARGEST_LOG_RATIO = 1.0
_SMALLEST_SCALE = 1e-6  # below it a number is constant and says nothing


class Moves(NamedTuple):
    """Transitions of states under skills, in the space of the dynamics."""

    states: Array  # [B, state]
    skills: Array  # [B, d]
    changes: Array  # [B, state] s' - s


class Scale(eqx.Module):
    """Mean and standard deviation per dimension; takes numbers to about unit size."""

    mean: Array
    deviation: Array  # the standard one; checkpoints have this name

    def __call__(self, values: Array) -> Array:
        """Whitened values. [..., n] -> [..., n]."""
        return (values - self.mean) / self.deviation


def fit_scale(values: Array) -> Scale:
    """The scale of a sample; dimensions that never vary keep their unit. [n, k] -> [k]."""
    std = values.std(0)
    return Scale(values.mean(0), jnp.where(std < _SMALLEST_SCALE, 1.0, std))


class SkillDynamics(eqx.Module):
    """A mixture of experts over the whitened change of state, each a Gaussian of unit variance."""

    network: MLP  # [state + skill] -> [experts * (state + 1)]
    states: Scale
    changes: Scale


def mixture(dynamics: SkillDynamics, states: Array, skills: Array) -> tuple[Array, Array]:
    """Means [..., experts, state] in whitened units and log weights [..., experts]."""
    outputs = dynamics.network(jnp.concatenate([dynamics.states(states), skills], -1))
    experts = outputs.reshape(*outputs.shape[:-1], -1, states.shape[-1] + 1)
    return experts[..., :-1], jax.nn.log_softmax(experts[..., -1])


def log_likelihood(dynamics: SkillDynamics, moves: Moves) -> Array:
    """log q(s'|s,z) in whitened units. [..., state], [..., d], [..., state] -> [...]."""
    means, log_weights = mixture(dynamics, moves.states, moves.skills)
    distances = ((dynamics.changes(moves.changes)[..., None, :] - means) ** 2).sum(-1)
    normaliser = 0.5 * moves.states.shape[-1] * jnp.log(2 * jnp.pi)
    return jax.nn.logsumexp(log_weights - 0.5 * distances, -1) - normaliser


def skill_reward(dynamics: SkillDynamics, moves: Moves, others: Array) -> Array:
    """log q(s'|s,z) - log of the mean of q(s'|s,z_i) over z and L other skills.

    others: [L, B, d] -> [B]; at most log(L + 1), and 0 where skills make no difference.
    """
    count = others.shape[0]
    states, changes = (
        jnp.broadcast_to(each, (count, *each.shape)) for each in (moves.states, moves.changes)
    )
    own = log_likelihood(dynamics, moves)
    theirs = log_likelihood(dynamics, Moves(states, others, changes))
    ratios = jnp.exp(jnp.minimum(theirs - own, _LARGEST_LOG_RATIO))
    return jnp.log(count + 1.0) - jnp.log1p(ratios.sum(0))


def dynamics_loss(network: MLP, dynamics: SkillDynamics, moves: Moves) -> tuple[Array, Metrics]:
    """Mean of -log q(s'|s,z)."""
    likelihood = log_likelihood(SkillDynamics(network, dynamics.states, dynamics.changes), moves)
    return -likelihood.mean(), {"log_likelihood": likelihood.mean()}


class DynamicsState(eqx.Module):
    """Everything that changes when the dynamics are learned."""

    model: SkillDynamics
    optimiser: optax.OptState


class DynamicsLearner:
    """Maximum likelihood on the newest episodes: q has to follow the skills as they change."""

    def __init__(self, config: DadsConfig, state_dim: int, skill_dim: int):
        self.config, self.state_dim, self.skill_dim = config, state_dim, skill_dim
        self._optimiser = Adam(config.learning_rate)

    def init(self, key: PRNGKeyArray) -> DynamicsState:
        """A fresh network; scales of 1 until there are transitions to measure."""
        config, size = self.config, self.state_dim
        outputs = config.experts * (size + 1)
        network = MLP([size + self.skill_dim, *config.hidden, outputs], key)
        # Two sets of arrays: a donated buffer must not appear twice.
        states, changes = (Scale(jnp.zeros(size), jnp.ones(size)) for _ in range(2))
        return DynamicsState(SkillDynamics(network, states, changes), self._optimiser.init(network))

    def rescale(self, state: DynamicsState, moves: Moves) -> DynamicsState:
        scales = fit_scale(moves.states), fit_scale(moves.changes)
        return DynamicsState(SkillDynamics(state.model.network, *scales), state.optimiser)

    def learn(
        self,
        state: DynamicsState,
        sample: Callable[[PRNGKeyArray], Moves],
        key: PRNGKeyArray,
        updates: Array,
    ) -> tuple[DynamicsState, Metrics]:
        """Many updates in one compiled loop; the metric is the mean over it."""

        def body(index: Array, carry: tuple[DynamicsState, Array]) -> tuple[DynamicsState, Array]:
            state, total = carry
            moves = sample(jax.random.fold_in(key, index))
            (_, metrics), gradient = jax.value_and_grad(dynamics_loss, has_aux=True)(
                state.model.network, state.model, moves
            )
            network, optimiser = self._optimiser.step(
                state.model.network, gradient, state.optimiser
            )
            model = SkillDynamics(network, state.model.states, state.model.changes)
            return DynamicsState(model, optimiser), total + metrics["log_likelihood"]

        state, total = jax.lax.fori_loop(0, updates, body, (state, jnp.zeros(())))
        return state, {"log_likelihood": total / jnp.maximum(updates, 1)}
