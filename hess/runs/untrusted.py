"""What a run folder from a stranger must not make us do."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import jax

from hess.agents.agent import BaseAgent
from hess.config import Config, flat_fields
from hess.errors import HessError

_HARMLESS = 2**20  # bytes; networks of this size need no file to vouch for them
_MOST_LAYERS = 64


def refuse_foreign_code(kind: str, name: str, agreed: str | None) -> None:
    """A task or method `module:name` imports a module; the user has to have named or imported it.

    `kind` is "task" or "method", `agreed` what the user has named.
    """
    if agreed is not None and agreed != name:
        how = {"task": "on", "method": "with"}[kind]
        raise HessError(f"the run was trained {how} {name!r}, not {how} {agreed!r}")
    if agreed is None and needs_import(name):
        module = name.partition(":")[0]
        raise HessError(
            f"the run's {kind} {name!r} would import the module {module!r}, which can run "
            f"anything; if you trust it, name the {kind}: {kind}={name!r} in Python, "
            f"--{kind} {name} in a command"
        )


def needs_import(name: str) -> bool:
    """Whether `module:name` names a module that nobody has imported yet."""
    module, colon, _ = name.partition(":")
    return bool(colon) and module not in sys.modules


def refuse_giants(config: Config, build: Callable[[], BaseAgent], size: int) -> None:
    """An agent that could not have come from a state of `size` bytes is not built.

    What it would take is read off the agent itself, traced without a single number computed.
    """
    most = max(size, _HARMLESS)
    layers = [value for value in flat_fields(config).values() if _is_layers(value)]
    widest = max(config.representation.dim or 1, *(max(each) for each in layers))
    deepest = max(map(len, layers))
    if deepest > _MOST_LAYERS or 4 * widest > most:
        raise HessError(
            f"the config describes {deepest:,} layers of up to {widest:,} units, "
            f"the checkpoint has {size:,} bytes"
        )
    try:
        arrays = jax.eval_shape(lambda: _arrays(build()))
    except jax.errors.JAXTypeError:
        return  # somebody's own method, which the user has agreed to, computes as it is made
    needed = sum(math.prod(array.shape) * array.dtype.itemsize for array in arrays)
    if needed > most:
        raise HessError(
            f"the config describes networks of {needed:,} bytes, the checkpoint has {size:,} bytes"
        )


def _is_layers(value: object) -> bool:
    return isinstance(value, tuple) and value != () and all(type(each) is int for each in value)


def _arrays(agent: BaseAgent) -> list[jax.Array]:
    """All that the agent has on the device, apart from stored episodes."""
    own = {name: value for name, value in vars(agent).items() if name != "replay"}
    return [leaf for leaf in jax.tree.leaves(own) if isinstance(leaf, jax.Array)]
