"""The table: on the screen, and in a file that grows with every group that is done."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hess import runtime
from hess.bench.rows import Goal, Row
from hess.bench.sizes import FULL, Size
from hess.errors import HessError
from hess.files import write_json

FORMAT = 1


class Report:
    """What has been measured so far."""

    def __init__(self, size: Size, cores: Sequence[int], file: Path | None = None):
        if file is not None:
            _refuse_unwritable(file)
        self.size, self.cores = size, list(cores)
        self.rows: list[Row] = []
        self.skipped: list[str] = []
        self._file = file

    def add(self, rows: Sequence[Row]) -> None:
        """Take in new rows."""
        self.rows += rows
        self._write()

    def skip(self, sentence: str) -> None:
        """Note what could not be measured, and why."""
        self.skipped.append(sentence)
        self._write()

    def to_json(self) -> dict[str, Any]:
        """All that was measured, on what, and how thoroughly."""
        return {
            "format": FORMAT,
            "quick": self.size != FULL,
            "cores": self.cores,
            "machine": runtime.describe(),
            "rows": [row.to_json() for row in self.rows],
            "skipped": self.skipped,
        }

    def summary(self) -> str:
        """How many goals are met."""
        judged = [row for row in self.rows if row.met is not None]
        return f"{sum(bool(row.met) for row in judged)} of {len(judged)} goals met"

    def show(self) -> None:
        """Print the table."""
        from rich.console import Console
        from rich.table import Table

        table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("row")
        table.add_column("measured", justify="right", no_wrap=True)
        table.add_column("reference", justify="right", no_wrap=True)
        table.add_column("which is")
        table.add_column("ratio", justify="right", no_wrap=True)
        table.add_column("goal", justify="right", no_wrap=True)
        table.add_column("met", no_wrap=True)
        for row in self.rows:
            table.add_row(*_cells(row))
        # In a pipe nothing may be cut off: the width of a terminal says nothing there.
        Console(width=None if sys.stdout.isatty() else 200).print(table)
        print(self.summary())

    def _write(self) -> None:
        if self._file is not None:
            write_json(self._file, self.to_json())


def _cells(row: Row) -> tuple[str, ...]:
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
