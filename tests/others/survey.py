"""Every continuous-control id of Gymnasium, Gymnasium-Robotics and OGBench: trained or refused.

What came of an id is a row of docs/tested-environments.csv, from which the page beside it is
written. A row is made again when the package has another version, so a survey can be stopped and
gone on with. `python -m tests.others.survey` only looks at what is not known yet, without training.
"""

from __future__ import annotations

import csv
import importlib
import io
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium

import hess
from hess.api import TrainedRun, make_config
from hess.envs.adapter import Task
from hess.envs.physics import mujoco
from hess.errors import HessError
from hess.training.probe import probe

DOCS = Path(__file__).parents[2] / "docs"
TABLE, PAGE = DOCS / "tested-environments.csv", DOCS / "tested-environments.md"
STEPS = 2_000
SHOWN = 4  # ids of a line of the page; the table has all of them
MODULES = {"gymnasium": "", "gymnasium_robotics": "gymnasium_robotics:", "ogbench": "ogbench:"}
SILENT = "reward>=1"  # what success is taken to be where an environment says nothing
TOO_SHORT = "there is nothing to learn the representation from: the longest episode had"
DRAWS = "visual-"  # in the ids of environments that observe pictures
_HIDDEN = 5  # group of geoms that is not drawn unless asked for
DRAWN_HORIZON = 200  # of their training: two evaluations would else take most of the time

# Small networks and few updates: it is the way from the environment to the learner that is tested.
FIELDS: dict[str, Any] = {
    "steps": STEPS,
    "capacity": 4_000,
    "subgoal_interval": 5,
    "low__hidden": (16,),
    "low__batch_size": 8,
    "low__updates_per_decision": 0.02,
    "high__hidden": (16,),
    "high__batch_size": 8,
    "representation__hidden": (16,),
    "representation__batch_size": 8,
    "representation__minibatches": 10,
    "representation__refresh": 10,
    "representation__first_update": 1,
    "exploration__pool": 50,
    "exploration__candidates": 20,
    "evaluation__episodes": 1,
    "evaluation__interval": 10**6,
    "record__tensorboard": False,
    "record__snapshot_interval": 10**7,
    "record__checkpoint_interval": 10**7,
}


# Of episodes that end at once φ needs more, and each takes the room of a whole one in the replay.
FALLING = {"representation__first_update": 30, "capacity": 100_000}

UNFINISHED = {"untried": "have not been looked at yet", "fits": "fit and have not been trained yet"}


class Tried(NamedTuple):
    """What came of an id."""

    task: str
    package: str
    outcome: str  # trained, refused, discrete (of no interest here), or as in UNFINISHED
    observation: str
    success: str
    sentence: str


def tasks() -> list[str]:
    """Ids as a user would name them; empty where the extra is not installed."""
    found = []
    for module, prefix in MODULES.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                importlib.import_module(module)
        except ImportError:
            continue
        found += [
            f"{prefix}{name}"
            for name, spec in gymnasium.registry.items()
            if str(spec.entry_point).partition(".")[0] == module
        ]
    return sorted(found)


def package_of(task: str) -> str:
    """With its version: a newer one is surveyed again."""
    name = (task.rpartition(":")[0] or "gymnasium").replace("_", "-")
    return f"{name} {version(name)}"


@contextmanager
def plain_pictures() -> Iterator[None]:
    """No shadows, no smoothed edges, no meshes.

    Without a graphics card they take 15/16 of a maze's time and 49/50 of a robot arm's.
    """
    context = mujoco.MjrContext

    def plain(model: Any, *arguments: Any) -> Any:
        model.vis.quality.shadowsize = model.vis.quality.offsamples = 0
        model.geom_group[model.geom_type == mujoco.mjtGeom.mjGEOM_MESH] = _HIDDEN
        return context(model, *arguments)

    mujoco.MjrContext = plain
    try:
        yield
    finally:
        mujoco.MjrContext = context


@plain_pictures()
def survey(task: str, runs: Path | None) -> Tried:
    """Train, or catch the sentence; anything but a `HessError` is a mistake of ours.

    Without a folder for runs, only look whether it would train.
    """
    package, rule, seen = package_of(task), "auto", ""
    try:
        try:
            seen = _look(task, rule)
        except HessError as error:
            if "never said whether it succeeded" not in str(error):
                raise
            rule = SILENT
            seen = _look(task, rule)
        if runs is None:
            return Tried(task, package, "fits", seen, rule, "")
        run = _train(task, runs, rule)
    except HessError as error:
        kind = "discrete" if "its actions are a Discrete" in str(error) else "refused"
        return Tried(task, package, kind, seen, rule, str(error))
    assert run.result.finished
    return Tried(task, package, "trained", seen, rule, "")


