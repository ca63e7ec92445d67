"""Tables for people: as wide as the terminal, and in a pipe as wide as they need to be."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

_PLAIN_WIDTH = 400  # the width of a terminal says nothing in a pipe, and nothing may be cut off


def console() -> Console:
    """Standard output."""
    return Console(width=None if sys.stdout.isatty() else _PLAIN_WIDTH, highlight=False)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Sequence[str] = (),
    fixed: int = 0,
) -> None:
    """Print rows of such a table."""
    table = plain_table(columns, numbers, fixed)
    for row in rows:
        table.add_row(*row)
    console().print(table)


def plain_table(columns: Sequence[str], numbers: Sequence[str] = (), fixed: int = 0) -> Table:
    """Columns of text, the first `fixed` of which never give way, then columns of numbers."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for index, name in enumerate(columns):
        table.add_column(name, no_wrap=index < fixed)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table
