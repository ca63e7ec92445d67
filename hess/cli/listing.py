"""`hess envs` and `hess methods`: what there is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Envs:
    """List the tasks."""

    images: bool = True
    """Show the variants with a view from above as well."""

    def run(self) -> int:
        """Print the table."""
        from hess.envs import TASKS

        rows = [
            (task.id, task.robot, task.map, str(task.horizon), str(task.observation), goal)
            for task in TASKS.values()
            if self.images or not task.images
            for goal in [f"({', '.join(f'{value:g}' for value in task.goal)})"]
        ]
        _show(("id", "robot", "map"), rows, numbers=("horizon", "observation", "goal"), fixed=2)
        return 0


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


def _show(
    columns: Sequence[str],
    rows: Iterable[tuple[str, ...]],
    numbers: Sequence[str] = (),
    fixed: int = 0,
) -> None:
    from hess.console import console, plain_table

    table = plain_table(columns, numbers, fixed)
    for row in rows:
        table.add_row(*row)
    console().print(table)
