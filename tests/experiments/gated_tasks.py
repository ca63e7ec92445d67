"""A tiny task whose runs wait in the middle until a test lets them go on.

With HESS_TEST_GATE=FOLDER the first environment that has lived long enough writes its process id
to FOLDER/reached and waits for FOLDER/open. FOLDER/broken makes every step fail.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import gymnasium

from tests.faults.tiny_tasks import HORIZON, Floats, Tiny

GATED = "HessSweeps/Gated-v0"
_GATE_AT = 9 * HORIZON  # of 20 episodes
_POLL = 0.01  # seconds


class Gated(Tiny):
    """Like the tiny task; waiting changes nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._lived = 0

    def step(self, action: Floats) -> Any:
        self._lived += 1
        if folder := os.environ.get("HESS_TEST_GATE"):
            if (Path(folder) / "broken").exists():
                raise RuntimeError("the simulator is gone")
            if self._lived == _GATE_AT:
                wait_at(Path(folder))
        return super().step(action)


def wait_at(folder: Path) -> None:
    """Say who is here and wait; only the first one does."""
    try:
        with (folder / "reached.tmp").open("x") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        return
    (folder / "reached.tmp").rename(folder / "reached")
    await_file(folder / "open")


def await_file(path: Path) -> str:
    """Its content, once it is there."""
    while not path.exists():
        time.sleep(_POLL)
    return path.read_text()


if GATED not in gymnasium.registry:
    gymnasium.register(
        GATED,
        entry_point=f"{__name__}:Gated",
        max_episode_steps=HORIZON,
        disable_env_checker=True,
        order_enforce=False,
    )
