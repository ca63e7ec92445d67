"""`hess sweep` and `hess sweep status`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated

import tyro

from hess.cli.sweeping import ManyRuns, tell


@dataclass(frozen=True)
class Sweep(ManyRuns):
    """Train methods on tasks with several seeds; the same command again does what is missing."""

    methods: tuple[str, ...] = ("hess",)
    """Names from `hess methods`."""
    tasks: tuple[str, ...] = ("PointMaze",)
    """Names from `hess envs`, Gymnasium ids, or module:Env-v0."""
    seeds: int = 5
    """How many seeds, from 0 on; a larger number later adds runs."""
    preset: str = "default"
    """Where the other values come from: default (measured best) or paper (literal)."""
    settings: Annotated[
        tyro.conf.UseAppendAction[tuple[tuple[str, ...], ...]],
        tyro.conf.arg(name="set", metavar="FIELD=VALUE [VALUE ...]"),
    ] = ()
    """Fields of `hess train`, every combination of their values: --set steps=1000000 --set
    low.hindsight=0 0.3. Layers are written 256,256, arguments of the environment env.NAME=VALUE.
    Without steps every run has its task's budget, see docs/reproducing.md."""

    def run(self) -> int:
        """Plan and carry out."""
        from hess.sweeps.plan import product
        from hess.sweeps.settings import parse_settings

        settings = parse_settings(chain.from_iterable(self.settings))
        seeds = range(self.seeds)
        return self.carry_out(product(self.methods, self.tasks, seeds, settings, self.preset))


@dataclass(frozen=True)
class Status:
    """Show how far a sweep is, or what has become of it; exit code 1 if runs have failed."""

    folder: tyro.conf.Positional[Path] = Path("runs")
    """The sweep's folder."""

    def run(self) -> int:
        """Print every run, then the failures."""
        from hess.sweeps.conduct import SweepFolder
        from hess.sweeps.overview import console, table
        from hess.sweeps.progress import Watcher

        folder = SweepFolder(self.folder)
        plan, notes = folder.read_plan(), folder.present_notes()
        running = sum(note.state == "running" for note in notes.values())
        overview = Watcher(self.folder, max(running, 1)).look(plan, notes)
        console().print(table(overview.runs))
        return tell(overview, self.folder)
