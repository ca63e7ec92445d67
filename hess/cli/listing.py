"""`hess envs` and `hess methods`: what there is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Envs:
    """List the tasks."""

    images: bool = True
    """Show the variants with a view from above as well."""

    def run(self) -> None:
        from hess.console import print_table
        from hess.envs import TASKS

        rows = [
            (task.id, task.robot, task.map, str(task.horizon), str(task.observation), goal)
            for task in TASKS.values()
            if self.images or not task.images
            for goal in [f"({', '.join(f'{value:g}' for value in task.goal)})"]
        ]
        numbers = ("horizon", "observation", "goal")
        print_table(("id", "robot", "map"), rows, numbers, fixed=2)


@dataclass(frozen=True)
class Methods:
    """List the methods: HESS, its ablations and the baselines."""

    grids: bool = False
    """List the hyper-parameters that the paper varies, with their values, instead."""

    def run(self) -> None:
        from hess.console import print_table

        if self.grids:
            print_table(("grid", "symbol", "field", "values", "paper"), _grid_rows())
        else:
            print_table(("method", "what it is", "paper", "changes"), _method_rows())


def _method_rows() -> Iterable[tuple[str, ...]]:
    from hess.agents.methods import METHODS

    for row in METHODS.values():
        changes = ", ".join(f"{name}={value}" for name, value in row.overrides.items())
        section = "" if row.section == "none" else f"§{row.section}"
        yield row.name, row.summary, section, changes


def _grid_rows() -> Iterable[tuple[str, ...]]:
    from hess.sweeps.grids import GRIDS

    for name, row in GRIDS.items():
        values = ", ".join(f"{value:g}" for value in row.values)
        yield name, row.symbol, row.field, values, f"§{row.section}"
