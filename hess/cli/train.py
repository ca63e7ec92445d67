"""`hess methods`, `hess train` and `hess evaluate`."""

from __future__ import annotations

import argparse
import dataclasses
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tyro

from hess.agents.methods import METHODS, import_method
from hess.cli import resume_command, signal_code
from hess.config import Config
from hess.config.presets import preset
from hess.envs.arguments import merged

if TYPE_CHECKING:
    from hess.api import LoadedAgent


@dataclass(frozen=True)
class Methods:
    """List the methods: HESS, its ablations and the baselines."""

    grids: bool = False
    """List the hyper-parameters that the paper varies, with their values, instead."""

    def run(self) -> None:
        if self.grids:
            self._list_grids()
        else:
            self._list_methods()

    def _list_methods(self) -> None:
        from hess.console import print_table

        rows = []
        for row in METHODS.values():
            changes = ", ".join(f"{name}={value}" for name, value in row.overrides.items())
            section = "" if row.section == "none" else f"§{row.section}"
            rows.append((row.name, row.summary, section, changes))
        print_table(("method", "what it is", "paper", "changes"), rows)

    def _list_grids(self) -> None:
        from hess.console import print_table
        from hess.sweeps.grids import GRIDS

        rows = []
        for name, row in GRIDS.items():
            values = ", ".join(f"{value:g}" for value in row.values)
            rows.append((name, row.symbol, row.field, values, f"§{row.section}"))
        print_table(("grid", "symbol", "field", "values", "paper"), rows)


@dataclass(frozen=True)
class Train(Config):
    """Train an agent on a task; the same command again resumes where it stopped."""

    task: tyro.conf.Positional[str] = "PointMaze"
    """A name from `hess envs`, a Gymnasium id, or module:Env-v0."""
    steps: int | None = None  # type: ignore[assignment]  # a config's are decided by then
    """Environment steps to train for; by default those that the run was made for, for a new one the
    budget of its task (docs/reproducing.md), for a task without a budget 1,000,000."""
    preset: str = "default"
    """Where the values below come from: default (measured best) or paper (literal)."""
    runs: Path = Path("runs")
    """Folder of all runs; this one goes to RUNS/TASK/METHOD/NAME."""
    name: str | None = None
    """Name of the run; seed-N by default."""
    cores: tuple[int, ...] = ()
    """Pin the run to these cores, one run per core being fastest for many runs."""

    @classmethod
    def defaults(cls, arguments: Sequence[str]) -> Train:
        """The preset's and the method's values, so that --help shows them and flags win."""
        parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        parser.add_argument("--preset", nargs="?")
        parser.add_argument("--method", nargs="?")
        chosen, _ = parser.parse_known_args(arguments)
        preset_name = chosen.preset or "default"
        config = _start(chosen.method or "hess", preset_name)
        return cls(**_fields(config) | {"steps": None}, preset=preset_name)

    def config(self) -> Config:
        """The run's config, without what only the command line needs."""
        fields = _fields(self) | {"env": merged(self.env)}
        if self.steps is not None:
            return Config(**fields)
        from hess.api import with_usual_steps

        fields["steps"] = _start(self.method, self.preset).steps
        return with_usual_steps(Config(**fields), self.runs, self.name)

    def run(self) -> int:
        """Train and say where everything lies."""
        from hess import runtime

        runtime.configure(cores=self.cores or None)
        from hess.analysis.curves import draw_curve
        from hess.api import train_config
        from hess.runs.folder import RunFolder

        try:
            done = train_config(self.config(), self.runs, self.name)
        except KeyboardInterrupt:
            # Asked twice: Python would wait for episodes that are being played. Files are
            # complete or not there, so nothing is lost but the steps since the last checkpoint.
            sys.stdout.flush()
            os._exit(signal_code(signal.SIGINT))
        folder = RunFolder(done.path)
        if not done.result.finished:
            print(f"stopped at step {done.result.step:,}; everything is saved")
            print(f"resume with: {resume_command()}")
            return signal_code(done.result.signal or signal.SIGTERM)
        draw_curve(folder)
        rate = done.result.success_rate
        print(f"finished {done.result.step:,} steps, success rate {rate:.2f}")
        print(f"learning curve  {folder.curve_file}")
        print(f"report          {_report(folder.path)}")
        print(f"evaluations     {folder.evaluations_file}")
        print(f"metrics         {folder.metrics_file}")
        print(f"checkpoint      {folder.path / 'checkpoints'}")
        return 0


def _report(run: Path) -> str:
    """Where the report is, or why there is none: a method of one's own may picture other things."""
    from hess.errors import HessError
    from hess.runs.run import find_runs
    from hess.viewer.report import write_report

    out = run / "report.html"
    try:
        write_report(find_runs([run]), out)
    except HessError as error:
        return f"none, {error}"
    return str(out)


def _start(method: str, preset_name: str) -> Config:
    return import_method(method).apply(preset(preset_name))


def _fields(config: Config) -> dict[str, Any]:
    return {field.name: getattr(config, field.name) for field in dataclasses.fields(Config)}


@dataclass(frozen=True)
class Evaluate:
    """Evaluate the agent of a run with deterministic policies."""

    run_folder: tyro.conf.Positional[Path]
    """A run folder, as `hess train` printed it."""
    episodes: int = 100
    """Episodes to play."""
    seed: int = 0
    """Seed of the episodes."""
    task: str | None = None
    """The run's task, if it is a module:Env-v0: naming it says that you trust the module."""
    method: str | None = None
    """The run's method, if it is a module:name: naming it says that you trust the module."""
    env: tuple[str, ...] = ()
    """Arguments of the environment that differ from those of training."""
    success: str | None = None
    """What success is, if not as in training."""
    video: Path | None = None
    """Also film the first episodes, with the subgoals pursued, as .mp4 or .gif."""

    def run(self) -> None:
        from hess import runtime
        from hess.envs.arguments import parse_arguments

        runtime.configure()
        import hess

        agent = hess.load(self.run_folder, task=self.task, method=self.method)
        arguments = parse_arguments(self.env)
        result = agent.evaluate(self.episodes, self.seed, env=arguments, success=self.success)
        print(
            f"success rate {result.success_rate:.2f} ({result.success_at_end:.2f} at the last "
            f"step), mean return {result.mean_return:.2f} "
            f"over {self.episodes} episodes at step {agent.step:,}"
        )
        if self.video is not None:
            self._film(agent, agent.evaluated_config(self.seed, arguments, self.success))
            print(f"video {self.video}")

    def _film(self, agent: LoadedAgent, config: Config) -> None:
        from hess.analysis.video import record_video
        from hess.envs.making import drawing
        from hess.runs.folder import RunFolder

        assert self.video is not None
        with drawing(config.task):
            record_video(agent, RunFolder(self.run_folder), self.video, config)