def _train(task: str, runs: Path, rule: str) -> TrainedRun:
    """Once more with what `FALLING` says, where episodes end at once."""
    horizon = DRAWN_HORIZON if DRAWS in task else None
    train = partial(hess.train, task, success=rule, horizon=horizon)
    try:
        return train(runs=runs, **FIELDS)
    except HessError as error:
        if TOO_SHORT not in str(error):
            raise
    return train(runs=runs / "again", **FIELDS | FALLING)


def _look(task: str, rule: str) -> str:
    config = make_config(task, success=rule, **FIELDS)
    probe(config)
    opened = Task(config)
    shape = opened.shape(config)
    opened.close()
    return f"{shape.observation_dim} + {shape.goal_dim}, {shape.action_dim}, {shape.horizon}"


def read_rows() -> dict[str, Tried]:
    """What is known already."""
    if not TABLE.exists():
        return {}
    with TABLE.open(newline="") as file:
        return {row["task"]: Tried(**row) for row in csv.DictReader(file)}


def is_known(task: str) -> bool:
    """Whether there is a row of the version that is installed."""
    row = read_rows().get(task)
    return row is not None and row.outcome != "untried" and row.package == package_of(task)


def add_untried() -> None:
    """A row for every id, so that the page says what is left."""
    unknown = [task for task in tasks() if task not in read_rows()]
    add_rows({task: Tried(task, package_of(task), "untried", "", "", "") for task in unknown})


def add_row(row: Tried) -> None:
    """What was found out, in place of what was known."""
    add_rows({row.task: row})


def add_rows(new: dict[str, Tried]) -> None:
    """Write the table anew, sorted."""
    rows = read_rows() | new
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Tried._fields)
    writer.writerows(rows[task] for task in sorted(rows))
    TABLE.write_text(text.getvalue())


def page() -> str:
    """The table as a page; ids that share everything share a line."""
    rows = [row for row in read_rows().values() if row.outcome != "discrete"]
    counts = Counter(row.outcome for row in rows)
    left = "".join(f", {counts[kind]} {what}" for kind, what in UNFINISHED.items() if counts[kind])
    packages = ", ".join(sorted({row.package for row in rows}))
    lines = [
        "# Environments that were tried",
        "",
        f"Generated by `make test-envs` from its table, with {packages}: {counts['trained']} ids "
        f"trained for {STEPS:,} steps with c = {FIELDS['subgoal_interval']}, {counts['refused']} "
        f"were refused with the sentence that is shown{left}. "
        f"Sizes are those of observation + goal, action, and the steps of an episode; success is "
        f"`{SILENT}` where an environment says nothing about it. Those that observe pictures were "
        f"trained in episodes of {DRAWN_HORIZON} steps and drawn without shadows and meshes. "
        f"All ids, one by one: [{TABLE.name}]({TABLE.name}).",
        "",
        "| id | sizes | success | |",
        "|---|---|---|---|",
    ]
    groups: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        what = _general(row) if row.outcome == "refused" else row.outcome
        groups.setdefault((row.observation, row.success, what), []).append(row.task)
    for (sizes, rule, what), names in sorted(groups.items(), key=lambda item: item[1]):
        ids = "<br>".join(f"`{name}`" for name in names[:SHOWN])
        if len(names) > SHOWN:
            ids += f"<br>and {len(names) - SHOWN} more"
        lines.append(f"| {ids} | {sizes} | `{rule}` | {what.replace('|', ' ')} |")
    return "\n".join(lines) + "\n"


def _general(row: Tried) -> str:
    """The sentence without the name, so that ids with the same one come together."""
    sentence = row.sentence.replace(f"the task {row.task!r}", "it").replace(repr(row.task), "it")
    return f"refused: {sentence}"


def look() -> None:
    """At all ids that are not known yet, and write the page."""
    add_untried()
    for task in tasks():
        if not is_known(task):
            row = survey(task, None)
            add_row(row)
            print(f"{row.outcome:8} {task} {row.sentence}", flush=True)
    PAGE.write_text(page())


if __name__ == "__main__":
    look()
