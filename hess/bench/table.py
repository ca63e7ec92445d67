"""The table: its parts in the order they are measured, on the screen and in a file that grows."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from hess import machine
from hess.bench.measuring import FULL, BenchRow, Goal, Size
from hess.bench.processes import rows_of
from hess.bench.updates import baseline_rows, limit_rows
from hess.console import console, plain_table
from hess.errors import HessError
from hess.files import write_json

FORMAT = 1


class Part(NamedTuple):
    """A piece of a group that is measured in one go, or skipped for a reason."""

    group: str
    what: str
    cores: int
    measure: Callable[[Size, Sequence[int]], list[BenchRow]]
    obstacle: Callable[[], str | None] = lambda: None


def _rows(target: str) -> Callable[..., list[BenchRow]]:
    return lambda size, cores: rows_of(f"hess.bench.{target}", size, cores)


def _no_baseline() -> str | None:
    missing = [name for name in ("torch", "stable_baselines3") if find_spec(name) is None]
    if not missing:
        return None
    return f"{' and '.join(missing)} not installed; `make bench`, or pip install '.[bench]'"


def _no_proc() -> str | None:
    if Path("/proc/self/statm").exists():
        return None
    return f"resident memory is read from /proc, which {sys.platform} does not have"


PARTS = (
    Part("envs", "environment steps", 1, _rows("simulation:rows")),
    Part("sac", "SAC update on one core", 1, limit_rows),
    Part("sac", "SAC update on two cores", 2, limit_rows),
    Part("baseline", "Stable-Baselines3 on one core", 1, baseline_rows, _no_baseline),
    Part("baseline", "Stable-Baselines3 on two cores", 2, baseline_rows, _no_baseline),
    Part("representation", "φ minibatches", 1, _rows("components:representation")),
    Part("acting", "actions", 1, _rows("components:acting")),
    Part("measures", "novelty and potential", 1, _rows("estimators:rows")),
    Part("training", "training on AntMaze", 2, _rows("training:speed")),
    Part("methods", "methods against HESS", 1, _rows("components:methods")),
    Part("memory", "memory", 2, _rows("training:memory"), _no_proc),
)


class BenchTable:
    """What has been measured so far."""

    def __init__(self, size: Size, cores: Sequence[int], file: Path | None = None):
        if file is not None:
            _refuse_unwritable(file)
        self.size, self.cores = size, list(cores)
        self.rows: list[BenchRow] = []
        self.skipped: list[str] = []
        self._file = file

    def measure(self, groups: Sequence[str] = ()) -> None:
        """One part after the other, of these groups or of all."""
        status = Console(stderr=True).status
        for part in PARTS:
            if groups and part.group not in groups:
                continue
            if len(self.cores) < part.cores:
                self.skip(f"{part.what}: needs {part.cores} cores, not {len(self.cores)}")
            elif obstacle := part.obstacle():
                self.skip(f"{part.what}: {obstacle}")
            else:
                with status(f"measuring {part.what}"):
                    self.add(part.measure(self.size, self.cores[: part.cores]))

    def add(self, rows: Sequence[BenchRow]) -> None:
        """Take in new rows."""
        self.rows += rows
        self._write()

    def skip(self, sentence: str) -> None:
        """Note what could not be measured, and why."""
        self.skipped.append(sentence)
        self._write()

    def show(self) -> None:
        """Print the table, how many goals are met, and what was skipped."""
        table = plain_table(("row", "measured", "reference", "which is", "ratio", "goal", "met"))
        for column in (1, 2, 4, 5):
            table.columns[column].justify = "right"
        for row in self.rows:
            table.add_row(*_cells(row))
        console().print(table)
        judged = [row for row in self.rows if row.met is not None]
        print(f"{sum(bool(row.met) for row in judged)} of {len(judged)} goals met")
        for sentence in self.skipped:
            print(f"skipped {sentence}", file=sys.stderr)

    def _write(self) -> None:
        if self._file is None:
            return
        values = {
            "format": FORMAT,
            "quick": self.size != FULL,
            "cores": self.cores,
            "machine": machine.describe(),
            "rows": [row.to_json() for row in self.rows],
            "skipped": self.skipped,
        }
        write_json(self._file, values)


def _cells(row: BenchRow) -> tuple[str, ...]:
    return (
        row.name,
        _quantity(row.measured, row.unit),
        "" if row.reference is None else _quantity(row.reference, row.unit),
        row.reference_name,
        "" if row.ratio is None else f"{row.ratio:.2f}",
        "" if row.goal is None else _bound(row.goal, row.unit),
        {True: "yes", False: "[bold red]no[/]", None: ""}[row.met],
    )


def _quantity(value: float, unit: str) -> str:
    digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2
    return f"{value:,.{digits}f} {unit}"


def _bound(goal: Goal, unit: str) -> str:
    sign = "≥" if goal.relation == "at least" else "≤"
    return f"{sign} {goal.value:.2f}" if goal.of == "ratio" else f"{sign} {goal.value:,.0f} {unit}"


def _refuse_unwritable(file: Path) -> None:
    """Before minutes of measuring, not after."""
    folder = file.absolute().parent
    while not folder.exists():
        folder = folder.parent
    if file.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise HessError(f"cannot write {str(file)!r}; name a file in a folder you may write to")
