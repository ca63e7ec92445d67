"""Conducting a sweep: what is unfinished is started, watched, noted, and never lost."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from hess.experiments.plan import Plan, PlannedRun
from hess.experiments.progress import Overview, Watcher, is_finished
from hess.experiments.sweep import Note, SweepFolder, without_running
from hess.training.interrupts import StopOnSignal

_LOOK_INTERVAL = 2.0  # seconds between two looks at what is running


class Ending(NamedTuple):
    """How a run's process ended."""

    problem: str  # empty if it says that all is well

    @classmethod
    def of_code(cls, code: int) -> Ending:
        """From what a process returned; a shell's 128 + n and Python's -n are both a signal."""
        number = -code if code < 0 else code - 128
        try:
            return cls(f"ended by {signal.Signals(number).name}") if code else cls("")
        except ValueError:
            return cls(f"exit code {code}")


class Engine(Protocol):
    """Where runs run."""

    @property
    def slots(self) -> int:
        """Runs at a time."""

    def start(self, run: PlannedRun) -> None:
        """Start a run; there are never more than `slots`."""

    def wait(self, seconds: float) -> Sequence[tuple[PlannedRun, Ending]]:
        """Runs that have ended, as soon as there are any, or none after so many seconds."""

    def stop(self) -> None:
        """Ask all runs to save and end."""


class Display(Protocol):
    """Who is told."""

    def show(self, overview: Overview) -> None:
        """All runs at this moment."""

    def message(self, text: str) -> None:
        """Something happened."""


@dataclass(frozen=True)
class Outcome:
    """How a sweep ended."""

    overview: Overview
    signal: int | None  # what asked it to stop


def conduct(plan: Plan, folder: SweepFolder, engine: Engine, display: Display) -> Outcome:
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
            for run, ending in engine.wait(_LOOK_INTERVAL):
                running.discard(run)
                _note_end(run, ending, folder, notes, stopping)
                folder.write_notes(notes)
                display.message(_sentence(run, notes.get(run.key)))
            display.show(watcher.look(plan, notes))
    return Outcome(watcher.look(plan, notes), stop.signal)


def _note_end(
    run: PlannedRun, ending: Ending, folder: SweepFolder, notes: dict[str, Note], stopping: bool
) -> None:
    if is_finished(run, folder.path):
        # What follows training, such as the report, does not undo it.
        notes.pop(run.key, None)
    elif stopping:
        notes[run.key] = Note("stopped")
    else:
        notes[run.key] = Note("failed", ending.problem or "it ended before its last step")


def _sentence(run: PlannedRun, note: Note | None) -> str:
    if note is None:
        return f"finished {run.key}"
    return f"{note.state} {run.key}" + (f": {note.reason}" if note.reason else "")
