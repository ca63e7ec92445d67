"""`hess sweep`, `hess sweep status`, and what commands that start many runs have in common."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from hess.sweeps.plan import Plan
    from hess.sweeps.progress import Overview
    from hess.sweeps.runner import Engine


@dataclass(frozen=True)
class ManyRuns:
    """Flags for where runs run."""

    runs: Path = Path("runs")
    """Folder of all runs; each goes to RUNS/TASK/METHOD/NAME."""
    dry_run: bool = False
    """List what would run and how long it would take; start nothing."""
    cores: tuple[int, ...] = ()
    """Run on these cores of this machine; on all by default."""
    cores_per_run: int = 1
    """Cores that one run gets; 1 brings the most runs per hour."""
    ray: bool = False
    """Run on Ray instead: on a fresh local instance, or where --ray-address says."""
    ray_address: str | None = None
    """HOST:PORT of the head of an existing Ray cluster."""
    gpus_per_run: float = 0.0
    """GPU that one run gets on Ray; 0.25 lets four runs share one."""

    def carry_out(self, plan: Plan) -> int:
        """Run what is missing of a plan, say what became of it; the exit code."""
        from hess.cli import resume_command, signal_code
        from hess.sweeps.overview import display
        from hess.sweeps.runner import SweepFolder, run_sweep

        self._refuse_flags()
        folder = SweepFolder(self.runs)
        if self.dry_run:
            folder.check(plan)
            return self._list(plan)
        folder.lock()
        try:
            folder.check(plan)
            # Before anything is written: a wrong address leaves no plan behind.
            with self._engine() as engine:
                folder.add(plan)
                with display() as shown:
                    outcome = run_sweep(plan, folder, engine, shown)
        finally:
            folder.unlock()
        code = print_outcome(outcome.overview, self.runs)
        if outcome.signal is not None:
            print("stopped; everything is saved")
            print(f"resume with: {resume_command()}")
            return signal_code(outcome.signal)
        return code

    def _refuse_flags(self) -> None:
        from hess.errors import HessError

        if self.ray and self.cores:
            raise HessError("--cores pins runs on this machine; Ray chooses the cores itself")
        for flag, given in (
            ("--ray-address", self.ray_address),
            ("--gpus-per-run", self.gpus_per_run),
        ):
            if given and not self.ray:
                raise HessError(f"{flag} needs --ray")
        if self.cores_per_run < 1:
            raise HessError(f"{self.cores_per_run} cores per run are impossible; 1 or more is not")
        if self.gpus_per_run < 0:
            raise HessError(f"--gpus-per-run {self.gpus_per_run} is impossible; 0 or more is not")

    def _engine(self) -> AbstractContextManager[Engine]:
        if self.ray:
            from hess.sweeps.ray import RayEngine

            return RayEngine(self.runs, self.ray_address, self.cores_per_run, self.gpus_per_run)
        from hess.sweeps.local import LocalPool

        return LocalPool(self.runs, self.cores, self.cores_per_run)

    def _list(self, plan: Plan) -> int:
        from hess.console import console
        from hess.sweeps.local import LocalPool
        from hess.sweeps.overview import duration, table
        from hess.sweeps.progress import Watcher, seconds_left

        slots = 1 if self.ray else LocalPool(self.runs, self.cores, self.cores_per_run).slots
        overview = Watcher(self.runs, slots).look(plan, {})
        missing = sum(each.state != "done" for each in overview.runs)
        hours = sum(seconds_left(overview.runs)) / 3600
        out = console()
        out.print(table(overview.runs, estimates=True))
        out.print(f"{missing} of {len(plan)} runs to do, about {hours:.1f} core-hours")
        if not self.ray:
            out.print(f"{slots} at a time here: about {duration(overview.seconds_left)}")
        return 0


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
        from hess.sweeps.plan import parse_settings, product

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
        from hess.console import console
        from hess.sweeps.overview import table
        from hess.sweeps.progress import Watcher
        from hess.sweeps.runner import SweepFolder

        folder = SweepFolder(self.folder)
        plan, notes = folder.read_plan(), folder.present_notes()
        running = sum(note.state == "running" for note in notes.values())
        overview = Watcher(self.folder, max(running, 1)).look(plan, notes)
        console().print(table(overview.runs))
        return print_outcome(overview, self.folder)


def print_outcome(overview: Overview, sweep: Path) -> int:
    """Print what became of the runs and of each that has failed; 1 if any has."""
    from hess.console import console
    from hess.sweeps.overview import failures, summary

    out = console()
    out.print(summary(overview))
    failed = failures(overview, sweep)
    if failed is None:
        return 0
    out.print(failed)
    return 1
