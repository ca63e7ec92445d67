"""`hess methods`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Methods:
    """List the methods: HESS, its ablations and the baselines."""

    grids: bool = False
    """List the hyper-parameters that the paper varies, with their values, instead."""

    def run(self) -> int:
        """Print the table."""
        if self.grids:
            _show(("grid", "symbol", "field", "values", "paper"), _grid_rows())
        else:
            _show(("method", "what it is", "paper", "changes"), _method_rows())
        return 0


def _method_rows() -> Iterable[tuple[str, ...]]:
    from hess.agents.methods import METHODS

    for row in METHODS.values():
        changes = ", ".join(f"{name}={value}" for name, value in row.overrides.items())
        yield row.name, row.summary, _section(row.section), changes


def _section(name: str) -> str:
    return "" if name == "none" else f"§{name}"


def _grid_rows() -> Iterable[tuple[str, ...]]:
    from hess.sweeps.suites import GRIDS

    for row in GRIDS.values():
        values = ", ".join(f"{value:g}" for value in row.values)
        source = f"§{row.section}" + (" (values ours)" if row.chosen else "")
        yield row.name, row.symbol, row.field, values, source


def _show(columns: Sequence[str], rows: Iterable[tuple[str, ...]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for name in columns:
        table.add_column(name)
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 200).print(table)
