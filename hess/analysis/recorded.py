"""Committed results: curves of finished runs, with what it takes to run them again.

    results/<suite>/<method>/<task>.csv    step, seed, success_rate, train_success, success_at_end
    results/<suite>/<method>/<task>.json   per seed: command, config, commit, machine, minutes

A table with its JSON file is a row: the seeds of a method on a task.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hess.errors import HessError
from hess.files import read_json, write_atomic, write_json

FIRST_COLUMNS = ("step", "seed", "success_rate", "train_success")
COLUMNS = (*FIRST_COLUMNS, "success_at_end")  # which older tables do not have


@dataclass(frozen=True)
class RecordedSeed:
    """One seed of a method on a task."""

    suite: str
    method: str
    task: str
    seed: int
    steps: tuple[int, ...]
    success: tuple[float, ...]
    train_success: tuple[float, ...]
    success_at_end: tuple[float, ...]
    """At the last step of an episode instead of at any; empty where a run did not record it."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """How it was made; empty where that is not recorded."""


def table_path(results: Path, suite: str, method: str, task: str) -> Path:
    """Where a row is kept."""
    return results / suite / method / f"{task}.csv"


def read_curves(results: Path) -> list[RecordedSeed]:
    """Every recorded seed."""
    tables = sorted(results.glob("*/*/*.csv"))
    return [curve for table in tables for curve in read_table(table)]


def read_table(table: Path) -> list[RecordedSeed]:
    """The seeds of one table; suite, method and task are in its path."""
    if not table.exists():
        return []
    by_seed: dict[int, list[dict[str, str]]] = defaultdict(list)
    about = _read_about(table)
    try:
        with table.open(newline="") as file:
            for row in csv.DictReader(file):
                by_seed[int(row["seed"])].append(row)
        return [
            _seed(table, seed, rows, about.get(str(seed), {}))
            for seed, rows in sorted(by_seed.items())
        ]
    except (OSError, KeyError, TypeError, ValueError, OverflowError, csv.Error) as error:
        columns = ", ".join(COLUMNS)
        raise HessError(
            f"{str(table)!r} is damaged or no table of results ({columns}): {error}"
        ) from error


def _seed(
    table: Path, seed: int, rows: list[dict[str, str]], about: dict[str, Any]
) -> RecordedSeed:
    folder = table.absolute().parent
    success = tuple(float(row["success_rate"]) for row in rows)
    if wrong := [rate for rate in success if not 0.0 <= rate <= 1.0]:
        raise ValueError(f"a success rate of {wrong[0]}")
    return RecordedSeed(
        suite=folder.parent.name,
        method=folder.name,
        task=table.stem,
        seed=seed,
        steps=tuple(int(float(row["step"])) for row in rows),
        success=success,
        train_success=tuple(float(row["train_success"]) for row in rows),
        success_at_end=tuple(
            float(row["success_at_end"]) for row in rows if row.get("success_at_end")
        ),
        about=about,
    )


def write_table(table: Path, curves: Iterable[RecordedSeed]) -> None:
    """A whole row, in place of what was there."""
    curves = sorted(curves, key=lambda curve: curve.seed)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for curve in curves:
        at_end = curve.success_at_end or [""] * len(curve.steps)
        rates = zip(curve.success, curve.train_success, at_end, strict=True)
        for step, row in zip(curve.steps, rates, strict=True):
            writer.writerow((step, curve.seed, *row))
    write_atomic(table, text.getvalue())
    write_json(_about_file(table), {str(curve.seed): dict(curve.about) for curve in curves})


def _about_file(table: Path) -> Path:
    return table.with_name(f"{table.stem}.json")  # a value of an argument may have a dot


def _read_about(table: Path) -> dict[str, dict[str, Any]]:
    file = _about_file(table)
    if not file.exists():
        return {}
    about = read_json(file)
    if not isinstance(about, dict) or not all(isinstance(each, dict) for each in about.values()):
        raise HessError(f"{str(file)!r} is damaged: it does not hold an object per seed")
    return about
