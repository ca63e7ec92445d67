"""What a run writes as it goes: metrics.jsonl, eval.csv, TensorBoard events.

The two text files are the truth. A checkpoint remembers how far they had come, so that a resumed
run cuts off what came after it and continues as if nothing had happened.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from hess.errors import HessError
from hess.files import named, write_atomic
from hess.runs.folder import RunFolder
from hess.runs.logs import advance, read_evaluations, starts_with
from hess.runs.manifest import Position, RecordsPosition

EVALUATION_COLUMNS = (
    *("step", "episodes", "success_rate", "mean_return", "train_success"),
    "success_at_end",
)
_HEADER = ",".join(EVALUATION_COLUMNS) + "\n"


class Records:
    """The writers of one run."""

    def __init__(self, folder: RunFolder, tensorboard: bool):
        self._folder = folder
        self._metrics = Position(0, 0)
        self._evaluations = _HEADER
        self._tensorboard = tensorboard
        self._first_step = 0
        self._events: EventFile | None = None

    def start(self) -> None:
        write_atomic(self._folder.metrics_file, "")
        write_atomic(self._folder.evaluations_file, self._evaluations)

    def resume(self, position: RecordsPosition, step: int, warn: Callable[[str], None]) -> None:
        self._metrics, self._evaluations = position.metrics, position.evaluations
        self._cut_metrics(warn)
        self._cut_evaluations(warn)
        self._first_step = step + 1

    def metrics(self, step: int, values: dict[str, float]) -> None:
        """A line of metrics.jsonl, and the same as TensorBoard scalars."""
        line = json.dumps({"step": step} | values) + "\n"
        _append(self._folder.metrics_file, line)
        self._metrics = advance(self._metrics, line.encode())
        self._add_events(step, values)

    def evaluation(self, values: dict[str, float]) -> None:
        """A row of eval.csv."""
        # A run keeps the columns that it began with, also if later versions write more.
        columns = self._evaluations.partition("\n")[0].split(",")
        row = ",".join(f"{values[name]:.10g}" for name in columns) + "\n"
        _append(self._folder.evaluations_file, row)
        self._evaluations += row
        shown = {f"evaluation/{name}": values[name] for name in EVALUATION_COLUMNS[2:]}
        self._add_events(int(values["step"]), shown)

    def position(self) -> RecordsPosition:
        """For the checkpoint; what it counts on is on disk first."""
        _sync(self._folder.metrics_file)
        _sync(self._folder.evaluations_file)
        return RecordsPosition(self._metrics, self._evaluations)

    def close(self) -> None:
        if self._events is not None:
            self._events.close()

    def _add_events(self, step: int, values: dict[str, float]) -> None:
        if not self._tensorboard:
            return
        if self._events is None:
            self._events = EventFile(self._folder.tensorboard, self._first_step)
        self._events.add(step, values)

    def _cut_metrics(self, warn: Callable[[str], None]) -> None:
        """Damaged metrics must not pass for measured ones, nor be the end of a run."""
        path = self._folder.metrics_file
        if starts_with(path, self._metrics):
            with named("write", path):
                os.truncate(path, self._metrics.size)
            return
        aside = path.with_name(f"{path.name}.damaged")
        kept = "there is no old file"
        with named("rename", path), suppress(FileNotFoundError):
            path.replace(aside)
            kept = f"the old file is {str(aside)!r}"
        warn(f"{str(path)!r} is damaged and begins anew; {kept}")
        write_atomic(path, "")
        self._metrics = Position(0, 0)

    def _cut_evaluations(self, warn: Callable[[str], None]) -> None:
        path, text = self._folder.evaluations_file, self._evaluations.encode()
        if starts_with(path, advance(Position(0, 0), text)):
            with named("write", path):
                os.truncate(path, len(text))
            return
        write_atomic(path, text)
        warn(f"{str(path)!r} was damaged; it is restored from the checkpoint")


def refuse_orphans(folder: RunFolder, checkpoint_interval: int) -> None:
    """Results that need a checkpoint to be continued, where there is none, are not overwritten."""
    steps = read_evaluations(folder).get("step", [])
    if sum(step >= checkpoint_interval for step in steps) > 1:
        raise HessError(
            f"{str(folder.path)!r} has results up to step {steps[-1]:,.0f} but no checkpoint; "
            "bring its checkpoints back, or remove the folder to start over"
        )


def _append(path: Path, line: str) -> None:
    with named("write", path), path.open("ab") as file:
        file.write(line.encode())


def _sync(path: Path) -> None:
    with named("write", path), path.open("rb") as file:
        os.fsync(file.fileno())


# --- TensorBoard --------------------------------------------------------------------------------


class EventFile:
    """One more file of scalars in a TensorBoard folder."""

    def __init__(self, folder: Path, first_step: int):
        """Points of earlier files from `first_step` on are hidden: they were never reached."""
        from tensorboardX.proto.event_pb2 import Event, SessionLog
        from tensorboardX.record_writer import RecordWriter

        self._folder, now = folder, time.time()
        name = f"events.out.tfevents.{now:.0f}.{socket.gethostname()}.{first_step}"
        with named("write to", folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._writer: Any = RecordWriter(str(folder / name))
        started = SessionLog(status=SessionLog.START)
        self._write(Event(wall_time=now, file_version="brain.Event:2"))
        self._write(Event(wall_time=now, step=first_step, session_log=started))

    def add(self, step: int, values: dict[str, float]) -> None:
        """One event with all values."""
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.proto.summary_pb2 import Summary

        scalars = [Summary.Value(tag=name, simple_value=value) for name, value in values.items()]
        self._write(Event(wall_time=time.time(), step=step, summary=Summary(value=scalars)))

    def close(self) -> None:
        """Nothing is buffered, unless writing has failed: then it fails again."""
        with named("write to", self._folder):
            self._writer.close()

    def _write(self, event: Any) -> None:
        try:
            with named("write to", self._folder):
                self._writer.write(event.SerializeToString())
                self._writer.flush()
        except HessError:
            with suppress(OSError):
                self._writer.close()
            raise
