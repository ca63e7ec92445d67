"""`hess bench`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Group = Literal[
    "envs",
    "sac",
    "baseline",
    "representation",
    "acting",
    "measures",
    "training",
    "methods",
    "memory",
]


@dataclass(frozen=True)
class Bench:
    """Measure the speed and memory of everything against its goals."""

    only: tuple[Group, ...] = ()
    """Measure these groups only; all by default."""
    json: Path | None = None
    """Write the table to this file as well; it grows with every group that is done."""
    cores: tuple[int, ...] = ()
    """Cores to measure on: the first, or the first two; those this process may use by default."""
    quick: bool = False
    """A few repetitions only: a minute or two, and rough figures."""

    def run(self) -> None:
        from hess import runtime
        from hess.bench.measuring import FULL, QUICK
        from hess.bench.table import BenchTable

        cores = list(dict.fromkeys(self.cores)) or runtime.available_cores()
        runtime.require_cores(cores)
        table = BenchTable(QUICK if self.quick else FULL, cores, self.json)
        try:
            table.measure(self.only)
        finally:  # what was measured until an interrupt or a failure is worth seeing
            table.show()
