"""Adam: by our own code on the CPU, in one pass over memory, or by optax.

Both keep the state of `optax.adam`.
"""

from __future__ import annotations

from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import optax

from hess.native.library import call, is_loaded

_FIRST, _SECOND, _EPSILON = 0.9, 0.999, 1e-8

Tree = TypeVar("Tree")


class Adam:
    """Gradient steps on a tree of arrays."""

    def __init__(self, learning_rate: float):
        self.learning_rate = learning_rate
        self._optax = optax.adam(learning_rate, b1=_FIRST, b2=_SECOND, eps=_EPSILON)

    def init(self, parameters: Any) -> optax.OptState:
        return self._optax.init(parameters)

    def step(
        self, parameters: Tree, gradient: Tree, state: optax.OptState
    ) -> tuple[Tree, optax.OptState]:
        """One step against the gradient."""
        if not _suits(parameters):
            changes, state = self._optax.update(gradient, state)
            return optax.apply_updates(parameters, changes), state
        parameters, state, _ = self._step(parameters, gradient, state, [], 0.0)
        return parameters, state

    def polyak_step(
        self, parameters: Tree, gradient: Tree, state: optax.OptState, target: Tree, rate: float
    ) -> tuple[Tree, optax.OptState, Tree]:
        """The same, and the target takes a Polyak step, by this share, towards the parameters."""
        if not _suits(parameters):
            parameters, state = self.step(parameters, gradient, state)
            return parameters, state, optax.incremental_update(parameters, target, rate)
        parameters, state, (target,) = self._step(parameters, gradient, state, [target], rate)
        return parameters, state, target

    def _step(
        self, parameters: Any, gradient: Any, state: Any, targets: list[Any], rate: float
    ) -> tuple[Any, optax.OptState, list[Any]]:
        """All arrays in one call, with one target or none."""
        moments, rest = state
        count = optax.safe_increment(moments.count)
        changing = jax.tree.leaves([parameters, moments.mu, moments.nu, *targets])
        changed = call("hess_adam", *[array.shape for array in changing], reuse=1)(
            count,
            *changing,
            *jax.tree.leaves(gradient),
            learning=np.float32(self.learning_rate),
            first=np.float32(_FIRST),
            second=np.float32(_SECOND),
            epsilon=np.float32(_EPSILON),
            polyak=bool(targets),
            rate=np.float32(rate),
        )
        structure = jax.tree.structure([parameters, moments.mu, moments.nu, *targets])
        parameters, mu, nu, *targets = jax.tree.unflatten(structure, changed)
        return parameters, (moments._replace(count=count, mu=mu, nu=nu), rest), targets


def _suits(parameters: Any) -> bool:
    single = all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(parameters))
    return single and is_loaded()
