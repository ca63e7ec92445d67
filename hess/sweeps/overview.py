"""What a person sees of a sweep: a table that is redrawn on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from hess.console import plain_table
from hess.runs.folder import RunFolder
from hess.runs.logs import last_lines
from hess.sweeps.progress import Overview, Progress, State, seconds_left
from hess.sweeps.runner import SweepDisplay

_LINE_INTERVAL = 60.0  # seconds between two plain overviews
_MOST_ROWS = 30  # of a live table
_STYLES: dict[State, str] = {
    "done": "green",
    "running": "cyan",
    "failed": "bold red",
    "stopped": "yellow",
    "queued": "dim",
}


def duration(seconds: float) -> str:
    """For people: 40 s, 12 min, 3 h 05 min.

    >>> [duration(each) for each in (0.4, 59, 59.7, 3_599, 3_600, 11_100)]
    ['0 s', '59 s', '1 min', '59 min', '1 h 00 min', '3 h 05 min']
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"


def summary(overview: Overview) -> str:
    """Counts and the time that is left, in one line."""
    counts = ", ".join(f"{count} {state}" for state, count in overview.counts.items())
    left = overview.seconds_left
    return f"{counts} of {len(overview.runs)} runs" + (
        f"; about {duration(left)} left" if left > 0 else ""
    )


def table(runs: Sequence[Progress], *, estimates: bool = False) -> Table:
    """A row per run; with estimates, what each still needs on one core."""
    numbers = ("steps", "of", "success", "steps/s", *(["needs"] if estimates else []))
    shown = plain_table(("run", "state"), numbers, fixed=1)
    shown.columns[0].overflow = "fold"
    for each, left in zip(runs, seconds_left(runs), strict=True):
        shown.add_row(
            escape(each.run.key),
            f"[{_STYLES[each.state]}]{each.state}[/]",
            f"{each.step:,}",
            f"{each.run.config.steps:,}",
            "" if each.success is None else f"{each.success:.2f}",
            "" if each.speed is None else f"{each.speed:.0f}",
            *([duration(left)] if estimates else []),
        )
    return shown


def failures(overview: Overview, sweep: Path) -> Table | None:
    """Every failed run with its reason and the end of its log; None if there is none."""
    failed = [each for each in overview.runs if each.state == "failed"]
    if not failed:
        return None
    shown = Table(title="failed runs", title_justify="left", header_style="bold", show_lines=True)
    for name in ("run", "why", "last lines of its log"):
        shown.add_column(name, overflow="fold")
    for each in failed:
        printed = last_lines(RunFolder(each.run.path(sweep)).log_file)
        lines = "\n".join([line for line in printed if line.strip()][-5:]) or "nothing"
        shown.add_row(escape(each.run.key), escape(each.reason), escape(lines))
    return shown


@contextmanager
def display() -> Iterator[SweepDisplay]:
    """A live table where a person watches, plain lines where not."""
    if sys.stdout.isatty():
        with Live(console=Console(), refresh_per_second=4) as live:
            yield LiveOverview(live)
    else:
        yield PlainOverview()


class PlainOverview:
    """A line when something happens, and all that is running once a minute."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def show(self, overview: Overview) -> None:
        if time.monotonic() - self._last < _LINE_INTERVAL:
            return
        self._last = time.monotonic()
        self.message(summary(overview))
        for each in overview.runs:
            if each.state == "running":
                success = "" if each.success is None else f", success {each.success:.2f}"
                self.message(f"  {each.run.key}: {each.share:.0%}{success}")

    def message(self, text: str) -> None:
        """A line at once, also into a pipe."""
        print(text, flush=True)


class LiveOverview:
    """What is running and what has failed first, then what there is room for."""

    def __init__(self, live: Live):
        self._live = live

    def show(self, overview: Overview) -> None:
        order: list[State] = ["failed", "running", "stopped", "queued", "done"]
        runs = sorted(overview.runs, key=lambda each: order.index(each.state))
        hidden = len(runs) - _MOST_ROWS
        more = [f"… and {hidden} more"] if hidden > 0 else []
        self._live.update(Group(table(runs[:_MOST_ROWS]), *more, summary(overview)))

    def message(self, text: str) -> None:
        self._live.console.print(text, highlight=False, markup=False)
