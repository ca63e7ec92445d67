"""Our own layer normalisation against NumPy's arithmetic in double precision."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.typing import NDArray

from hess.native import library
from hess.native.normalisation import normalise_rectified

pytestmark = pytest.mark.skipif(
    not library.is_loaded(), reason=f"no normalisation of our own here; {library.ADVICE}"
)

Doubles = NDArray[np.float64]

# Columns at, below and beyond whole vectors; rows within and beyond a piece of the work.
SHAPES = [(1, 16), (3, 17), (40, 31), (17, 256), (256, 100)]


def drawn(*shape: int) -> NDArray[np.float32]:
    draw = np.random.default_rng(sum(shape)).standard_normal(shape)
    return (3.0 * draw + 1.0).astype(np.float32)


def normal(hidden: Doubles) -> tuple[Doubles, Doubles]:
    """Rows of mean 0 and variance 1, and what they were multiplied by."""
    centred = hidden - hidden.mean(-1, keepdims=True)
    scale = 1.0 / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return centred * scale, scale


@pytest.mark.parametrize("shape", SHAPES)
def test_outputs(shape: tuple[int, int]) -> None:
    hidden = drawn(*shape)
    expected = np.maximum(normal(hidden.astype(np.float64))[0], 0.0)
    np.testing.assert_allclose(normalise_rectified(jnp.asarray(hidden)), expected, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_gradients(shape: tuple[int, int]) -> None:
    hidden, way = drawn(*shape), drawn(*shape[::-1]).T

    def loss(hidden: Any) -> Any:
        return (normalise_rectified(hidden) * way).sum()

    x, scale = normal(hidden.astype(np.float64))
    flow = np.where(x > 0, way, 0.0)
    mean, slope = flow.mean(-1, keepdims=True), (flow * x).mean(-1, keepdims=True)
    np.testing.assert_allclose(
        jax.grad(loss)(jnp.asarray(hidden)), scale * (flow - mean - x * slope), atol=1e-4
    )


def test_the_gradient_is_that_of_what_xla_computes() -> None:
    """Three axes are left to XLA, whose gradient comes from automatic differentiation."""
    hidden, way = jnp.asarray(drawn(20, 64)), drawn(64, 20).T

    def own(hidden: Any) -> Any:
        return (normalise_rectified(hidden) * way).sum()

    def by_xla(hidden: Any) -> Any:
        return (normalise_rectified(hidden[None]) * way).sum()

    assert "hess_normalise" in jax.jit(own).lower(hidden).as_text()
    assert "hess_normalise" not in jax.jit(by_xla).lower(hidden).as_text()
    np.testing.assert_allclose(jax.grad(own)(hidden), jax.grad(by_xla)(hidden), atol=1e-5)


def test_networks_side_by_side() -> None:
    hidden = jnp.asarray(drawn(2, 20, 64))

    def loss(hidden: Any) -> Any:
        return (normalise_rectified(hidden) ** 2).sum()

    together = jax.jit(jax.vmap(jax.grad(loss)))(hidden)
    for each in range(2):
        np.testing.assert_array_equal(together[each], jax.grad(loss)(hidden[each]))


def test_not_a_number_stays_one() -> None:
    hidden = drawn(5, 32)
    hidden[2, 7] = np.nan
    outputs = np.asarray(normalise_rectified(jnp.asarray(hidden)))
    assert np.isnan(outputs[2]).all()
    assert np.isfinite(np.delete(outputs, 2, 0)).all()
