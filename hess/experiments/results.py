"""Committed results: curves of finished runs, with what it takes to run them again.

    results/<suite>/<method>/<task>.csv    step, seed, success_rate, train_success
    results/<suite>/<method>/<task>.json   per seed: command, config, commit, machine

Tables are made from these files and never typed.
"""

from __future__ import annotations

import csv
import dataclasses
import io
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hess.envs.arguments import label
from hess.errors import HessError
from hess.experiments.commands import train_command
from hess.files import read_json, write_atomic, write_json
from hess.training.folder import RunFolder, folder_name
from hess.training.records import read_evaluations

COLUMNS = ("step", "seed", "success_rate", "train_success")
_LAST = 4  # evaluations that make up the final success
_THRESHOLD = 0.9
_PROVENANCE = ("hess", "commit", "dirty", "python", "packages", "platform", "cpu", "cores")
_START, _END = "<!-- results:start -->", "<!-- results:end -->"


class Curve(NamedTuple):
    """One seed of a method on a task."""

    suite: str
    method: str
    task: str
    seed: int
    steps: tuple[int, ...]
    success: tuple[float, ...]

    @property
    def final(self) -> float:
        """Mean success of the last evaluations."""
        return float(np.mean(self.success[-_LAST:]))

    @property
    def steps_to_threshold(self) -> int | None:
        """The first evaluation at or above 0.9; None if there is none."""
        return next(
            (
                step
                for step, rate in zip(self.steps, self.success, strict=True)
                if rate >= _THRESHOLD
            ),
            None,
        )


def record_run(run: Path, results: Path, suite: str) -> Path:
    """Add a finished run to the results, in place of an earlier one with the same seed."""
    folder = RunFolder(run)
    config = folder.read_config()
    evaluations = read_evaluations(folder)
    if not evaluations["step"] or evaluations["step"][-1] < config.steps:
        raise HessError(f"the run {str(run)!r} has not finished its {config.steps:,} steps")
    task = ",".join(filter(None, (folder_name(config.task), label(config.env))))
    table = results / suite / folder_name(config.method) / f"{task}.csv"
    about_file = table.with_name(f"{task}.json")  # a value of an argument may have a dot
    rows = [row for row in _read_rows(table) if int(row["seed"]) != config.seed]
    for step, success, train in zip(
        evaluations["step"],
        evaluations["success_rate"],
        evaluations["train_success"],
        strict=True,
    ):
        values = (int(step), config.seed, success, train)
        rows.append({name: str(value) for name, value in zip(COLUMNS, values, strict=True)})
    rows.sort(key=lambda row: (int(row["seed"]), int(row["step"])))
    about = read_json(about_file) if about_file.exists() else {}
    metadata = read_json(folder.metadata_file)
    about[str(config.seed)] = {
        "command": train_command(config),
        **{name: metadata[name] for name in _PROVENANCE},
        "config": dataclasses.asdict(config),
    }
    write_atomic(table, _format_rows(rows))
    write_json(about_file, dict(sorted(about.items(), key=lambda item: int(item[0]))))
    return table


def read_curves(results: Path) -> list[Curve]:
    """Every recorded seed."""
    tables = sorted(results.glob("*/*/*.csv"))
    return [curve for table in tables for curve in read_table(table)]


def read_table(table: Path) -> list[Curve]:
    """The seeds of one table; suite, method and task are in its path."""
    by_seed: dict[int, list[tuple[int, float]]] = defaultdict(list)
    try:
        for row in _read_rows(table):
            step, success = int(row["step"]), float(row["success_rate"])
            if not 0.0 <= success <= 1.0:
                raise ValueError(f"a success rate of {success}")
            by_seed[int(row["seed"])].append((step, success))
    except (OSError, KeyError, TypeError, ValueError, csv.Error) as error:
        columns = ", ".join(COLUMNS)
        raise HessError(
            f"{str(table)!r} is damaged or no table of results ({columns}): {error}"
        ) from error
    folder = table.absolute().parent
    suite, method = folder.parent.name, folder.name
    return [
        Curve(suite, method, table.stem, seed, *zip(*rows, strict=True))
        for seed, rows in sorted(by_seed.items())
    ]


def markdown_table(curves: list[Curve], suite: str) -> str:
    """Final success and steps to 0.9 per task and method, over seeds."""
    groups: dict[tuple[str, str], list[Curve]] = defaultdict(list)
    for curve in curves:
        if curve.suite == suite:
            groups[curve.task, curve.method].append(curve)
    lines = [
        "| task | method | seeds | steps | final success | steps to 0.9 |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_row(task, method, group) for (task, method), group in sorted(groups.items())]
    return "\n".join(lines) if groups else "No finished runs are recorded yet."


def _row(task: str, method: str, group: list[Curve]) -> str:
    finals = np.array([curve.final for curve in group])
    reached = [step for curve in group if (step := curve.steps_to_threshold) is not None]
    spread = f" ({finals.min():.2f} to {finals.max():.2f})" if len(group) > 1 else ""
    when = f"{np.mean(reached) / 1e3:,.0f}k" if reached else "not reached"
    if reached and len(reached) < len(group):
        when += f" ({len(reached)} of {len(group)} seeds)"
    lengths = sorted({curve.steps[-1] for curve in group})
    ends = lengths if len(lengths) == 1 else [lengths[0], lengths[-1]]
    steps = " to ".join(f"{length / 1e3:,.0f}k" for length in ends)
    return f"| {task} | {method} | {len(group)} | {steps} | {finals.mean():.2f}{spread} | {when} |"


def update_tables(results: Path, readme: Path) -> None:
    """Write results/README.md and the table between the markers of the main README."""
    curves = read_curves(results)
    suites = sorted({curve.suite for curve in curves})
    parts = ["# Results", "", _EXPLANATION]
    for suite in suites:
        parts += ["", f"## {suite}", "", markdown_table(curves, suite)]
    write_atomic(results / "README.md", "\n".join(parts) + "\n")
    text = readme.read_text()
    if _START not in text or _END not in text:
        raise HessError(f"{str(readme)!r} lacks the markers {_START} and {_END}")
    before, _, rest = text.partition(_START)
    _, _, after = rest.partition(_END)
    table = markdown_table(curves, "main")
    write_atomic(readme, f"{before}{_START}\n{table}\n{_END}{after}")


_EXPLANATION = (
    "Generated by `hess results` from the CSV files beside this one; the JSON files hold the "
    "command, config, commit and machine of every seed. Final success is the mean of the last "
    f"{_LAST} evaluations of 10 deterministic episodes, in brackets its lowest and highest seed; "
    "steps to 0.9 is the mean over the seeds that reached it."
)


def _read_rows(table: Path) -> list[dict[str, str]]:
    if not table.exists():
        return []
    with table.open(newline="") as file:
        return list(csv.DictReader(file))


def _format_rows(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
