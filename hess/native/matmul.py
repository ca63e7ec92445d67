"""Layers of networks: by our own matmuls on the CPU where they suit, by XLA's otherwise."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from hess.native.library import call, is_loaded

_LEAST_ROWS, _LEAST_COLUMNS = 8, 2  # below, XLA is faster


def dense(inputs: Array, weight: Array, bias: Array, rectify: bool) -> Array:
    """inputs · weight + bias, with a ReLU if asked for. [..., in] -> [..., out]."""
    return layers([inputs], [weight], [bias], rectify)


def layers(
    inputs: Sequence[Array], weights: Sequence[Array], biases: Sequence[Array], rectify: bool
) -> Array:
    """Layers with a ReLU after each but the last, and after that if asked for.

    The first one reads all inputs side by side; each has a gradient of its own.
    """
    if is_native(inputs[0]):
        return _layers(rectify, list(inputs), list(weights), list(biases))
    hidden = concatenate(inputs)
    for number, (weight, bias) in enumerate(zip(weights, biases, strict=True), start=1):
        hidden = hidden @ weight + bias
        if rectify or number < len(weights):
            hidden = jax.nn.relu(hidden)
    return hidden


def concatenate(inputs: Sequence[Array]) -> Array:
    """One array of several, along the last axis."""
    return inputs[0] if len(inputs) == 1 else jnp.concatenate(inputs, -1)


def is_native(inputs: Array) -> bool:
    """Whether such inputs are multiplied by our own code."""
    large = inputs.ndim == 2 and inputs.shape[0] >= _LEAST_ROWS
    return large and inputs.dtype == jnp.float32 and is_loaded()


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _layers(rectify: bool, inputs: list[Array], weights: list[Array], biases: list[Array]) -> Array:
    return _forward(rectify, inputs, weights, biases)[0]


def _forward(
    rectify: bool, inputs: list[Array], weights: list[Array], biases: list[Array]
) -> tuple[Array, Any]:
    hidden = [concatenate(inputs)]
    for number, (weight, bias) in enumerate(zip(weights, biases, strict=True), start=1):
        hidden.append(_outputs(hidden[-1], weight, bias, rectify or number < len(weights)))
    return hidden[-1], (inputs, hidden, weights)


def _backward(
    rectify: bool, kept: Any, gradient: Array
) -> tuple[list[Array], list[Array], list[Array]]:
    """Each layer's gradient goes through the ReLU before it while it is still in registers."""
    inputs, hidden, weights = kept
    if rectify and weights:
        gradient = jnp.where(hidden[-1] > 0, gradient, 0.0)
    of_weights: list[Array] = []
    of_biases: list[Array] = []
    for number in reversed(range(len(weights))):
        of_weight, of_bias = _weight_gradients(hidden[number], gradient)
        of_weights.insert(0, of_weight)
        of_biases.insert(0, of_bias)
        if number > 0:
            gradient = _input_gradients(gradient, weights[number], hidden[number], rectified=True)
    return _each_input(gradient, weights, inputs), of_weights, of_biases


def _each_input(gradient: Array, weights: list[Array], inputs: list[Array]) -> list[Array]:
    """One by one: XLA leaves out those that nobody reads."""
    ends = itertools.accumulate(each.shape[1] for each in inputs)
    places = [slice(end - each.shape[1], end) for end, each in zip(ends, inputs, strict=True)]
    if not weights:
        return [gradient[:, place] for place in places]
    return [
        _input_gradients(gradient, weights[0][place], each, rectified=False)
        for place, each in zip(places, inputs, strict=True)
    ]


_layers.defvjp(_forward, _backward)


def _outputs(inputs: Array, weight: Array, bias: Array, rectify: bool) -> Array:
    if weight.shape[1] >= _LEAST_COLUMNS:
        multiply = call("hess_outputs", (inputs.shape[0], weight.shape[1]), one_for_all=True)
        result: Array = multiply(inputs, weight, bias[None], rectify=rectify)
        return result
    outputs = inputs @ weight + bias
    return jax.nn.relu(outputs) if rectify else outputs


def _input_gradients(gradient: Array, weight: Array, inputs: Array, rectified: bool) -> Array:
    if weight.shape[1] >= _LEAST_COLUMNS:
        multiply = call("hess_input_gradients", inputs.shape, one_for_all=True)
        result: Array = multiply(gradient, weight, inputs, rectified=rectified)
        return result
    of_inputs = gradient @ weight.T
    return jnp.where(inputs > 0, of_inputs, 0.0) if rectified else of_inputs


def _weight_gradients(inputs: Array, gradient: Array) -> tuple[Array, Array]:
    columns = gradient.shape[1]
    if columns >= _LEAST_COLUMNS:
        shapes = (inputs.shape[1], columns), (1, columns)
        of_weight, of_bias = call("hess_weight_gradients", *shapes, one_for_all=True)(
            inputs, gradient
        )
        return of_weight, of_bias[0]
    return inputs.T @ gradient, gradient.sum(0)
