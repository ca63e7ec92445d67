"""What the user sees while a run trains: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from hess.config import Config

_SHOWN = {
    "train/success": "success of the last round",
    "train/recent_success": "recent training success",
    "train/coverage": "share of the maze visited",
    "train/flipped_share": "share of time flipped",
    "low/progress": "progress to subgoals per segment (φ)",
    "low/progress_share": "share of the way to a subgoal",
    "low/move": "metres per segment",
    "exploration/probability": "p, active selection",
    "exploration/visited_cells": "visited cells of φ-space",
    "low/temperature": "temperature, low level",
    "high/temperature": "temperature, high level",
    "low/value": "value, low level",
    "high/value": "value, high level",
    "representation/span": "span of φ",
    "representation/change": "change of φ at its last update",
    "representation/position_fit": "x, y explained by φ (R²)",
}
_TIMES = {
    "time/collection": "environment",
    "time/low": "low level",
    "time/high": "high level",
    "time/representation": "φ",
    "time/evaluation": "evaluation",
}
_LINE_INTERVAL = 5_000  # steps between plain lines


class Display(Protocol):
    """Where the trainer reports to."""

    def update(self, step: int, metrics: dict[str, float]) -> None:
        """A round has been learned from."""

    def evaluation(self, values: dict[str, float], seconds: float) -> None:
        """An evaluation is over."""

    def progress(self, what: str, share: float) -> None:
        """A long computation has come this far."""

    def message(self, text: str) -> None:
        """Something that the user should read."""


def display(config: Config) -> AbstractContextManager[Display]:
    """A live table where a person watches, plain lines where not."""
    if not sys.stdout.isatty():
        return nullcontext(PlainDisplay(config.steps))
    return LiveDisplay(config.steps, f"{config.method} on {config.task}, seed {config.seed}")


class PlainDisplay:
    """A line per evaluation and one every few thousand steps."""

    def __init__(self, steps: int):
        self._steps = steps
        self._last_line = 0
        self._heard = True
        self._clock = _Clock()

    def update(self, step: int, metrics: dict[str, float]) -> None:
        self._clock.add(step, metrics)
        if step // _LINE_INTERVAL > self._last_line // _LINE_INTERVAL or step >= self._steps:
            self._last_line = step
            self.message(
                f"step {step:>9,}/{self._steps:,}  {self._clock.speed():5.0f} steps/s  "
                f"success {metrics.get('train/recent_success', 0):.2f}  "
                f"coverage {metrics.get('train/coverage', 0):.2f}  "
                f"progress {metrics.get('low/progress', 0):.2f}  "
                f"p {metrics.get('exploration/probability', 0):.2f}  {self._clock.split()}"
            )

    def evaluation(self, values: dict[str, float], seconds: float) -> None:
        self._clock.add_evaluation(seconds)
        self.message(
            f"evaluation at step {int(values['step']):,}: success rate "
            f"{values['success_rate']:.2f} over {int(values['episodes'])} episodes"
        )

    def progress(self, what: str, share: float) -> None:
        """Too much for a log."""

    def message(self, text: str) -> None:
        """Print a line at once, also into a pipe.

        A log on a full disk, or a reader that has left, is no reason to end a night's run.
        """
        if self._heard:
            try:
                print(text, flush=True)
            except OSError:
                self._heard = False


class LiveDisplay:
    """A progress bar and a table that are redrawn in place."""

    def __init__(self, steps: int, title: str):
        self._clock = _Clock()
        self._title = title
        self._values: dict[str, float] = {}
        self._success: str = "none yet"
        self._activity = ""
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        self._task = self._bar.add_task("steps", total=steps)
        self._live = Live(console=Console(), refresh_per_second=4)

    def __enter__(self) -> LiveDisplay:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def update(self, step: int, metrics: dict[str, float]) -> None:
        self._clock.add(step, metrics)
        self._values |= metrics
        self._activity = ""
        self._bar.update(self._task, completed=step)
        self._draw()

    def evaluation(self, values: dict[str, float], seconds: float) -> None:
        self._clock.add_evaluation(seconds)
        step, rate = int(values["step"]), values["success_rate"]
        self._success = f"{rate:.2f} at step {step:,}"
        self.message(f"evaluation at step {step:,}: success rate {rate:.2f}")
        self._draw()

    def progress(self, what: str, share: float) -> None:
        self._activity = f"learning {what}: {share:.0%}"
        self._draw()

    def message(self, text: str) -> None:
        self._live.console.print(text, highlight=False, markup=False)

    def _draw(self) -> None:
        table = Table(title=Text(self._title), show_header=False, box=None, title_justify="left")
        table.add_column(style="dim")
        table.add_column(justify="right")
        table.add_row("success rate in evaluation", self._success)
        for name, label in _SHOWN.items():
            if name in self._values:
                table.add_row(label, f"{self._values[name]:.3g}")
        table.add_row("speed", f"{self._clock.speed():.0f} steps/s")
        table.add_row("time", self._clock.split())
        self._live.update(Group(table, self._bar, self._activity))


class _Clock:
    """Speed since the start of this process, and where the time went."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._first_step: int | None = None
        self._step = 0
        self._seconds = dict.fromkeys(_TIMES, 0.0)

    def add(self, step: int, metrics: dict[str, float]) -> None:
        if self._first_step is None:
            self._first_step, self._start = step, time.perf_counter()
        self._step = step
        for name in _TIMES:
            self._seconds[name] += metrics.get(name, 0.0)

    def add_evaluation(self, seconds: float) -> None:
        self._seconds["time/evaluation"] += seconds

    def speed(self) -> float:
        elapsed = time.perf_counter() - self._start
        return (self._step - (self._first_step or 0)) / elapsed if elapsed > 0 else 0.0

    def split(self) -> str:
        """Where the time went. Collection overlaps learning, so the parts may exceed the whole."""
        total = sum(self._seconds.values())
        if total == 0:
            return ""
        parts = [
            f"{label} {self._seconds[name] / total:.0%}"
            for name, label in _TIMES.items()
            if self._seconds[name] > 0
        ]
        return ", ".join(parts)
