"""A comparison as text, Markdown, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hess.analysis.comparison import ComparisonRow, Measure
from hess.analysis.statistics import Estimate

_ESTIMATES = ("final", "interquartile", "improvement", "median_steps", "mean_steps")


def columns(measure: Measure) -> dict[str, Callable[[ComparisonRow], str]]:
    """What a table shows of a row, under its titles."""
    return {
        "task": lambda row: row.task,
        "method": lambda row: row.method,
        "runs": lambda row: str(row.runs),
        "final success": lambda row: _rate(row.final),
        "IQM": lambda row: _rate(row.interquartile),
        "P(improvement)": lambda row: _rate(row.improvement),
        f"steps to {measure.threshold:g}": _steps,
    }


def as_text(rows: Sequence[ComparisonRow], measure: Measure) -> str:
    """Columns under each other, as wide as they need to be."""
    lines = [list(columns(measure)), *_lines(rows, measure)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def as_markdown(rows: Sequence[ComparisonRow], measure: Measure) -> str:
    """A table for a page."""
    return markdown(list(columns(measure)), _lines(rows, measure))


def markdown(titles: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Any cells as a table of Markdown."""
    return "\n".join(f"| {' | '.join(line)} |" for line in (titles, ["---"] * len(titles), *lines))


def _lines(rows: Iterable[ComparisonRow], measure: Measure) -> list[list[str]]:
    return [[cell(row) for cell in columns(measure).values()] for row in rows]


def as_csv(rows: Sequence[ComparisonRow], measure: Measure) -> str:
    """All numbers in full; nothing where something is unknown, inf where it is not reached."""
    records = [_record(row, measure) for row in rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().rstrip("\n")


def as_json(rows: Sequence[ComparisonRow], measure: Measure) -> str:
    """The same as CSV; JSON has no infinity, so what is not reached is null, too."""
    records = [
        {
            name: None if value == math.inf else value
            for name, value in _record(row, measure).items()
        }
        for row in rows
    ]
    return json.dumps(records, indent=2)


FORMATS = {"text": as_text, "markdown": as_markdown, "csv": as_csv, "json": as_json}
ENDINGS = {".txt": "text", ".md": "markdown", ".csv": "csv", ".json": "json"}


def _rate(estimate: Estimate | None) -> str:
    # Student's t knows no bounds, a rate has them.
    return _interval(estimate, lambda rate: f"{min(max(rate, 0.0), 1.0):.2f}") if estimate else ""


def _steps(row: ComparisonRow) -> str:
    """The median of Kaplan and Meier with its interval, and how many runs got there."""
    median = row.median_steps
    if median is None:
        return ""
    if math.isinf(median.value):
        return f"not reached; {row.reached} of {row.runs} did" if row.reached else "not reached"
    return f"{_interval(median, _thousands)}; {row.reached} of {row.runs} reached it"


def _interval(estimate: Estimate, text: Callable[[float], str]) -> str:
    """A number, with its interval where that is known."""
    if estimate.low is None or estimate.high is None:
        return text(estimate.value)
    return f"{text(estimate.value)} [{text(estimate.low)}, {text(estimate.high)}]"


def _thousands(steps: float) -> str:
    return "∞" if math.isinf(steps) else f"{steps / 1e3:,.4g}k"


def _record(row: ComparisonRow, measure: Measure) -> dict[str, Any]:
    record: dict[str, Any] = {"task": row.task, "method": row.method, "runs": row.runs}
    for name in _ESTIMATES:
        estimate: Estimate | None = getattr(row, name)
        for part in ("value", "low", "high"):
            key = name if part == "value" else f"{name}_{part}"
            record[key] = None if estimate is None else getattr(estimate, part)
    return record | {"threshold": measure.threshold, "reached": row.reached}
