"""Reading metrics.jsonl and eval.csv, also while they are being written.

A last line without its end does not count yet. The writers are in records.py.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hess.arrays import Floats
from hess.errors import HessError
from hess.files import named, reason
from hess.runs.folder import RunFolder
from hess.runs.manifest import Position, newest_manifest

Row = dict[str, float]
"""A round by quantity, "step" among them; a quantity need not be in every row."""

# What JSON that is no object of numbers raises.
_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)
_TAIL = 2**17  # bytes of a growing file: a hundred rounds, or the end of a log
_KNOWN_TAIL = 256  # bytes before the end of what is known, to notice a file that was regrown


@dataclass(frozen=True)
class Series:
    """One quantity over training."""

    steps: Floats  # [n]
    values: Floats  # [n]

    def thinned(self, points: int) -> Series:
        """About `points` points at most: of every stretch the lowest and the highest, in order."""
        count = len(self.steps)
        if count <= points:
            return self
        length = -(-count // max(points // 2, 1))
        starts = np.arange(0, count, length)
        # The last stretch is filled up with the last value, which changes no extreme.
        padded = np.pad(self.values, (0, len(starts) * length - count), mode="edge")
        stretches = padded.reshape(-1, length)
        extremes = np.concatenate([starts + stretches.argmin(1), starts + stretches.argmax(1)])
        kept = np.unique(np.append(np.minimum(extremes, count - 1), (0, count - 1)))
        return Series(self.steps[kept], self.values[kept])

    def smoothed(self) -> Series:
        """The running mean over a fortieth of the series."""
        return Series(self.steps, running_mean(self.values, max(len(self.steps) // 40, 1)))


def running_mean(values: Floats, window: int) -> Floats:
    """Mean of each value and those before it: a curve shows nothing that came later."""
    if window <= 1:
        return values
    sums = np.concatenate([[0.0], np.cumsum(values)])
    last = np.arange(len(values)) + 1
    first = np.maximum(last - window, 0)
    return (sums[last] - sums[first]) / (last - first)


class GrowingMetrics:
    """One metrics.jsonl that may still be written: only what is new is read again."""

    def __init__(self, path: Path):
        self._path = path
        self._known, self._tail = 0, b""
        self._rows: list[Row] = []

    def read(self) -> list[Row]:
        try:
            with self._path.open("rb") as file:
                file.seek(max(self._known - _KNOWN_TAIL, 0))
                before = file.read(min(self._known, _KNOWN_TAIL))
                if before != self._tail:  # a resumed run cuts the file back to its checkpoint
                    self._forget()
                    file.seek(0)
                new = file.read()
        except FileNotFoundError:
            self._forget()
            return []
        except OSError as error:
            raise HessError(f"cannot read {str(self._path)!r}: {reason(error)}") from error
        new = new[: new.rfind(b"\n") + 1]
        lines = new.decode(errors="replace").splitlines()
        self._rows += parse_metrics(lines, str(self._path), first=len(self._rows) + 1)
        self._known += len(new)
        self._tail = (self._tail + new)[-_KNOWN_TAIL:]
        return self._rows

    def _forget(self) -> None:
        self._known, self._tail, self._rows = 0, b"", []


def read_metrics(folder: RunFolder, *, checked: bool = False) -> list[Row]:
    """The rounds of metrics.jsonl; `checked` against what the newest checkpoint knows of it."""
    manifest = newest_manifest(folder.path) if checked else None
    if manifest is not None and not starts_with(folder.metrics_file, manifest.records.metrics):
        raise _damaged(folder.metrics_file)
    return GrowingMetrics(folder.metrics_file).read()


def recent_metrics(folder: RunFolder, tail: int = _TAIL) -> list[Row]:
    """The last rounds, for who only wants to know how far a run is: damaged lines are left out."""
    rows: list[Row] = []
    for line in last_lines(folder.metrics_file, tail):
        with suppress(HessError):
            rows += parse_metrics([line], str(folder.metrics_file))
    return rows


def parse_metrics(lines: Iterable[str], where: str, first: int = 1) -> list[Row]:
    """Lines of metrics.jsonl; `first` is the number of the first one."""
    rows = []
    for number, line in enumerate(lines, first):
        try:
            row = {name: float(value) for name, value in json.loads(line).items()}
            row["step"]
        except _UNREADABLE as error:
            raise HessError(f"{where!r} is damaged in line {number}: {error}") from error
        rows.append(row)
    return rows


def metric_series(rows: Iterable[Row]) -> dict[str, Series]:
    """Rounds by quantity."""
    columns: dict[str, tuple[list[float], list[float]]] = {}
    for row in rows:
        for name, value in row.items():
            steps, values = columns.setdefault(name, ([], []))
            steps.append(row["step"])
            values.append(value)
    columns.pop("step", None)
    return {name: Series(np.array(steps), np.array(own)) for name, (steps, own) in columns.items()}


def measured_speed(rows: Sequence[Row], pipeline: bool) -> float | None:
    """Steps/s over these rounds, without evaluations.

    With `pipeline` the environment and the learner work at the same time.
    """
    together = max if pipeline else sum
    parts = ("time/learning", "time/collection")
    seconds = sum(together([row.get(name, 0.0) for name in parts]) for row in rows[1:])
    return (rows[-1]["step"] - rows[0]["step"]) / seconds if seconds > 0 else None


def read_evaluations(folder: RunFolder, *, checked: bool = False) -> dict[str, list[float]]:
    """The columns of eval.csv, "step" first; `checked` against the newest checkpoint."""
    path = folder.evaluations_file
    content = b""
    with named("read", path), suppress(FileNotFoundError):
        content = path.read_bytes()
    manifest = newest_manifest(folder.path) if checked else None
    if manifest is not None and not content.startswith(manifest.records.evaluations.encode()):
        raise _damaged(path)
    return parse_evaluations(content.decode(errors="replace"), str(path))


def parse_evaluations(text: str, where: str) -> dict[str, list[float]]:
    """The columns of eval.csv, from its text."""
    header, *lines = text[: text.rfind("\n") + 1].splitlines() or [""]
    names, rows = header.split(","), []
    for number, line in enumerate(lines, 2):
        try:
            rows.append([float(cell) for cell in line.split(",")])
            if len(rows[-1]) != len(names) or not all(map(math.isfinite, rows[-1])):
                raise ValueError(f"{line!r} does not fit the columns {header!r}")
        except ValueError as error:
            raise HessError(f"{where!r} is damaged in line {number}: {error}") from error
    if header and "step" not in names:
        raise HessError(f"{where!r} has no column 'step'")
    return {name: [row[index] for row in rows] for index, name in enumerate(names) if name}


def evaluation_series(columns: Mapping[str, Sequence[float]]) -> dict[str, Series]:
    """Evaluations by quantity; nothing before the first."""
    steps = np.array(columns.get("step", ()))
    own = {name: np.array(values) for name, values in columns.items() if name != "step"}
    return {name: Series(steps, values) for name, values in own.items() if len(steps)}


def last_lines(path: Path, tail: int = _TAIL) -> list[str]:
    """The complete lines in the last `tail` bytes of a file; none where it is not there yet."""
    try:
        with path.open("rb") as file:
            start = max(file.seek(0, 2) - tail, 0)
            file.seek(start)
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    lines = text[: text.rfind("\n") + 1].splitlines()
    return lines[1:] if start else lines


def advance(position: Position, data: bytes) -> Position:
    """The position after further bytes."""
    return Position(position.size + len(data), zlib.crc32(data, position.checksum))


def starts_with(path: Path, position: Position) -> bool:
    """Whether the file begins with what was written until a position."""
    reached: Position | None = None
    with named("read", path), suppress(FileNotFoundError), path.open("rb") as file:
        reached = Position(0, 0)
        while block := file.read(min(2**20, position.size - reached.size)):
            reached = advance(reached, block)
    return reached == position


def _damaged(path: Path) -> HessError:
    return HessError(
        f"{str(path)!r} is damaged or was edited; run the training command again to put it right"
    )
