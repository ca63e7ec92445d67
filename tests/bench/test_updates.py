"""The arithmetic of an update, counted by hand and in the compiled program."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hess.bench.updates import multiplications, sac_update
from hess.config import LevelConfig
from hess.learning.sac import SAC, Batch


def test_products_of_a_network() -> None:
    assert multiplications([2, 3, 5]) == 2 * 3 + 3 * 5


def test_update_of_the_smallest_networks_by_hand() -> None:
    # Actor 1-1-2 (3 products), critics 2-1-1 (3 products, 1 of them behind the first layer).
    targets = 3 + 2 * 3
    critics = 2 * (3 + 3 + 1)  # forward, gradient of the weights, gradient of the inner input
    through_critics = 2 * (3 + 3)  # forward, gradient of the inputs down to the action
    actor = 3 + 3 + 2
    assert sac_update(1, 1, [1], batch=1) == 2 * (targets + critics + through_critics + actor)


def test_update_of_the_published_networks() -> None:
    assert round(sac_update(33, 8, (256, 256), 128) / 1e6) == 307


def test_the_program_computes_no_more_than_that() -> None:
    """An update that computed something twice would look faster than it is."""
    learner = SAC(LevelConfig(hidden=(16, 16), batch_size=8), 5, 3)
    batch = Batch(*(jnp.zeros((8, *shape)) for shape in ((5,), (3,), (), (5,), ())))
    noise = jnp.zeros((2, 8, 3))
    program = jax.make_jaxpr(learner.update)(learner.init(jax.random.key(0)), batch, noise)
    assert _product_flops(program.jaxpr) <= sac_update(5, 3, (16, 16), 8)


def _product_flops(program: Any) -> int:
    """Operations of all matrix products in a program, those of the programs in it included."""
    total = 0
    for equation in program.eqns:
        if equation.primitive.name == "dot_general":
            (contracted, _), _ = equation.params["dimension_numbers"]
            left = equation.invars[0].aval.shape
            inner = int(np.prod([left[axis] for axis in contracted]))
            total += 2 * inner * int(np.prod(equation.outvars[0].aval.shape))
        for value in equation.params.values():
            inside = getattr(value, "jaxpr", None)
            total += _product_flops(inside) if inside is not None else 0
    return total
