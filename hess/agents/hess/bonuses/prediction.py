"""H-ICM: the high level is rewarded where a model of φ's dynamics errs (paper §5.2)."""

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


class PredictionState(eqx.Module):
    """The model of φ's dynamics and its optimiser."""

    model: MLP
    optimiser: optax.OptState


def prediction_errors(model: MLP, segments: Segments) -> Array:
    """½ ‖f(φ(s_t), g - φ(s_t)) - (φ(s_{t+c}) - φ(s_t))‖². -> [B]."""
    predicted = model(jnp.concatenate([segments.embeddings, segments.actions], -1))
    moved = segments.next_embeddings - segments.embeddings
    return 0.5 * ((predicted - moved) ** 2).sum(-1)


class Prediction(Bonus):
    """Curiosity: the error on a transition is its reward, and falls as the model learns it."""

    def __init__(self, config: Config, shape: EpisodeShape):
        super().__init__(config, shape)
        self.dim = shape.subgoal_dim
        self.optimiser = Adam(self.config.learning_rate)

    def init(self, key: PRNGKeyArray) -> PredictionState:
        model = MLP([2 * self.dim, *self.config.hidden, self.dim], key)
        return PredictionState(model, self.optimiser.init(model))

    def update(self, state: PredictionState, segments: Segments) -> PredictionState:
        gradient = jax.grad(lambda model: prediction_errors(model, segments).mean())(state.model)
        return PredictionState(*self.optimiser.step(state.model, gradient, state.optimiser))

    def rewards(self, state: PredictionState, segments: Segments) -> Array:
        return self.config.weight * prediction_errors(state.model, segments)
