"""Gradients against central differences, in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

_STEP = 1e-6


def assert_gradient(loss: Callable[[Any], Any], parameters: Any) -> None:
    """The gradient of a scalar loss agrees with differences and is not just zero.

    To be called with 64-bit numbers switched on, on parameters that were made with them.
    """
    flat, restore = ravel_pytree(parameters)
    assert flat.dtype == jnp.float64, "differences need double precision"

    @jax.jit
    def both(flat: jax.Array) -> tuple[jax.Array, jax.Array]:
        def value(flat: jax.Array) -> Any:
            return loss(restore(flat))

        steps = _STEP * jnp.eye(flat.size)
        differences = jax.vmap(value)(flat + steps) - jax.vmap(value)(flat - steps)
        return jax.grad(value)(flat), differences / (2 * _STEP)

    gradient, differences = map(np.asarray, both(flat))
    assert np.abs(gradient).max() > 1e-3, "a gradient of zero proves nothing"
    np.testing.assert_allclose(gradient, differences, rtol=1e-5, atol=1e-7)
