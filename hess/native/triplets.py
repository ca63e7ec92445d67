"""Loss and gradient of φ on one minibatch in one go, by our own code on the CPU."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from hess.native.library import call, is_loaded

_MOST_DIMENSIONS = 8


class Layers(NamedTuple):
    """A network with one hidden layer, or its gradient."""

    first: Array  # [obs, hidden]
    first_bias: Array  # [hidden]
    second: Array  # [hidden, d]
    second_bias: Array  # [d]


class Stored(NamedTuple):
    """What the minibatch is fetched from."""

    observations: Array  # [slots, T+1, obs]
    old_embeddings: Array  # [slots, T+1, d]
    stability_weights: Array  # [slots, T+1-c]


class Places(NamedTuple):
    """Where its triplets and held states lie. Each [B]."""

    slots: Array
    steps: Array
    held_slots: Array
    held_steps: Array


class Objective(NamedTuple):
    """What φ is learned for; see `hess.agents.hess.representation`."""

    squares: bool
    margin: float
    epsilon: float
    interval: int


def suits(weights: list[Array]) -> bool:
    """Whether our code knows such a network, and is there."""
    small = len(weights) == 2 and weights[1].shape[1] <= _MOST_DIMENSIONS
    return small and weights[0].dtype == jnp.float32 and is_loaded()


def gradient(
    layers: Layers, stored: Stored, places: Places, objective: Objective
) -> tuple[Layers, Array, Array]:
    """-> the gradient of the sum of both losses, the triplet loss, the stability loss."""
    shapes = [layer.shape for layer in layers]
    *gradients, losses = call("hess_triplets", *shapes, (2,))(
        *layers,
        *stored,
        *(place.astype(jnp.int32) for place in places),
        squares=objective.squares,
        margin=np.float32(objective.margin),
        epsilon=np.float32(objective.epsilon),
        interval=np.int64(objective.interval),
    )
    return Layers(*gradients), losses[0], losses[1]
