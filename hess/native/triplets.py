"""φ's loss and gradient on one minibatch in one pass, by our own code on the CPU.

It computes `Objective.loss` of `hess.agents.hess.objective`, for the settings that `suits` names,
and is compared with it as a run starts.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from hess.native.library import call, is_loaded

_SQUARED = {"l2": False, "squared_mean": True}  # the distances that it knows
_MOST_DIMENSIONS = 8


def suits(distance: str, network: Any) -> bool:
    """Whether our code is there, and knows the distance and networks like this one."""
    weights = network.weights
    small = len(weights) == 2 and weights[1].shape[1] <= _MOST_DIMENSIONS
    return distance in _SQUARED and small and weights[0].dtype == jnp.float32 and is_loaded()


def gradient(
    network: Any,
    stored: tuple[Array, ...],
    places: tuple[Array, ...],
    *,
    distance: str,
    margin: float,
    epsilon: float,
    interval: int,
) -> tuple[Any, dict[str, Array]]:
    """The gradient of the sum of both losses, and the losses.

    `stored`: observations [slots, T+1, obs], old embeddings [slots, T+1, d] and weights of the
    stability term [slots, T+1-c]. `places`: slots and steps of triplets, then of held states; each
    [B].
    """
    (first, second), (first_bias, second_bias) = network.weights, network.biases
    layers = first, first_bias, second, second_bias
    *gradients, losses = call("hess_triplets", *[layer.shape for layer in layers], (2,))(
        *layers,
        *stored,
        *(place.astype(jnp.int32) for place in places),
        squares=_SQUARED[distance],
        margin=np.float32(margin),
        epsilon=np.float32(epsilon),
        interval=np.int64(interval),
    )
    made = eqx.tree_at(
        lambda each: (each.weights[0], each.biases[0], each.weights[1], each.biases[1]),
        network,
        gradients,
    )
    return made, {"triplet_loss": losses[0], "stability_loss": losses[1]}
