"""A sweep: what is planned in its folder, who starts what is unfinished, what became of each run.

    sweep.json          the runs, each with its complete config; more can be added
    sweep-state.json    runs that are running, were stopped or have failed, and why
    <task>/<method>/<name>/    the runs, with a train.log of what each has printed

Whether a run has finished is not noted here: its own checkpoint says so.
"""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from hess.config import Config
from hess.errors import HessError
from hess.files import FileLock, TakenError, read_sealed, reason, remove_leftovers, write_sealed
from hess.runs.folder import RunFolder, from_json, refuse_changes
from hess.runs.manifest import newest_manifest, refuse_other_config
from hess.sweeps.plan import Plan, PlannedRun
from hess.sweeps.progress import Note, Overview, Watcher, is_finished
from hess.training.interrupts import StopOnSignal

FORMAT = 1
_PATIENCE = 1.0  # seconds; `hess sweep status` holds the lock for an instant when it looks


class SweepFolder:
    """Locked while a sweep starts runs in it."""

    def __init__(self, path: Path):
        self.path = path
        self.plan_file = path / "sweep.json"
        self._notes_file = path / "sweep-state.json"
        self._lock = FileLock(path / ".sweep.lock")

    def lock(self) -> None:
        """Refuse a second sweep."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                self.path.mkdir(parents=True, exist_ok=True)
                self._lock.acquire()
                remove_leftovers(self.path)
                return
            except TakenError as holder:
                if time.monotonic() > deadline:
                    raise TakenError(
                        f"{holder} is sweeping in {str(self.path)!r}; `hess sweep status "
                        f"{self.path}` shows how far it is"
                    ) from holder
                time.sleep(_PATIENCE / 10)
            except OSError as error:
                raise HessError(f"cannot write to {str(self.path)!r}: {reason(error)}") from error

    def unlock(self) -> None:
        self._lock.release()

    @property
    def is_locked(self) -> bool:
        """Whether a sweep is at work here just now."""
        try:
            self._lock.acquire()
        except TakenError:
            return True
        except OSError as error:
            raise HessError(f"cannot read {str(self.path)!r}: {reason(error)}") from error
        self._lock.release()
        return False

    def read_plan(self) -> Plan:
        """Every run that was ever planned here."""
        if not self.plan_file.exists():
            raise HessError(f"there is no sweep in {str(self.path)!r}: it has no sweep.json")
        runs = _read(self.plan_file)["runs"]
        return tuple(
            PlannedRun(from_json(Config, run["config"], f"sweep.json: {run['name']}"), run["name"])
            for run in runs
        )

    def check(self, plan: Plan) -> None:
        """Refuse runs that exist here with another config, or with more steps."""
        before = self._planned()
        for run in plan:
            if run.key in before:
                refuse_changes(before[run.key].config, run.config)
            _refuse_shorter(run, self.path)
            refuse_other_config(run.config, RunFolder(run.path(self.path)))

    def add(self, plan: Plan) -> None:
        """Note the runs of a plan that was checked, beside those that are planned already."""
        merged = self._planned() | {run.key: run for run in plan}
        runs = [
            {"name": each.name, "config": dataclasses.asdict(each.config)}
            for each in merged.values()
        ]
        write_sealed(self.plan_file, _stamp() | {"runs": runs})

    def _planned(self) -> dict[str, PlannedRun]:
        return {run.key: run for run in self.read_plan()} if self.plan_file.exists() else {}

    def read_notes(self) -> dict[str, Note]:
        """By run; one that was never started has none."""
        if not self._notes_file.exists():
            return {}
        notes = _read(self._notes_file)["runs"]
        return {key: from_json(Note, note, "sweep-state.json") for key, note in notes.items()}

    def present_notes(self) -> dict[str, Note]:
        """The notes as they stand: nothing is running when no sweep is, for one was killed."""
        notes = self.read_notes()
        return notes if self.is_locked else without_running(notes)

    def write_notes(self, notes: Mapping[str, Note]) -> None:
        plain = {key: dataclasses.asdict(note) for key, note in notes.items()}
        write_sealed(self._notes_file, _stamp() | {"runs": plain})


def without_running(notes: Mapping[str, Note]) -> dict[str, Note]:
    """Runs that a killed sweep has left, as stopped."""
    return {
        key: Note("stopped") if note.state == "running" else note for key, note in notes.items()
    }


def _stamp() -> dict[str, Any]:
    return {"format": FORMAT, "hess": version("hess")}


def _read(path: Path) -> dict[str, Any]:
    values = read_sealed(path)
    if values.get("format") != FORMAT:
        raise HessError(
            f"{str(path)!r} was written by hess {str(values.get('hess'))[:20]} in format "
            f"{str(values.get('format'))[:20]}; this is hess {version('hess')}, which reads format "
            f"{FORMAT}; sweep in another folder"
        )
    return values


def _refuse_shorter(run: PlannedRun, sweep: Path) -> None:
    """A run can be made longer, not shorter."""
    manifest = newest_manifest(run.path(sweep))
    if manifest is not None and run.config.steps < min(manifest.step, manifest.config.steps):
        raise HessError(
            f"{str(run.path(sweep))!r} has done {manifest.step:,} steps already, "
            f"steps={run.config.steps:,} asks for fewer; sweep in another folder"
        )


# --- running it ------------------------------------------------------------------------------

_LOOK_INTERVAL = 2.0  # seconds between two looks at what is running


class Engine(Protocol):
    """Where runs run."""

    @property
    def slots(self) -> int:
        """Runs at a time."""

    def start(self, run: PlannedRun) -> None:
        """Start a run; there are never more than `slots`."""

    def wait(self, seconds: float) -> Sequence[tuple[PlannedRun, str]]:
        """Runs that have ended, as soon as there are any, or none after so many seconds.

        Each with its problem, empty if its process says that all is well.
        """

    def stop(self) -> None:
        """Ask all runs to save and end."""


class SweepDisplay(Protocol):
    """Who is told."""

    def show(self, overview: Overview) -> None:
        """All runs at this moment."""

    def message(self, text: str) -> None:
        """Something happened."""


@dataclass(frozen=True)
class SweepResult:
    """How a sweep ended."""

    overview: Overview
    signal: int | None  # what asked it to stop


def run_sweep(
    plan: Plan, folder: SweepFolder, engine: Engine, display: SweepDisplay
) -> SweepResult:
    """Run what is missing, until all is done or a signal asks to stop; the folder is locked."""
    watcher = Watcher(folder.path, engine.slots)
    known = {run.key for run in plan}
    notes = {
        key: note
        for key, note in without_running(folder.read_notes()).items()
        if not (key in known and note.state == "failed")  # it gets another chance
    }
    queue = deque(run for run in plan if not is_finished(run, folder.path))
    running: set[PlannedRun] = set()
    stopping = False
    with StopOnSignal() as stop:
        while queue or running:
            if stop.requested and not stopping:
                stopping = True
                queue.clear()
                engine.stop()
            while queue and len(running) < engine.slots:
                run = queue.popleft()
                engine.start(run)
                running.add(run)
                notes[run.key] = Note("running")
                folder.write_notes(notes)
                display.message(f"started {run.key}")
            for run, problem in engine.wait(_LOOK_INTERVAL):
                running.discard(run)
                _note_end(run, problem, folder, notes, stopping)
                folder.write_notes(notes)
                display.message(_sentence(run, notes.get(run.key)))
            display.show(watcher.look(plan, notes))
    return SweepResult(watcher.look(plan, notes), stop.signal)


def _note_end(
    run: PlannedRun, problem: str, folder: SweepFolder, notes: dict[str, Note], stopping: bool
) -> None:
    if is_finished(run, folder.path):
        # What follows training, such as the report, does not undo it.
        notes.pop(run.key, None)
    elif stopping:
        notes[run.key] = Note("stopped")
    else:
        notes[run.key] = Note("failed", problem or "it ended before its last step")


def _sentence(run: PlannedRun, note: Note | None) -> str:
    if note is None:
        return f"finished {run.key}"
    return f"{note.state} {run.key}" + (f": {note.reason}" if note.reason else "")
