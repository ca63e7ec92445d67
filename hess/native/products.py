"""Layers of networks: by our own products on the CPU where they suit, by XLA's otherwise."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from hess.native.library import call, is_loaded

_LEAST_ROWS, _LEAST_COLUMNS = 8, 2  # below, XLA is faster


def dense(inputs: Array, weight: Array, bias: Array, rectify: bool) -> Array:
    """inputs · weight + bias, with a ReLU if asked for. [..., in] -> [..., out]."""
    if _suits(inputs, weight):
        return _dense(rectify, inputs, weight, bias)
    outputs = inputs @ weight + bias
    return jax.nn.relu(outputs) if rectify else outputs


def _suits(inputs: Array, weight: Array) -> bool:
    large = inputs.ndim == 2 and inputs.shape[0] >= _LEAST_ROWS
    wide = weight.shape[1] >= _LEAST_COLUMNS
    return large and wide and inputs.dtype == weight.dtype == jnp.float32 and is_loaded()


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _dense(rectify: bool, inputs: Array, weight: Array, bias: Array) -> Array:
    shape = (inputs.shape[0], weight.shape[1])
    return call("hess_outputs", shape)(inputs, weight, bias[None], rectify=rectify)


def _forward(rectify: bool, inputs: Array, weight: Array, bias: Array) -> tuple[Array, Any]:
    outputs = _dense(rectify, inputs, weight, bias)
    return outputs, (inputs, weight, outputs if rectify else None)


def _backward(rectify: bool, kept: Any, gradients: Array) -> tuple[Array, Array, Array]:
    inputs, weight, outputs = kept
    if rectify:
        gradients = jnp.where(outputs > 0, gradients, 0.0)
    of_inputs = call("hess_input_gradients", inputs.shape)(gradients, weight)
    of_weight = call("hess_weight_gradients", weight.shape)(inputs, gradients)
    return of_inputs, of_weight, gradients.sum(0)


_dense.defvjp(_forward, _backward)
