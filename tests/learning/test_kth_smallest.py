"""Places in the order of losses, against NumPy's sort."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.learning.kth_smallest import kth_smallest, median

NUMBERS = np.random.default_rng(0)
MANY = NUMBERS.exponential(size=(40, 25)).astype(np.float32)
EXTREME = np.array([0.0, 1e-42, 3e38, np.inf, 1.0, 0.0, 1.0], np.float32)  # one is subnormal


@pytest.mark.parametrize("values", [MANY, np.round(MANY, 1), EXTREME], ids=["many", "ties", "edge"])
def test_every_place_is_that_of_a_sort(values: np.ndarray) -> None:
    places = jnp.arange(values.size)
    found = jax.jit(jax.vmap(lambda place: kth_smallest(jnp.asarray(values), place)))(places)
    np.testing.assert_array_equal(np.asarray(found), np.sort(values.ravel()))


@pytest.mark.parametrize("count", [1, 2, 7, 500, 999])
def test_the_median_is_of_the_valid_values(count: int) -> None:
    valid = (NUMBERS.permutation(MANY.size) < count).reshape(MANY.shape)
    found = jax.jit(median)(jnp.asarray(MANY), jnp.asarray(valid))
    assert float(found) == pytest.approx(float(np.median(MANY[valid])), rel=1e-6)
