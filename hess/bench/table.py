"""The table: its rows with their goals, on the screen and in a file that grows with every group."""

from __future__ import annotations

import dataclasses
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hess import runtime
from hess.bench.measuring import FULL, Size
from hess.errors import HessError
from hess.files import write_json

FORMAT = 1


@dataclass(frozen=True)
class Goal:
    """A bound on a row's ratio, or on what was measured where there is nothing to compare with."""

    relation: Literal["at least", "at most"]
    value: float
    of: Literal["ratio", "measured"] = "ratio"

    def holds(self, value: float) -> bool:
        """Whether a value is within the bound."""
        return value >= self.value if self.relation == "at least" else value <= self.value


@dataclass(frozen=True)
class Row:
    """One measurement; times are medians over the repetitions."""

    group: str
    name: str
    measured: float
    unit: str
    reference: float | None = None
    """In the same unit as `measured`."""
    reference_name: str = ""
    ratio: float | None = None
    """Of `measured` to `reference` or the other way round; `ratio_name` says which."""
    ratio_name: str = ""
    goal: Goal | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without a goal."""
        if self.goal is None:
            return None
        value = self.ratio if self.goal.of == "ratio" else self.measured
        return value is not None and self.goal.holds(value)

    def to_json(self) -> dict[str, Any]:
        """All fields, and whether the goal is met."""
        return dataclasses.asdict(self) | {"met": self.met}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Row:
        """The row that `to_json` described."""
        fields = {name: value for name, value in values.items() if name != "met"}
        goal = fields["goal"]
        return cls(**fields | {"goal": None if goal is None else Goal(**goal)})


def compared(
    group: str,
    name: str,
    unit: str,
    pair: tuple[Sequence[float], Sequence[float]],
    reference_name: str,
    *,
    goal: Goal | None = None,
    note: str = "",
    times_faster: bool = False,
) -> Row:
    """A row of two things that were measured in turns: what it is about, and its reference.

    Its ratio is the median of those of neighbouring measurements: a slow moment hits both.
    """
    measured, reference = pair
    above, below = (reference, measured) if times_faster else (measured, reference)
    return Row(
        group,
        name,
        statistics.median(measured),
        unit,
        statistics.median(reference),
        reference_name,
        statistics.median(a / b for a, b in zip(above, below, strict=True)),
        "reference / measured" if times_faster else "measured / reference",
        goal,
        note,
    )


class BenchTable:
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

    def show(self) -> None:
        """Print the table, and how many goals are met."""
        from hess.console import console, plain_table

        table = plain_table(("row", "measured", "reference", "which is", "ratio", "goal", "met"))
        for column in (1, 2, 4, 5):
            table.columns[column].justify = "right"
        for row in self.rows:
            table.add_row(*_cells(row))
        console().print(table)
        judged = [row for row in self.rows if row.met is not None]
        print(f"{sum(bool(row.met) for row in judged)} of {len(judged)} goals met")

    def _write(self) -> None:
        if self._file is None:
            return
        values = {
            "format": FORMAT,
            "quick": self.size != FULL,
            "cores": self.cores,
            "machine": runtime.describe(),
            "rows": [row.to_json() for row in self.rows],
            "skipped": self.skipped,
        }
        write_json(self._file, values)


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
