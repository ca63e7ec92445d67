"""`hess bench`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from hess.bench.table import BenchTable

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
        import sys

        from hess import runtime
        from hess.bench.measuring import FULL, QUICK
        from hess.bench.table import BenchTable

        cores = list(dict.fromkeys(self.cores)) or runtime.available_cores()
        runtime.require_cores(cores)
        table = BenchTable(QUICK if self.quick else FULL, cores, self.json)
        try:
            self._measure(table)
        finally:  # what was measured until an interrupt or a failure is worth seeing
            table.show()
        for sentence in table.skipped:
            print(f"skipped {sentence}", file=sys.stderr)

    def _measure(self, table: BenchTable) -> None:
        from rich.console import Console

        from hess.bench.table import PARTS, obstacle

        console = Console(stderr=True)
        for part in PARTS:
            if self.only and part.group not in self.only:
                continue
            problem = obstacle(part, table.cores)
            if problem is not None:
                table.skip(f"{part.what}: {problem}")
                continue
            with console.status(f"measuring {part.what}"):
                table.add(part.measure(table.size, table.cores[: part.cores]))
