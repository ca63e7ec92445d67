"""Tiny sweeps: their command lines and what has to be equal between two of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hess.sweeps.plan import Plan, product
from tests.faults.runs import Outcome, outcome
from tests.faults.tiny_tasks import HORIZON
from tests.sweeps import gated_tasks
from tests.sweeps.gated_tasks import await_text

TASK = f"{gated_tasks.__name__}:{gated_tasks.GATED}"
STEPS = 20 * HORIZON
SETTINGS: dict[str, Any] = {
    "steps": STEPS,
    "capacity": 8 * HORIZON,
    "subgoal_interval": 4,
    "low.hidden": (8,),
    "low.batch_size": 8,
    "high.hidden": (8,),
    "high.batch_size": 8,
    "representation.first_update": 3,
    "evaluation.interval": 5 * HORIZON,
    "evaluation.episodes": 2,
    "record.checkpoint_interval": 4 * HORIZON,
    "record.snapshot_interval": 10 * HORIZON,
    "record.tensorboard": False,
}


def tiny_plan(seeds: int = 2) -> Plan:
    """Flat agents on the gated task: the fewest programs to compile."""
    settings = {name: (value,) for name, value in SETTINGS.items()}
    return product(["sac"], [TASK], range(seeds), settings)


def command(runs: Path, seeds: int = 2, *flags: str) -> list[str]:
    """The same as a command line, one run at a time."""
    words = [f"{name}={_text(value)}" for name, value in SETTINGS.items()]
    return [
        *("sweep", "--runs", str(runs), "--methods", "sac", "--tasks", TASK),
        *("--seeds", str(seeds), "--set", *words, *flags),
    ]


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def outcomes(runs: Path, seeds: int = 2) -> dict[str, Outcome]:
    """By run."""
    return {run.key: outcome(run.path(runs)) for run in tiny_plan(seeds)}


class Gate:
    """The folder in which runs wait, and somebody who meets them there."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._places = 0
        folder.mkdir()

    def meet(self, act: Callable[[int], None]) -> threading.Thread:
        """In a thread: when a run has come, act with its process id, then let it go on."""
        number = self._places
        self._places += 1

        def wait_and_act() -> None:
            pid = int(await_text(self.folder / f"reached-{number}", ""))
            try:
                act(pid)
            finally:
                (self.folder / f"open-{number}").touch()

        thread = threading.Thread(target=wait_and_act, daemon=True)
        thread.start()
        (self.folder / f"place-{number}").touch()
        return thread
