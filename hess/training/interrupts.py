"""Ctrl-C and SIGTERM end a run after the current round; a second one ends it at once.

A signal that is ignored when a run begins stays ignored. A script's background, `nohup` and cron
ignore SIGINT so that a Ctrl-C meant for something else does not end the run; SIGTERM does.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from types import FrameType
from typing import Any

_NOTICE = "stopping when this round is learned, then saving; again to leave at once"


class StopOnSignal:
    """A context in which the first signal is remembered and the second one raises."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self._previous: dict[int, Any] = {}

    @property
    def requested(self) -> bool:
        return self.signal is not None

    @property
    def advice(self) -> str | None:
        """How to stop this process, for a log; None where nothing would be saved."""
        if signal.SIGTERM not in self._previous:
            return None
        also = "Ctrl-C or " if signal.SIGINT in self._previous else ""
        return f"to stop: {also}`kill {os.getpid()}` saves a checkpoint"

    def __enter__(self) -> StopOnSignal:
        # Only the main thread may set handlers; a run started from another one just has none.
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._previous[number] = signal.signal(number, self._remember)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _remember(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.signal = number
        # Not print: the signal may have come in the middle of one.
        with contextlib.suppress(OSError):
            os.write(2, f"\n{_NOTICE}\n".encode())
