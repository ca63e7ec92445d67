"""Long short-term memory over whole episodes, plain and dilated, and sums over the last steps."""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray


class Memory(NamedTuple):
    """What an LSTM carries from step to step."""

    hidden: Array  # [..., units]
    cell: Array  # [..., units]


class LSTM(eqx.Module):
    """One layer; the gates lie side by side in the order input, forget, output, candidate."""

    inputs: Array  # [in, 4 units]
    recurrent: Array  # [units, 4 units]
    bias: Array  # [4 units]

    def __init__(self, input_dim: int, units: int, key: PRNGKeyArray):
        input_key, recurrent_key = jax.random.split(key)
        bound = 1.0 / np.sqrt(units)
        self.inputs = jax.random.uniform(
            input_key, (input_dim, 4 * units), minval=-bound, maxval=bound
        )
        self.recurrent = jax.random.uniform(
            recurrent_key, (units, 4 * units), minval=-bound, maxval=bound
        )
        # An open forget gate: gradients reach back from the first update on.
        self.bias = jnp.zeros(4 * units).at[units : 2 * units].set(1.0)

    @property
    def units(self) -> int:
        return int(self.recurrent.shape[0])

    def step(self, memory: Memory, projected: Array) -> Memory:
        """One step, given inputs @ weights + bias. [..., 4 units]."""
        gates = projected + memory.hidden @ self.recurrent
        opened, candidate = jnp.split(gates, [3 * self.units], -1)
        write, keep, read = jnp.split(jax.nn.sigmoid(opened), 3, -1)
        cell = keep * memory.cell + write * jnp.tanh(candidate)
        return Memory(read * jnp.tanh(cell), cell)

    def unroll(self, inputs: Array) -> Array:
        """Outputs at every step, from an empty memory. [T, ..., in] -> [T, ..., units]."""
        empty = jnp.zeros((*inputs.shape[1:-1], self.units), inputs.dtype)

        def step(memory: Memory, projected: Array) -> tuple[Memory, Array]:
            memory = self.step(memory, projected)
            return memory, memory.hidden

        _, outputs = jax.lax.scan(step, Memory(empty, empty), inputs @ self.inputs + self.bias)
        return outputs

    def unroll_dilated(self, inputs: Array, dilation: int) -> Array:
        """The same with r memories, of which step t uses and changes number t mod r alone.

        The r memories never meet, so they are r independent sequences of every r-th step, which
        run side by side. [T, ..., in] -> [T, ..., units].
        """
        steps = inputs.shape[0]
        sides = [(0, 0)] * (inputs.ndim - 1)
        padded = jnp.pad(inputs, ((0, -steps % dilation), *sides))
        outputs = self.unroll(padded.reshape(-1, dilation, *inputs.shape[1:]))
        return outputs.reshape(-1, *outputs.shape[2:])[:steps]


def sum_of_last(values: Array, count: int) -> Array:
    """Σ of the last `count` values at every step, fewer at the start. [T, B, n] -> [T, B, n]."""
    return jax.lax.reduce_window(
        values,
        0.0,
        jax.lax.add,
        window_dimensions=(count, 1, 1),
        window_strides=(1, 1, 1),
        padding=((count - 1, 0), (0, 0), (0, 0)),
    )
