"""Our own matrix products against NumPy's in double precision."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.typing import NDArray

from hess.learning.networks import MLP
from hess.native import library
from hess.native.matmul import dense, layers

pytestmark = pytest.mark.skipif(
    not library.is_loaded(),
    reason=f"no products of our own here; {library.ADVICE}",
)

Floats = NDArray[np.float32]

# Rows and columns below, at and beyond a tile; depths below, at and beyond a line of the cache.
SIZES = [
    (8, 1, 8),
    (40, 100, 2),
    (9, 16, 15),
    (13, 17, 16),
    (31, 33, 17),
    (128, 41, 256),
    (100, 256, 33),
]
NAMES = ["x".join(map(str, sizes)) for sizes in SIZES]


def drawn(*shape: int) -> Floats:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def operands(sizes: tuple[int, int, int]) -> tuple[Floats, Floats, Floats, Floats]:
    rows, inputs, outputs = sizes
    return drawn(rows, inputs), drawn(inputs, outputs), drawn(outputs), drawn(rows, outputs)


def compiled(function: Any) -> str:
    """The program that XLA is given for a function of inputs, weight and bias."""
    text: str = jax.jit(function).lower(*operands(SIZES[-1])[:3]).as_text()
    return text


def test_layers_are_multiplied_by_our_own_products() -> None:
    def loss(inputs: Any, weight: Any, bias: Any) -> Any:
        return dense(inputs, weight, bias, rectify=True).sum()

    program = compiled(jax.grad(loss, argnums=(0, 1)))
    assert [program.count(f"@{name}(") for name in library.TARGETS[:3]] == [1, 1, 1]
    assert "dot_general" not in program


def test_what_nobody_needs_is_not_multiplied() -> None:
    def loss(inputs: Any, weight: Any, bias: Any) -> Any:
        return dense(inputs, weight, bias, rectify=True).sum()

    gradient = jax.jit(jax.grad(loss, argnums=0)).lower(*operands(SIZES[-1])[:3])
    program = gradient.compile().as_text()
    assert program is not None
    assert [f'"{name}"' in program for name in library.TARGETS[:3]] == [True, True, False]


@pytest.mark.parametrize("rectify", [False, True])
@pytest.mark.parametrize("sizes", SIZES, ids=NAMES)
def test_outputs(sizes: tuple[int, int, int], rectify: bool) -> None:
    inputs, weight, bias, _ = operands(sizes)
    exact = inputs.astype(np.float64) @ weight + bias
    expected = np.maximum(exact, 0.0) if rectify else exact
    np.testing.assert_allclose(
        dense(jnp.asarray(inputs), jnp.asarray(weight), jnp.asarray(bias), rectify),
        expected,
        atol=1e-4,
    )


@pytest.mark.parametrize("rectify", [False, True])
@pytest.mark.parametrize("sizes", SIZES, ids=NAMES)
def test_gradients(sizes: tuple[int, int, int], rectify: bool) -> None:
    inputs, weight, bias, way = operands(sizes)

    def loss(inputs: Any, weight: Any, bias: Any) -> Any:
        return (dense(inputs, weight, bias, rectify) * way).sum()

    of_inputs, of_weight, of_bias = jax.grad(loss, argnums=(0, 1, 2))(inputs, weight, bias)
    exact = inputs.astype(np.float64) @ weight + bias
    flow = np.where(exact > 0, way, 0.0) if rectify else way.astype(np.float64)
    np.testing.assert_allclose(of_inputs, flow @ weight.T, atol=1e-4)
    np.testing.assert_allclose(of_weight, inputs.T.astype(np.float64) @ flow, atol=1e-4)
    np.testing.assert_allclose(of_bias, flow.sum(0), atol=1e-4)


def test_networks_side_by_side() -> None:
    inputs, weights, biases = drawn(3, 20, 9), drawn(3, 9, 24), drawn(3, 24)

    def loss(weight: Any, inputs: Any, bias: Any) -> Any:
        return dense(inputs, weight, bias, rectify=True).sum()

    together = jax.jit(jax.vmap(jax.grad(loss)))(weights, inputs, biases)
    for each in range(3):
        alone = jax.grad(loss)(weights[each], inputs[each], biases[each])
        np.testing.assert_array_equal(together[each], alone)


def test_two_networks_on_the_same_inputs() -> None:
    """The inputs are not copied; their gradient is the sum over both."""
    inputs, weights, biases = (
        jnp.asarray(drawn(*shape)) for shape in ((20, 9), (2, 9, 24), (2, 24))
    )

    def loss(inputs: Any) -> Any:
        return jax.vmap(lambda w, b: dense(inputs, w, b, rectify=True).sum())(weights, biases).sum()

    def alone(inputs: Any, each: int) -> Any:
        return dense(inputs, weights[each], biases[each], rectify=True).sum()

    assert "tensor<2x20x9xf32>" not in jax.jit(loss).lower(inputs).as_text()
    apart = sum(jax.grad(alone)(inputs, each) for each in range(2))
    np.testing.assert_allclose(jax.grad(loss)(inputs), apart, atol=1e-5)


@pytest.mark.parametrize("second", [1, 3, 8, 21])
def test_inputs_side_by_side_have_gradients_of_their_own(second: int) -> None:
    first, other = jnp.asarray(drawn(20, 9)), jnp.asarray(drawn(20, second))
    weights = [jnp.asarray(drawn(9 + second, 24)), jnp.asarray(drawn(24, 2))]
    biases = [jnp.asarray(drawn(24)), jnp.asarray(drawn(2))]

    def loss(first: Any, other: Any) -> Any:
        return layers([first, other], weights, biases, rectify=False).sum()

    def joined(inputs: Any) -> Any:
        return layers([inputs], weights, biases, rectify=False).sum()

    expected = jax.grad(joined)(jnp.concatenate([first, other], -1))
    of_first, of_other = jax.grad(loss, argnums=(0, 1))(first, other)
    np.testing.assert_allclose(of_first, expected[:, :9], atol=1e-5)
    np.testing.assert_allclose(of_other, expected[:, 9:], atol=1e-5)


def test_without_layers_there_is_nothing_to_rectify() -> None:
    first, other = jnp.asarray(drawn(20, 9)), jnp.asarray(drawn(20, 3))

    def loss(first: Any, other: Any) -> Any:
        return (layers([first, other], [], [], rectify=True) ** 2).sum() / 2

    gradients = jax.grad(loss, argnums=(0, 1))(first, other)
    for found, inputs in zip(gradients, (first, other), strict=True):
        np.testing.assert_array_equal(found, inputs)


def test_a_gradient_that_nobody_reads_is_not_computed() -> None:
    first, other, weight, bias = (
        jnp.asarray(drawn(*shape)) for shape in ((20, 9), (20, 3), (12, 24), (24,))
    )

    def loss(other: Any) -> Any:
        return layers([first, other], [weight], [bias], rectify=True).sum()

    program = jax.jit(jax.grad(loss)).lower(other).compile().as_text() or ""
    gradients = [line for line in program.splitlines() if '"hess_input_gradients"' in line]
    assert len(gradients) == 1
    assert "f32[20,3]" in gradients[0]


def test_networks_by_batches() -> None:
    """Each of three networks on each of two batches, with nothing copied: axes of one serve all."""
    inputs, weights, biases = (
        jnp.asarray(drawn(*shape)) for shape in ((2, 20, 9), (3, 9, 24), (3, 24))
    )

    def each(inputs: Any, weight: Any, bias: Any) -> Any:
        return dense(inputs, weight, bias, rectify=False)

    table = jax.vmap(jax.vmap(each, (None, 0, 0)), (0, None, None))(inputs, weights, biases)
    expected = jnp.einsum("bij,njk->bnik", inputs, weights) + biases[None, :, None]
    np.testing.assert_allclose(table, expected, atol=1e-4)

    def loss(weights: Any) -> Any:
        nets = jax.vmap(jax.vmap(each, (None, 0, 0)), (0, None, None))
        return (nets(inputs, weights, biases) ** 2).sum()

    slopes = jnp.einsum("bij,bnik->njk", inputs, 2 * table)
    np.testing.assert_allclose(jax.grad(loss)(weights), slopes, atol=1e-2)


@pytest.mark.parametrize("sizes", [(9, 24, 3), (9, 24, 40, 1), (6, 17, 16, 33, 2)], ids=str)
def test_gradients_of_several_layers_are_those_of_xla(sizes: tuple[int, ...]) -> None:
    """Three axes are left to XLA, whose gradient comes from automatic differentiation."""
    network, inputs = MLP(sizes, jax.random.key(0)), jnp.asarray(drawn(20, sizes[0]))
    way = drawn(20, sizes[-1])

    def own(network: MLP, inputs: Any) -> Any:
        return (network(inputs) * way).sum()

    def by_xla(network: MLP, inputs: Any) -> Any:
        return (network(inputs[None]) * way).sum()

    assert "hess_" not in jax.jit(jax.grad(by_xla)).lower(network, inputs).as_text()
    found, expected = (jax.grad(each, argnums=(0, 1))(network, inputs) for each in (own, by_xla))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), found, expected)


@pytest.mark.parametrize("empty", [0, 3, 12, 40])
def test_rows_of_zeros_are_left_out_and_stay_zero(empty: int) -> None:
    inputs, weight, bias, way = operands((40, 33, 24))
    way[np.random.default_rng(0).permutation(40)[:empty]] = 0.0

    def loss(inputs: Any) -> Any:
        layer = dense(inputs, jnp.asarray(weight), jnp.asarray(bias), rectify=False)
        return (layer * way).sum()

    found = np.asarray(jax.grad(loss)(jnp.asarray(inputs)))
    np.testing.assert_allclose(found, way.astype(np.float64) @ weight.T, atol=1e-4)
    assert (~found.any(1)).sum() == empty


def test_one_network_on_many_batches() -> None:
    inputs, weight, bias = jnp.asarray(drawn(3, 20, 9)), jnp.asarray(drawn(9, 24)), jnp.ones(24)
    together = jax.vmap(lambda each: dense(each, weight, bias, rectify=False))(inputs)
    np.testing.assert_allclose(together, inputs @ weight + bias, atol=1e-4)


def test_not_a_number_stays_one() -> None:
    inputs = np.ones((16, 8), np.float32)
    inputs[3, 2] = np.nan
    outputs = np.asarray(dense(jnp.asarray(inputs), jnp.ones((8, 20)), jnp.zeros(20), rectify=True))
    assert np.isnan(outputs[3]).all()
    assert np.isfinite(np.delete(outputs, 3, 0)).all()


def test_single_outputs_and_single_inputs_are_left_to_xla() -> None:
    def program(sizes: list[int], inputs: Floats) -> str:
        network = MLP(sizes, jax.random.key(0))
        return jax.jit(network.__call__).lower(inputs).as_text()

    inputs = drawn(40, 6)
    assert "hess_" not in program([6, 1], inputs)
    assert "hess_" not in program([6, 16, 16], inputs[0])
    assert "hess_" in program([6, 16, 16], inputs)


_ACROSS_THREADS = """
import sys
from hess import runtime
runtime.configure(threads=int(sys.argv[1]))
import jax, jax.numpy as jnp
import numpy as np
from hess.native.matmul import dense
draw = np.random.default_rng(0).standard_normal
inputs, weight, bias = (jnp.asarray(draw(s), jnp.float32) for s in ((128, 64), (64, 256), (256,)))
loss = lambda *operands: (dense(*operands, True) ** 2).sum()
gradients = jax.jit(jax.grad(loss, argnums=(0, 1, 2)))
for _ in range(50):
    found = gradients(inputs, weight, bias)
    print(hash(b"".join(np.asarray(each).tobytes() for each in found)))
"""


def test_threads_do_not_change_a_bit() -> None:
    """Every time, with one thread and with three on whatever cores there are."""
    hashes = set()
    for threads in ("1", "3"):
        done = subprocess.run(
            [sys.executable, "-c", _ACROSS_THREADS, threads],
            env=os.environ | {"PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            check=True,
        )
        hashes |= set(done.stdout.split())
    assert len(hashes) == 1
