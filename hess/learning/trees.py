"""Pytrees as named arrays and back: the form in which a checkpoint holds networks."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from hess.arrays import Arrays
from hess.errors import HessError


def flatten(tree: Any, prefix: str) -> Arrays:
    """Every leaf under the name of its path."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {prefix + jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def unflatten(template: Any, arrays: Arrays, prefix: str) -> Any:
    """A tree like the template with the named arrays as leaves; shapes and types must agree.

    What is empty in the template may have grown.
    """
    leaves, structure = jax.tree_util.tree_flatten_with_path(template)
    named = ((prefix + jax.tree_util.keystr(path), leaf) for path, leaf in leaves)
    restored = [jnp.asarray(matching(arrays, name, leaf, grown=True)) for name, leaf in named]
    return jax.tree_util.tree_unflatten(structure, restored)


def matching(arrays: Arrays, name: str, like: Any, *, grown: bool = False) -> NDArray[Any]:
    """The array of that name, as `like` is; what is empty there may have `grown`."""
    array = arrays.get(name)
    if array is None:
        raise HessError(f"the checkpoint lacks the array {name!r}")
    free = int(grown and like.shape[:1] == (0,))
    same_rank = array.ndim == len(like.shape)
    if not same_rank or array.shape[free:] != like.shape[free:] or array.dtype != like.dtype:
        raise HessError(
            f"the checkpoint's array {name!r} is {array.dtype}{list(array.shape)}, "
            f"the run needs {like.dtype}{list(like.shape)}"
        )
    return array


def prefixed(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays of a part of an agent, named so that `select` finds them again."""
    return {prefix + name: array for name, array in arrays.items()}


def select(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays whose names begin with the prefix, without it."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
