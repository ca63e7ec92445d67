"""`hess methods`."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Methods:
    """List the methods: HESS, its ablations and the baselines."""

    def run(self) -> int:
        """Print the table."""
        from rich.console import Console
        from rich.table import Table

        from hess.agents.methods import METHODS

        table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
        for name in ("method", "what it is", "paper", "changes"):
            table.add_column(name)
        for row in METHODS.values():
            changes = ", ".join(f"{name}={value}" for name, value in row.overrides.items())
            table.add_row(row.name, row.summary, f"§{row.section}", changes)
        Console(width=None if sys.stdout.isatty() else 200).print(table)
        return 0
