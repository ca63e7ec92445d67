"""Run folders for figures, report and viewer: which there are, and what is in one."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from hess.arrays import Arrays
from hess.config import ExplorationConfig
from hess.config.absent import complete_fields
from hess.envs.arguments import parse_arguments
from hess.envs.floorplan import FloorPlan
from hess.envs.making import make
from hess.envs.registration import TASKS
from hess.errors import HessError
from hess.runs.folder import RunFolder
from hess.runs.logs import Series, evaluation_series, metric_series, read_evaluations, read_metrics
from hess.runs.snapshots import SKILLS, Snapshot, list_snapshots, load_snapshot, read_snapshot
from hess.runs.untrusted import needs_import, refuse_foreign_code

_SIGNS = ("config.json", "metrics.jsonl", "eval.csv")
_LONGEST_NAME = 48  # characters in a heading
_DEPTH = 6  # folders below the given one; runs/task/method/name needs three


class NothingToDrawError(HessError):
    """The run does not have yet what a figure shows."""


@dataclass(frozen=True)
class About:
    """What config.json says, of this version or another: looking must not need the same fields."""

    task: str
    method: str
    seed: int
    steps: int
    fields: dict[str, Any]  # all of them under dotted names

    @classmethod
    def of(cls, values: dict[str, Any], where: str) -> About:
        """Only what every figure needs has to be there; `where` the values were found."""
        for name, kind in (("task", str), ("method", str), ("seed", int), ("steps", int)):
            if type(values.get(name)) is not kind:
                raise HessError(f"{where!r} is damaged: it has no {name}")
        fields = complete_fields(values)
        env = fields["env"]
        if not (isinstance(env, list | tuple) and all(isinstance(each, str) for each in env)):
            raise HessError(f"{where!r} is damaged: env={str(env)[:80]} is no list of arguments")
        return cls(values["task"], values["method"], values["seed"], values["steps"], fields)

    @property
    def exploration(self) -> ExplorationConfig:
        """What scores are computed with; a field of another version has its default."""
        names = [field.name for field in dataclasses.fields(ExplorationConfig)]
        known = {name: f"exploration.{name}" for name in names}
        return ExplorationConfig(
            **{name: self.fields[full] for name, full in known.items() if full in self.fields}
        )


class Run:
    """One run, read once; every part is read when it is first asked for."""

    def __init__(self, path: Path):
        self.path = path
        self.folder = RunFolder(path)
        self._loaded: dict[int, Snapshot] = {}

    @cached_property
    def config(self) -> About:
        return About.of(self.folder.config_values(), str(self.folder.config_file))

    @cached_property
    def plan(self) -> FloorPlan | None:
        """Walls, start and goal; None for a task without a plan.

        And for `module:Env-v0`, unless its module is imported: for the sake of walls, a figure runs
        nobody's code.
        """
        task = self.config.task
        return None if needs_import(task) else task_plan(task, *self.config.fields["env"])

    @cached_property
    def metrics(self) -> dict[str, Series]:
        return metric_series(read_metrics(self.folder))

    @cached_property
    def evaluations(self) -> dict[str, Series]:
        return evaluation_series(read_evaluations(self.folder))

    @cached_property
    def snapshots(self) -> dict[int, Path]:
        """Files by step, in order."""
        return list_snapshots(self.folder)

    @cached_property
    def skill_files(self) -> dict[int, Path]:
        """Traces of skills by step, in order; only DADS writes them."""
        return list_snapshots(self.folder, SKILLS)

    def snapshot(self, step: int) -> Snapshot:
        if step not in self._loaded:
            self._loaded[step] = load_snapshot(self.snapshots[step], self.read)
        return self._loaded[step]

    def read(self, file: Path) -> Arrays:
        """The arrays of one of the files above."""
        return read_snapshot(file)

    def until(self, step: int) -> Run:
        """The same run with the snapshots up to the one nearest to a step, for maps of then."""
        earlier = copy.copy(self)
        if self.snapshots:
            nearest = min(self.snapshots, key=lambda each: abs(each - step))
            earlier.snapshots = {
                each: file for each, file in self.snapshots.items() if each <= nearest
            }
        return earlier

    @property
    def title(self) -> str:
        """For headings: method, task and name; of a name that is too long for one, the seed."""
        name = self.path.name
        short = name if len(name) <= _LONGEST_NAME else f"seed-{self.config.seed}"
        return f"{self.config.method} on {self.config.task}, {short}"


@lru_cache(maxsize=64)
def task_plan(task: str, *arguments: str) -> FloorPlan | None:
    """The floor plan of a task, None if it has none; building the task to ask takes a while.

    Arguments such as another layout are given to our own tasks only: what somebody else's would do
    with those of a stranger's run is not known.
    """
    refuse_foreign_code("task", task, None)
    own = any(task in (info.name, info.id) for info in TASKS.values())
    with closing(make(task, **(parse_arguments(arguments) if own else {}))) as env:
        return getattr(env.unwrapped, "floor_plan", None)


def find_runs(paths: Sequence[Path]) -> list[Run]:
    """The run folders among and below the paths, in the order of their names."""
    found: dict[Path, Run] = {}
    for path in paths:
        if not path.is_dir():
            raise HessError(
                f"{str(path)!r} is not a folder of runs; give one that `hess train` wrote to"
            )
        below = {folder.resolve(): Run(folder) for folder in walk(path)}
        if not below:
            raise HessError(f"there is no run in {str(path)!r}; `hess train` makes one")
        found |= below
    return [found[path] for path in sorted(found)]


def walk(path: Path, depth: int = _DEPTH) -> Iterator[Path]:
    """Folders that look like runs; links are not followed, so nothing outside is reached."""
    if any((path / name).is_file() for name in _SIGNS):
        yield path
        return
    if depth > 0:
        try:
            inner = sorted(path.iterdir())
        except OSError:  # a folder that may not be read, or that vanished: nothing to show in it
            return
        for child in inner:
            if child.is_dir() and not child.is_symlink() and not child.name.startswith("."):
                yield from walk(child, depth - 1)
