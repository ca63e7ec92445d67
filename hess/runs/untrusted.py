"""What a run folder from a stranger must not make us do."""

from __future__ import annotations

import sys
from itertools import pairwise

from hess.config import Config
from hess.errors import HessError

_HARMLESS = 2**20  # bytes; a layer of this size needs no file to vouch for it
_MOST_LAYERS = 64


def refuse_foreign_code(task: str, agreed: str | None) -> None:
    """A task `module:Env-v0` imports a module; the user has to have named or imported it."""
    if agreed is not None and agreed != task:
        raise HessError(f"the run was trained on {task!r}, not on {agreed!r}")
    _refuse_import("task", task, agreed)


def refuse_foreign_method(method: str, agreed: str | None) -> None:
    """The same for a method `module:name`."""
    if agreed is not None and agreed != method:
        raise HessError(f"the run was trained with {method!r}, not with {agreed!r}")
    _refuse_import("method", method, agreed)


def needs_import(name: str) -> bool:
    """Whether `module:name` names a module that nobody has imported yet."""
    module, colon, _ = name.partition(":")
    return bool(colon) and module not in sys.modules


def _refuse_import(kind: str, name: str, agreed: str | None) -> None:
    if agreed is None and needs_import(name):
        module = name.partition(":")[0]
        raise HessError(
            f"the run's {kind} {name!r} would import the module {module!r}, which can run "
            f"anything; if you trust it, name the {kind}: {kind}={name!r} in Python, "
            f"--{kind} {name} in a command"
        )


def refuse_giants(config: Config, observed: int, size: int) -> None:
    """Networks that could not have come from a file of `size` bytes are not even built.

    `observed` is how many numbers the task lets an agent see.
    """
    dim = config.representation.dim
    units = config.fun.worker_units
    networks = (
        config.low.hidden,
        config.high.hidden,
        (*config.representation.hidden, dim),
        (*config.fun.perception, dim, 4 * dim),
        (*config.fun.perception, 4 * units),
        (units, 4 * units),
        (units, config.fun.goal_embedding),
        (*config.dads.hidden, config.dads.experts * (observed + 1)),
    )
    for layers in networks:
        sizes = (observed + 2 * dim, *layers)
        largest = max(before * after for before, after in pairwise((1, *sizes)))
        if len(sizes) > _MOST_LAYERS or 4 * largest > max(size, _HARMLESS):
            raise HessError(
                f"the config describes {len(layers)} layers of up to {largest:,} weights, "
                f"the checkpoint has {size:,} bytes"
            )
