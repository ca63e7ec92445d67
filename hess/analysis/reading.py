"""The text files of a run as series of numbers, also while they are being written."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hess.errors import HessError
from hess.training.folder import RunFolder

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Series:
    """One quantity over training."""

    steps: Floats  # [n]
    values: Floats  # [n]


def complete_lines(path: Path) -> list[str]:
    """The lines of a text file that is being written: one without its end does not count yet."""
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise HessError(f"cannot read {str(path)!r}: {error}") from error
    return text[: text.rfind("\n") + 1].splitlines()


def read_metrics(folder: RunFolder) -> dict[str, Series]:
    """metrics.jsonl by quantity; a quantity need not be in every line."""
    return parse_metrics(complete_lines(folder.metrics_file), str(folder.metrics_file))


def parse_metrics(lines: Iterable[str], where: str, first: int = 1) -> dict[str, Series]:
    """Lines of metrics.jsonl by quantity; `first` is the number of the first line."""
    columns: dict[str, tuple[list[float], list[float]]] = {}
    for number, line in enumerate(lines, first):
        try:
            row = json.loads(line)
            step = float(row.pop("step"))
            values = {name: float(value) for name, value in row.items()}
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise HessError(f"{where!r} is damaged in line {number}: {error}") from error
        for name, value in values.items():
            steps, column = columns.setdefault(name, ([], []))
            steps.append(step)
            column.append(value)
    return {
        name: Series(np.array(steps), np.array(column)) for name, (steps, column) in columns.items()
    }


def read_evaluations(folder: RunFolder) -> dict[str, Series]:
    """eval.csv by column."""
    lines = complete_lines(folder.evaluations_file)
    if not lines:
        return {}
    names = lines[0].split(",")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        try:
            rows.append([float(cell) for cell in line.split(",")])
            if len(rows[-1]) != len(names) or not all(map(math.isfinite, rows[-1])):
                raise ValueError(f"{line!r} does not fit the columns {lines[0]!r}")
        except ValueError as error:
            where = str(folder.evaluations_file)
            raise HessError(f"{where!r} is damaged in line {number}: {error}") from error
    table = np.array(rows, np.float64).reshape(-1, len(names))
    if "step" not in names:
        raise HessError(f"{str(folder.evaluations_file)!r} has no column 'step'")
    steps = table[:, names.index("step")]
    return {
        name: Series(steps, table[:, index]) for index, name in enumerate(names) if name != "step"
    }


def thin(series: Series, points: int) -> Series:
    """At most about `points` points: of every stretch the lowest and the highest stay, in order."""
    count = len(series.steps)
    if count <= points:
        return series
    length = -(-count // max(points // 2, 1))
    starts = np.arange(0, count, length)
    # The last stretch is filled up with the last value, which changes no extreme.
    padded = np.pad(series.values, (0, len(starts) * length - count), mode="edge")
    stretches = padded.reshape(-1, length)
    extremes = np.concatenate([starts + stretches.argmin(1), starts + stretches.argmax(1)])
    kept = np.unique(np.append(np.minimum(extremes, count - 1), (0, count - 1)))
    return Series(series.steps[kept], series.values[kept])


def smoothed(series: Series) -> Series:
    """The running mean over a fortieth of a series."""
    return Series(series.steps, running_mean(series.values, max(len(series.steps) // 40, 1)))


def running_mean(values: Floats, window: int) -> Floats:
    """Mean over a centred window, shorter at both ends."""
    if window <= 1:
        return values
    sums = np.concatenate([[0.0], np.cumsum(values)])
    places = np.arange(len(values))
    first = np.maximum(places - (window - 1) // 2, 0)
    last = np.minimum(places + window // 2 + 1, len(values))
    return (sums[last] - sums[first]) / (last - first)
