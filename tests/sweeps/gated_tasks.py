"""A tiny task whose runs wait in the middle until a test lets them go on.

With HESS_TEST_GATE=FOLDER an environment that has lived long enough takes one of the files
FOLDER/place-N, writes its process id to FOLDER/reached-N and waits for FOLDER/open-N. Where there
is no place left it goes on. FOLDER/broken makes every step fail.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import gymnasium

from hess.arrays import Floats
from tests.faults.tiny_tasks import HORIZON, Tiny

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
            # Not at once: an environment that fails when it is looked at is refused before.
            if self._lived > HORIZON and (Path(folder) / "broken").exists():
                raise RuntimeError("the simulator is gone")
            if self._lived == _GATE_AT:
                wait_at(Path(folder))
        return super().step(action)


def wait_at(folder: Path) -> None:
    """Take a place at the gate, if there is one left, say who is here, and wait."""
    for place in sorted(folder.glob("place-*")):
        number = place.name.partition("-")[2]
        try:
            place.rename(folder / f"taken-{number}")
        except FileNotFoundError:
            continue  # somebody else was faster
        (folder / f"taken-{number}").write_text(str(os.getpid()))
        (folder / f"taken-{number}").rename(folder / f"reached-{number}")
        await_text(folder / f"open-{number}", "")
        return


def await_text(path: Path, text: str) -> str:
    """The content of a file, once it is there and has the text in it."""
    while not (path.exists() and text in (content := path.read_text())):
        time.sleep(_POLL)
    return content


if GATED not in gymnasium.registry:
    gymnasium.register(
        GATED,
        entry_point=f"{__name__}:Gated",
        max_episode_steps=HORIZON,
        disable_env_checker=True,
        order_enforce=False,
    )
