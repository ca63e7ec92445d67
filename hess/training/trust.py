"""What a run folder from a stranger must not make us do."""

from __future__ import annotations

import sys
from itertools import pairwise

from hess.config import Config
from hess.errors import HessError

_HARMLESS = 2**26  # bytes of weights that anybody can spare


def refuse_foreign_code(task: str, agreed: str | None) -> None:
    """A task `module:Env-v0` imports a module; the user has to have named or imported it."""
    if agreed is not None and agreed != task:
        raise HessError(f"the run was trained on {task!r}, not on {agreed!r}")
    module, colon, _ = task.partition(":")
    if colon and agreed is None and module not in sys.modules:
        raise HessError(
            f"the run's task {task!r} would import the module {module!r}, which can run anything; "
            f"if you trust it, name the task: task={task!r} in Python, --task {task} in a command"
        )


def refuse_giants(config: Config, size: int) -> None:
    """Networks that could not have come from a file of `size` bytes are not even built."""
    layers = (
        config.low.hidden,
        config.high.hidden,
        (*config.representation.hidden, config.representation.dim),
    )
    largest = max(
        max(width, before * width) for hidden in layers for before, width in pairwise((1, *hidden))
    )
    if 4 * largest > max(size, _HARMLESS):
        raise HessError(
            f"config describes layers of {largest:,} weights, "
            f"the checkpoint has room for {size // 4:,}"
        )
