"""What is recorded of a suite: the rows behind each of its curves and maps, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from hess.analysis.groups import Setting
from hess.analysis.recorded import RecordedSeed, read_table, table_path
from hess.config import Config, flat_fields
from hess.files import digest
from hess.runs.folder import folder_name
from hess.runs.run import NothingToDrawError, Run
from hess.sweeps.drawings import ShownPanels
from hess.sweeps.reproduction import Request, panels
from hess.sweeps.suites import SUITES, Suite
from tools.results.kept import KEEPERS, Files, RecordedRun, kept_path, read_kept, write_kept
from tools.results.protocol import row_breaches, settings

MAIN = "main"  # the rows that all suites share
_OF_ALL_SEEDS = "intrinsic-variance"  # a curve; maps show one run of each method


@dataclass(frozen=True)
class Row:
    """The recorded seeds of a method on a task."""

    table: Path
    seeds: tuple[RecordedSeed, ...]

    @property
    def place(self) -> str:
        """<suite>/<method>/<task>."""
        first = self.seeds[0]
        return f"{first.suite}/{first.method}/{first.task}"

    @property
    def name(self) -> str:
        """Its place, with its seeds and the commits that trained them."""
        numbers = ", ".join(str(seed.seed) for seed in self.seeds)
        commits = dict.fromkeys(str(seed.about.get("commit"))[:7] for seed in self.seeds)
        several = "s" if len(self.seeds) > 1 else ""
        return f"{self.place} (seed{several} {numbers} of {', '.join(commits)})"


@dataclass(frozen=True)
class Absent:
    """A curve, or a row of maps, that cannot be drawn."""

    label: str
    task: str
    reason: str = ""
    """Why a row that is recorded is not drawn; nothing where none is recorded."""


BEFORE_THE_PROTOCOL = "recorded before the protocol"
WITHOUT_SNAPSHOTS = "recorded without snapshots"


@dataclass(frozen=True)
class Evidence:
    """The recorded rows of a suite as they are drawn."""

    panels: ShownPanels
    rows: tuple[Row, ...]
    absent: tuple[Absent, ...]
    digest: str
    """Of all files that the drawing is made of."""


def evidence(suite: Suite, results: Path) -> Evidence:
    """Everything recorded by the protocol that belongs to a suite."""
    shown: ShownPanels = {}
    rows: dict[Path, Row] = {}
    absent: list[Absent] = []
    for title, panel in panels(suite, Request(seeds=1)).items():
        for label, (planned,) in panel.items():
            found = _recorded(suite, label, planned.config, results)
            if isinstance(found, Absent):
                absent.append(found)
            else:
                row, runs = found
                rows[row.table] = row
                shown.setdefault(title, []).append(Setting(label, runs))
    return Evidence(shown, tuple(rows.values()), tuple(absent), _digest(suite, rows))


def _recorded(
    suite: Suite, label: str, config: Config, results: Path
) -> tuple[Row, tuple[Run, ...]] | Absent:
    row = _row_of(suite, config, results)
    if row is None:
        return Absent(label, config.task)
    if row_breaches(row.seeds):
        return Absent(label, config.task, BEFORE_THE_PROTOCOL)
    if suite.drawing not in KEEPERS:
        return row, tuple(RecordedRun(seed) for seed in row.seeds)
    kept = read_kept(kept_path(row.table, suite.name))
    runs = tuple(RecordedRun(each, kept[each.seed]) for each in row.seeds if each.seed in kept)
    return (row, runs) if runs else Absent(label, config.task, WITHOUT_SNAPSHOTS)


def _row_of(suite: Suite, config: Config, results: Path) -> Row | None:
    """The row that all suites share, or the suite's own: the one with the values that it varies."""
    fields, varied = flat_fields(config), varied_fields(suite)
    task, method = folder_name(config.task), folder_name(config.method)
    own = sorted((results / suite.name).glob(f"{method}*/{task}.csv"))
    found = []
    for table in (table_path(results, MAIN, method, task), *own):
        seeds = tuple(read_table(table))
        if seeds and all(_has(seeds[0], name, fields[name]) for name in ("method", *varied)):
            found.append(Row(table, seeds))
    # One that breaks the protocol must not hide one that does not.
    return min(found, key=lambda row: bool(row_breaches(row.seeds)), default=None)


def _has(seed: RecordedSeed, name: str, value: object) -> bool:
    return bool(seed.about) and settings(seed).get(name) == value


def varied_fields(suite: Suite) -> tuple[str, ...]:
    """The fields that tell a suite's variants of a method apart."""
    variants = chain.from_iterable(suite.studies.values())
    return tuple(sorted({name for each in variants for name in each.values}))


def _digest(suite: Suite, rows: dict[Path, Row]) -> str:
    files = [file for table in rows for file in (table, kept_path(table, suite.name))]
    return digest(b"".join(file.read_bytes() for file in sorted(files) if file.exists()))


# --- snapshots of recorded runs ---------------------------------------------------------------


def keep_snapshots(runs: Sequence[Path], results: Path, *, replace: bool = False) -> list[Path]:
    """Keep what figures show of runs that have just been recorded; the files that were written.

    Of every row the lowest seed that has something to show, of curves all seeds.
    """
    written = []
    for suite in SUITES.values():
        new: dict[Path, dict[int, Files]] = {}
        for run in map(Run, runs):
            if suite.drawing in KEEPERS and _shows(suite, run):
                name, task = folder_name(run.config.method), folder_name(run.config.task)
                file = kept_path(table_path(results, MAIN, name, task), suite.name)
                new.setdefault(file, {}).update(_kept(suite, run))
        for file, seeds in new.items():
            merged = {**({} if replace else read_kept(file)), **seeds}
            if suite.drawing != _OF_ALL_SEEDS:
                merged = {seed: merged[seed] for seed in sorted(merged)[:1]}
            if merged:
                write_kept(file, merged)
                written.append(file)
            else:
                file.unlink(missing_ok=True)
    return written


def _shows(suite: Suite, run: Run) -> bool:
    """Not of a task with arguments: it has a row of its own, which no figure shows."""
    methods = {each.method for each in chain.from_iterable(suite.studies.values())}
    plain = not run.config.fields["env"]
    return plain and run.config.task in suite.tasks and run.config.method in methods


def _kept(suite: Suite, run: Run) -> dict[int, Files]:
    """Nothing of a run that has no snapshots."""
    moment = round(run.config.steps * suite.moment)
    try:
        return {run.config.seed: KEEPERS[suite.drawing](run.until(moment))}
    except NothingToDrawError:
        return {}
