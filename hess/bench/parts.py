"""The groups of rows in the order in which they are measured, and what each needs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from hess.bench.measuring import Size
from hess.bench.processes import rows_of
from hess.bench.table import Row
from hess.bench.updates import baseline_row, limit_row


class Part(NamedTuple):
    """A piece of a group that is measured in one go, or skipped for a reason."""

    group: str
    what: str
    cores: int
    measure: Callable[[Size, Sequence[int]], list[Row]]
    obstacle: Callable[[], str | None] = lambda: None


def _one(measure: Callable[[Size, Sequence[int]], Row]) -> Callable[..., list[Row]]:
    return lambda size, cores: [measure(size, cores)]


def _rows(target: str) -> Callable[..., list[Row]]:
    return lambda size, cores: rows_of(f"hess.bench.{target}", size, cores)


def _no_baseline() -> str | None:
    missing = [name for name in ("torch", "stable_baselines3") if find_spec(name) is None]
    if not missing:
        return None
    return f"{' and '.join(missing)} not installed; `make bench`, or pip install 'hess[bench]'"


def _no_proc() -> str | None:
    if Path("/proc/self/statm").exists():
        return None
    return f"resident memory is read from /proc, which {sys.platform} does not have"


PARTS = (
    Part("envs", "environment steps", 1, _rows("simulation:rows")),
    Part("sac", "SAC update on one core", 1, _one(limit_row)),
    Part("sac", "SAC update on two cores", 2, _one(limit_row)),
    Part("baseline", "Stable-Baselines3 on one core", 1, _one(baseline_row), _no_baseline),
    Part("baseline", "Stable-Baselines3 on two cores", 2, _one(baseline_row), _no_baseline),
    Part("representation", "φ minibatches", 1, _rows("components:representation")),
    Part("acting", "actions", 1, _rows("components:acting")),
    Part("measures", "novelty and potential", 1, _rows("estimators:rows")),
    Part("training", "training on AntMaze", 2, _rows("training:rows")),
    Part("methods", "methods against HESS", 1, _rows("components:methods")),
    Part("memory", "memory", 2, _rows("resident:rows"), _no_proc),
)

GROUPS = tuple(dict.fromkeys(part.group for part in PARTS))


def obstacle(part: Part, cores: Sequence[int]) -> str | None:
    """Why a part cannot be measured here, in words, or None."""
    if len(cores) < part.cores:
        return f"needs {part.cores} cores, this process may use {len(cores)}"
    return part.obstacle()
