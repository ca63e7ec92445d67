"""Our own Adam against optax."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from hess.native import library
from hess.native.adam import Adam

pytestmark = pytest.mark.skipif(
    not library.is_loaded(), reason=f"no Adam of our own here; {library.ADVICE}"
)

RATE, FOLLOWING, STEPS = 3e-3, 0.1, 5
# Below a vector, beyond one, and enough to be shared by threads in several pieces.
SHAPES: list[tuple[int, ...]] = [(), (5,), (3, 17), (2, 130, 150)]


def tree(seed: int) -> dict[str, jax.Array]:
    rng = np.random.default_rng(seed)
    return {str(shape): jnp.asarray(rng.standard_normal(shape), jnp.float32) for shape in SHAPES}


def by_optax() -> tuple[Any, Any, Any]:
    optimiser, parameters, target = optax.adam(RATE), tree(0), tree(1)
    state = optimiser.init(parameters)
    for step in range(STEPS):
        changes, state = optimiser.update(tree(2 + step), state)
        parameters = optax.apply_updates(parameters, changes)
        target = optax.incremental_update(parameters, target, FOLLOWING)
    return parameters, state, target


def test_steps_are_those_of_optax() -> None:
    adam, parameters = Adam(RATE), tree(0)
    state = adam.init(parameters)
    for step in range(STEPS):
        parameters, state = jax.jit(adam.step)(parameters, tree(2 + step), state)
    expected, expected_state, _ = by_optax()
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), parameters, expected)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), state, expected_state)


def test_targets_follow() -> None:
    adam, parameters, target = Adam(RATE), tree(0), tree(1)
    state = adam.init(parameters)
    for step in range(STEPS):
        parameters, state, target = jax.jit(adam.polyak_step, static_argnums=4)(
            parameters, tree(2 + step), state, target, FOLLOWING
        )
    for found, expected in zip((parameters, state, target), by_optax(), strict=True):
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), found, expected)


def test_what_it_starts_from_stays_as_it_is() -> None:
    """Results take the place of the inputs only where nobody reads those any more."""
    adam, parameters = Adam(RATE), tree(0)
    state = adam.init(parameters)
    changed, _ = jax.jit(adam.step)(parameters, tree(2), state)
    for name, array in tree(0).items():
        np.testing.assert_array_equal(parameters[name], array)
        assert not np.array_equal(changed[name], array)


def test_it_is_what_a_step_is_made_of() -> None:
    adam, parameters = Adam(RATE), tree(0)
    program = jax.jit(adam.step).lower(parameters, tree(1), adam.init(parameters)).as_text()
    assert program.count("@hess_adam(") == 1


def test_double_precision_is_left_to_optax() -> None:
    with jax.enable_x64(True):
        adam = Adam(RATE)
        parameters = jnp.ones(3, jnp.float64)
        program = jax.jit(adam.step).lower(parameters, parameters, adam.init(parameters)).as_text()
    assert "hess_adam" not in program
