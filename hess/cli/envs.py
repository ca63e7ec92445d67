"""`hess envs`."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Envs:
    """List the tasks."""

    images: bool = True
    """Show the variants with a view from above as well."""

    def run(self) -> int:
        """Print the table."""
        from rich.console import Console
        from rich.table import Table

        from hess.envs import TASKS

        table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
        table.add_column("id", no_wrap=True)
        table.add_column("robot", no_wrap=True)
        table.add_column("map")  # gives way on a narrow terminal
        for name in ("horizon", "observation", "goal"):
            table.add_column(name, justify="right", no_wrap=True)
        for task in TASKS.values():
            if self.images or not task.images:
                goal = ", ".join(f"{value:g}" for value in task.goal)
                numbers = (str(task.horizon), str(task.observation), f"({goal})")
                table.add_row(task.id, task.robot, task.map, *numbers)
        # In a pipe nothing may be cut off: the width of a terminal says nothing there.
        Console(width=None if sys.stdout.isatty() else 200).print(table)
        return 0
