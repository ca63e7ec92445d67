"""Training runs that are watched from outside: in a temporary folder, silently."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hess.agents.agent import Agent
from hess.config import Config
from hess.runs.folder import RunFolder
from hess.training.trainer import Trainer


class Moment(NamedTuple):
    """Right after a round was learned from."""

    step: int
    seconds: float
    value: float


class Watch:
    """A display that shows nothing and notes time, and a value, after every round."""

    def __init__(self, value: Callable[[], float] = lambda: 0.0):
        self.moments: list[Moment] = []
        self._value = value

    def update(self, step: int, metrics: dict[str, float]) -> None:
        """A round has been learned from."""
        self.moments.append(Moment(step, time.perf_counter(), self._value()))

    def evaluation(self, values: dict[str, float], seconds: float) -> None:
        """Not shown."""

    def progress(self, what: str, share: float) -> None:
        """Not shown."""

    def message(self, text: str) -> None:
        """Not shown."""


def train_watched(config: Config, watch: Watch) -> Agent:
    """Train from the start to the end; the agent as it is then."""
    with tempfile.TemporaryDirectory(prefix="hess-bench-") as folder:
        trainer = Trainer(config, RunFolder(Path(folder) / "run"), watch)
        trainer.run()
        return trainer.agent
