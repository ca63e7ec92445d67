"""TensorBoard events, written at once and by the training thread.

`tensorboardX.SummaryWriter` hands events to a thread of its own that dies unseen on a full disk,
and then blocks its caller for ever; the parts it is made of are used here directly.
"""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from hess.errors import HessError
from hess.files import named


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
