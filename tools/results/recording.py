"""From run folders to committed results: everything is checked before anything is written."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hess.analysis.recorded import RecordedSeed, read_table, table_path, write_table
from hess.config import Config, flat_fields
from hess.envs.arguments import label
from hess.errors import HessError
from hess.runs.command import train_command
from hess.runs.folder import RunFolder, folder_name
from hess.runs.logs import measured_speed, read_evaluations, read_metrics
from tools.results.protocol import ENVIRONMENT, breaches, differences, row_breaches, settings

_PROVENANCE = (
    *("hess", "commit", "dirty", "python", "packages", "platform", "cpu", "cores", "affinity"),
)


def record_runs(
    runs: Sequence[Path],
    results: Path,
    suite: str,
    varied: Sequence[str] = (),
    *,
    replace: bool = False,
) -> dict[Path, list[int]]:
    """Add runs to their rows, or put them in place of whole rows; the seeds by table.

    A run that breaks the protocol, or a seed that is recorded already, is refused, and with it all.
    The values of the fields that a suite varies are part of a row's name.
    """
    rows: dict[Path, list[RecordedSeed]] = {}
    for run in runs:
        curve = read_run(run, suite, varied)
        if found := breaches(curve):
            raise HessError(f"cannot record {str(run)!r}: {', '.join(found)}")
        table = table_path(results, suite, curve.method, curve.task)
        rows.setdefault(table, []).append(curve)
    merged = {
        table: _merged([] if replace else read_table(table), new) for table, new in rows.items()
    }
    for table, curves in merged.items():
        write_table(table, curves)
    return {table: sorted(curve.seed for curve in new) for table, new in rows.items()}


def read_run(run: Path, suite: str, varied: Sequence[str] = ()) -> RecordedSeed:
    """A run as it would be recorded."""
    folder = RunFolder(run)
    config = folder.read_config()
    fields = flat_fields(config)
    values = [f"{name}={fields[name]}" for name in varied]
    evaluations = read_evaluations(folder, checked=True)
    return RecordedSeed(
        suite=suite,
        method=folder_name(",".join([config.method, *values])),
        task=_task_name(config),
        seed=config.seed,
        steps=tuple(int(step) for step in evaluations["step"]),
        success=tuple(evaluations["success_rate"]),
        train_success=tuple(evaluations["train_success"]),
        success_at_end=tuple(evaluations.get("success_at_end", ())),
        about=_about(folder, config),
    )


def _task_name(config: Config) -> str:
    """The task with its arguments, and how it was taken if not as usual."""
    usual = Config()
    taken = [
        f"{name}={getattr(config, name)}"
        for name in ENVIRONMENT
        if getattr(config, name) != getattr(usual, name)
    ]
    return ",".join(filter(None, (folder_name(config.task), label(config.env), label(taken))))


def _about(folder: RunFolder, config: Config) -> dict[str, Any]:
    metadata = folder.read_metadata()
    return {
        "command": train_command(config),
        **{name: metadata.get(name) for name in _PROVENANCE},
        "earlier": metadata.get("earlier", []),
        "minutes": _minutes(folder, config),
        "config": dataclasses.asdict(config),
    }


def _minutes(folder: RunFolder, config: Config) -> float | None:
    """All steps at the measured speed: interruptions do not count, nor do evaluations."""
    speed = measured_speed(read_metrics(folder, checked=True), config.pipeline)
    return None if speed is None else round(config.steps / speed / 60, 1)


def _merged(recorded: Sequence[RecordedSeed], new: Sequence[RecordedSeed]) -> list[RecordedSeed]:
    """A row with new seeds; one that is recorded exactly so stays."""
    row = [curve for curve in recorded if not any(_same(curve, each) for each in new)]
    where = f"of {new[0].method} on {new[0].task}"
    if found := row_breaches(row):
        raise HessError(
            f"the recorded row {where} breaks the protocol: {'; '.join(found)}; "
            "--replace makes the row anew"
        )
    if twice := _repeated(new):
        raise HessError(f"seed {twice[0]} {where} is given twice; name one run per seed")
    if twice := _repeated([*row, *new]):
        raise HessError(
            f"seed {twice[0]} {where} is recorded already; --replace makes the row anew"
        )
    for curve in new:
        _refuse_other_settings(curve, [*recorded, *new][0], where)
    return [*row, *new]


def _repeated(curves: Sequence[RecordedSeed]) -> list[int]:
    counts = Counter(curve.seed for curve in curves)
    return [seed for seed, count in counts.items() if count > 1]


def _same(curve: RecordedSeed, other: RecordedSeed) -> bool:
    alike = curve.steps == other.steps and curve.success == other.success
    return alike and curve.seed == other.seed and settings(curve) == settings(other)


def _refuse_other_settings(curve: RecordedSeed, first: RecordedSeed, where: str) -> None:
    own, theirs = settings(curve), settings(first)
    changed = [
        f"{name}={own.get(name)!r} instead of {theirs.get(name)!r}"
        for name in differences(own, theirs)
    ]
    if changed:
        raise HessError(
            f"seed {curve.seed} {where} has other settings than seed {first.seed}: "
            f"{', '.join(changed)}; all seeds of a row have the same, --replace makes the row anew"
        )
