"""H-SR: counts estimated by the norm of a successor representation (paper §5.2, Appendix D)."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, PRNGKeyArray

from hess.agents.hess.bonuses.bonus import Bonus, Segments
from hess.config import Config
from hess.learning.networks import MLP
from hess.native.adam import Adam
from hess.replay.episode import EpisodeShape

_EPSILON = 1e-6  # a state at which all of φ's hidden units are silent has no features


class SuccessorState(eqx.Module):
    """ψ, its slowly following target, and its optimiser."""

    successor: MLP
    target: MLP
    optimiser: optax.OptState


def occupancy(features: Array) -> Array:
    """Features as shares, so that one visit adds 1 to the norm of ψ. [B, k] -> [B, k]."""
    magnitudes = jnp.abs(features)
    return magnitudes / jnp.maximum(magnitudes.sum(-1, keepdims=True), _EPSILON)


def successor_targets(target: MLP, segments: Segments, discount: float) -> Array:
    """f(s_t) + γ (1 - terminated) ψ'(φ(s_{t+c})). -> [B, k]."""
    later = target(segments.next_embeddings) * (1.0 - segments.terminated)[:, None]
    return occupancy(segments.features) + discount * later


def count_bonus(successor: Array) -> Array:
    """1/‖ψ‖₁, at most 1: a state that is visited at all occurs once in its own future. -> [B]."""
    return 1.0 / jnp.maximum(jnp.abs(successor).sum(-1), 1.0)


class Successor(Bonus):
    """ψ starts at 0 and grows where states are visited: its norm stands in for counts."""

    def __init__(self, config: Config, shape: EpisodeShape):
        super().__init__(config, shape)
        self.dim = shape.subgoal_dim
        # The features are what φ's last layer reads.
        inputs = (shape.observation_dim, *config.representation.hidden)
        self.features = inputs[-1]
        self.optimiser = Adam(self.config.learning_rate)

    def init(self, key: PRNGKeyArray) -> SuccessorState:
        """ψ = 0 everywhere."""
        random = MLP([self.dim, *self.config.hidden, self.features], key)
        successor = eqx.tree_at(
            lambda network: (network.weights[-1], network.biases[-1]),
            random,
            replace_fn=jnp.zeros_like,
        )
        target = jax.tree.map(jnp.copy, successor)
        return SuccessorState(successor, target, self.optimiser.init(successor))

    def update(self, state: SuccessorState, segments: Segments) -> SuccessorState:
        targets = successor_targets(state.target, segments, self.config.discount)

        def loss(successor: MLP) -> Array:
            return ((successor(segments.embeddings) - targets) ** 2).sum(-1).mean()

        gradient = jax.grad(loss)(state.successor)
        successor, optimiser, target = self.optimiser.polyak_step(
            state.successor, gradient, state.optimiser, state.target, self.config.target_rate
        )
        return SuccessorState(successor, target, optimiser)

    def rewards(self, state: SuccessorState, segments: Segments) -> Array:
        """The bonus of where each segment led. -> [B]."""
        return self.config.weight * count_bonus(state.successor(segments.next_embeddings))
