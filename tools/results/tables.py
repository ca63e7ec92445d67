"""The tables of recorded results in README.md and results/README.md, made and never typed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from hess.analysis.comparison import ALL_TASKS, ComparisonRow, Measure, compare, recorded_run
from hess.analysis.recorded import RecordedSeed, read_curves
from hess.analysis.tables import columns, markdown
from hess.errors import HessError
from hess.files import write_atomic
from tools.results.protocol import EPISODES, commits, departures, row_breaches

_START, _END = "<!-- results:start -->", "<!-- results:end -->"
_MEASURE = Measure()
_SUCCESS = ("final success", "at the last step", "IQM")
_STEPS = f"steps to {_MEASURE.threshold:g}"
_TITLES = ("task", "method", "seeds", "steps", *_SUCCESS, _STEPS, "minutes")
_LISTED = 6  # settings of a note, at most
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def results_table(curves: Sequence[RecordedSeed], suite: str) -> str:
    """A suite's rows as `hess compare` computes them; those that break the protocol say why."""
    groups: dict[tuple[str, str], list[RecordedSeed]] = {}
    for curve in curves:
        if curve.suite == suite:
            groups.setdefault((curve.task, curve.method), []).append(curve)
    if not groups:
        return "No finished runs are recorded yet."
    outcomes = [recorded_run(curve) for group in groups.values() for curve in group]
    rows = [row for row in compare(outcomes, _MEASURE) if row.task != ALL_TASKS]
    notes: dict[str, str] = {}
    lines = [_cells(row, groups[row.task, row.method], notes) for row in rows]
    table = markdown(_TITLES, lines)
    listed = [f"- {mark} {note}." for note, mark in notes.items()]
    return "\n".join([table, *(["", *listed] if listed else [])])


def _cells(row: ComparisonRow, group: Sequence[RecordedSeed], notes: dict[str, str]) -> list[str]:
    """A line of the table; marks beside its method, and the notes that belong to them."""
    cells = {title: cell(row) for title, cell in columns(_MEASURE).items()} | {
        "seeds": str(row.runs),
        "steps": _lengths(group),
        "at the last step": _at_end(group),
        "minutes": _minutes(group),
    }
    for note in _notes(row, group):
        mark = notes.setdefault(note, str(len(notes) + 1).translate(_SUPERSCRIPTS))
        cells["method"] += f" {mark}"
    return [cells[title] for title in _TITLES]


def _notes(row: ComparisonRow, group: Sequence[RecordedSeed]) -> Iterable[str]:
    """What breaks the protocol, and what has changed since; rows may share the latter."""
    where = f"{row.method} on {row.task}"
    if found := row_breaches(group):
        yield f"{where}: {'; '.join(found)}"
    if changed := departures(group[0]):
        more = f" and {len(changed) - _LISTED} more" if len(changed) > _LISTED else ""
        yield f"not today's default: {', '.join(changed[:_LISTED])}{more}"
    if len(made := commits(group)) > 1:
        yield f"{where}: trained by commits {', '.join(made)}"


def _lengths(group: Sequence[RecordedSeed]) -> str:
    lengths = sorted({curve.steps[-1] for curve in group})
    ends = lengths if len(lengths) == 1 else [lengths[0], lengths[-1]]
    return " to ".join(f"{length / 1e3:,.0f}k" for length in ends)


def _at_end(group: Sequence[RecordedSeed]) -> str:
    """Final success as it is at the last step of episodes; nothing for rows without it."""
    known = [
        np.mean(curve.success_at_end[-_MEASURE.last :]) for curve in group if curve.success_at_end
    ]
    return f"{np.mean(known):.2f}" if len(known) == len(group) else ""


def _minutes(group: Sequence[RecordedSeed]) -> str:
    """The mean over seeds; nothing for rows from before minutes were recorded."""
    minutes = [curve.about.get("minutes") for curve in group]
    known = [float(each) for each in minutes if each is not None]
    return f"{np.mean(known):,.0f}" if len(known) == len(minutes) else ""


def marked_text(readme: Path) -> str:
    """The text of a README that has room for the table."""
    try:
        text = readme.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise HessError(f"cannot read {str(readme)!r}, where the table goes: {error}") from error
    if _START not in text or _END not in text:
        raise HessError(f"{str(readme)!r} lacks the markers {_START} and {_END}")
    return text


def update_tables(results: Path, readme: Path, picture: Path | None = None) -> None:
    """Write results/README.md, and between the markers of the main README the table and a picture.

    One that is not there is left out.
    """
    curves = read_curves(results)
    text = marked_text(readme)
    parts = ["# Results", "", _EXPLANATION, *_machines(curves)]
    for suite in sorted({curve.suite for curve in curves}):
        parts += ["", f"## {suite}", "", results_table(curves, suite)]
    write_atomic(results / "README.md", "\n".join(parts) + "\n")
    before, _, rest = text.partition(_START)
    _, _, after = rest.partition(_END)
    table = results_table(curves, "main")
    shown = _picture(picture, readme) if picture is not None and picture.exists() else ""
    write_atomic(readme, f"{before}{_START}\n{shown}{table}\n{_END}{after}")


def _picture(picture: Path, readme: Path) -> str:
    place = Path(os.path.relpath(picture, readme.parent)).as_posix()
    return f"![Success over steps of the recorded runs, as in the paper's Figure 4]({place})\n\n"


def _machines(curves: Sequence[RecordedSeed]) -> list[str]:
    """On which machines minutes were measured."""
    names = {_machine(curve) for curve in curves if curve.about.get("minutes") is not None}
    return ["", f"Minutes were measured on {'; '.join(sorted(names))}."] if names else []


def _machine(curve: RecordedSeed) -> str:
    cpu, cores, used = (curve.about.get(name) for name in ("cpu", "cores", "affinity"))
    return f"{cpu}, {len(used)} of {cores} cores" if used else f"{cpu}, {cores} cores"


_EXPLANATION = (
    "Generated by `make results` from the CSV files beside this one, with the functions of "
    "`hess compare`; the JSON files hold the command, config, commit and machine of every seed. "
    f"Final success is the mean of the last {_MEASURE.last} evaluations of {EPISODES} "
    "deterministic episodes that succeed at any step, over seeds with its 95 % interval, and "
    "beside it that of episodes that succeed at their last step; IQM is the mean without the "
    f"lowest and highest quarter; steps to {_MEASURE.threshold:g} is the median over all seeds, "
    "those that never got there counted as seen until their last step; minutes are those of "
    "training, the mean over seeds. A number beside a method leads to a note: in what a row breaks "
    "the protocol ([docs/reproducing.md](../docs/reproducing.md#recorded-results)), in which "
    "settings it is not today's default, or which commits have trained it."
)
