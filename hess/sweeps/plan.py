"""A plan: the runs of a sweep in their order, each a complete config in a folder of its own.

    runs = product(["hess", "sac"], ["AntMaze"], range(5), {"low.hindsight": (0.3, 0.5)})

A folder is named by what is in it: <task>/<method>/<changed values>,seed-N, where changed means
other than the method's row and the preset say. So a value that is the default anyway names no new
run, and plans that share runs share their folders. Length and records (`steps`, `record.`) are
not part of a name: the same run with more steps is continued. Where no steps are given, a run has
the budget of its task.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from hess.agents.methods import import_method
from hess.config import Config, flat_fields, override
from hess.config.budgets import budget
from hess.config.presets import preset as find_preset
from hess.envs import TASKS
from hess.envs.arguments import collected, label, parse_value
from hess.errors import HessError, unknown
from hess.files import digest
from hess.runs.folder import MAY_CHANGE, run_path
from hess.training.validation import validate

_OWN_FLAGS = {"task": "tasks", "method": "methods", "seed": "seeds"}
_LONGEST_SETTING = 140  # characters; file systems end at 255 bytes


@dataclass(frozen=True)
class PlannedRun:
    """A run and the name of its folder within <task>/<method>."""

    config: Config
    name: str

    @property
    def key(self) -> str:
        """<task>/<method>/<name>: what tells the run apart from the others of a sweep."""
        return run_path(self.config, Path(), self.name).as_posix()

    def path(self, sweep: Path) -> Path:
        """The run's folder in that of a sweep."""
        return run_path(self.config, sweep, self.name)


Plan = tuple[PlannedRun, ...]


def product(
    methods: Sequence[str],
    tasks: Sequence[str],
    seeds: Iterable[int],
    settings: Mapping[str, Sequence[Any]] | None = None,
    preset: str = "default",
) -> Plan:
    """Every task with every method, every combination of the settings' values, and every seed."""
    settings, seeds = settings or {}, tuple(seeds)
    factors = {"methods": methods, "tasks": tasks, "seeds": seeds, **settings}
    for name, given in factors.items():
        if not len(given):
            raise HessError(f"the sweep is empty: no {name} given")
    for name, flag in _OWN_FLAGS.items():
        if name in settings:
            raise HessError(f"{name!r} is not set like a field; name the {flag} of the sweep")
    combinations = [
        dict(zip(settings, values, strict=True)) for values in itertools.product(*settings.values())
    ]
    return combine(
        planned_run(method, task, seed, values, preset)
        for task, method, values, seed in itertools.product(tasks, methods, combinations, seeds)
    )


def planned_run(
    method: str, task: str, seed: int, values: Mapping[str, Any], preset: str = "default"
) -> PlannedRun:
    """One run, checked: names exist and values are possible on the task."""
    start = import_method(method).apply(find_preset(preset))
    length = {"steps": budget(task) or start.steps}
    config = override(start, {**length, **collected(values), "task": task, "seed": seed})
    validate(config, _horizon(config))
    return PlannedRun(config, _name(start, config, preset))


def combine(*plans: Iterable[PlannedRun]) -> Plan:
    """The runs of several plans, each once; two that need the same folder are refused."""
    runs: dict[str, PlannedRun] = {}
    for run in itertools.chain(*plans):
        other = runs.setdefault(run.key, run)
        if other != run:
            old, new = flat_fields(other.config), flat_fields(run.config)
            names = ", ".join(name for name in old if old[name] != new[name])
            raise HessError(
                f"two runs would share the folder {run.key!r}: they differ in {names} only, "
                "which belongs to no folder's name; use two sweeps"
            )
    return tuple(runs.values())


def _horizon(config: Config) -> int:
    """Of our own tasks from the table; others, and arguments, need an open one to be asked."""
    for info in TASKS.values():
        if config.task in (info.name, info.id) and not config.env:
            return config.horizon or info.horizon
    from hess.envs.adapter import Task

    with closing(Task(config)) as opened:
        return opened.horizon


def _name(start: Config, config: Config, preset: str) -> str:
    before, after = flat_fields(start), flat_fields(config)
    changed = [
        label(value) if name == "env" else f"{name}={_text(value)}"
        for name, value in after.items()
        if value != before[name] and name not in _OWN_FLAGS and not name.startswith(MAY_CHANGE)
    ]
    setting = ",".join([*([] if preset == "default" else [preset]), *changed])
    if len(setting) > _LONGEST_SETTING:
        setting = f"{setting[: _LONGEST_SETTING - 20]}-{digest(setting.encode())[:12]}"
    return f"{setting},seed-{config.seed}".lstrip(",")


def _text(value: Any) -> str:
    """For the name of a folder."""
    text = "x".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return text.replace("/", "-")


# --- --set field=value value …: text from the command line as values of fields ------------------


Settings = dict[str, tuple[Any, ...]]
_NAME = re.compile(r"[\w.-]+")
_BOOLS = {"true": True, "false": False}


def parse_settings(words: Iterable[str]) -> Settings:
    """Values by field, in the order given; a word without `=` is one more value of the last field.

    `env.NAME` is an argument of the environment.

    >>> parse_settings(["low.hindsight=0", "0.5", "low.hidden=64,32", "env.reward=dense", "sparse"])
    {'low.hindsight': (0.0, 0.5), 'low.hidden': ((64, 32),), 'env.reward': ('dense', 'sparse')}
    """
    kinds = _kinds(Config)
    settings: Settings = {}
    name = ""
    for word in words:
        field, equals, text = word.partition("=")
        if not _NAME.fullmatch(field):  # `reward>=1` is a value
            equals = ""
        name = field.replace("-", "_") if equals else name
        if not name:
            raise HessError(f"{word!r} sets no field; write it as field=value")
        if name not in kinds and not name.startswith("env."):
            raise unknown("field", name, kinds)
        if equals and name in settings:
            raise HessError(f"{name} is set twice; give all its values at once: {name}=A B")
        value = _parse(kinds.get(name), text if equals else word, name)
        settings[name] = (*settings.get(name, ()), value)
    return settings


def _kinds(kind: Any, prefix: str = "") -> dict[str, Any]:
    """The type of every field under its dotted name."""
    kinds: dict[str, Any] = {}
    for name, inner in get_type_hints(kind).items():
        if dataclasses.is_dataclass(inner):
            kinds |= _kinds(inner, f"{prefix}{name}.")
        else:
            kinds[prefix + name] = inner
    return kinds


def _parse(kind: Any, text: str, name: str) -> Any:
    if kind is None:
        return parse_value(text)
    if get_origin(kind) is types.UnionType:  # int | None
        return None if text == "None" else _parse(get_args(kind)[0], text, name)
    if get_origin(kind) is tuple:
        return tuple(_parse(get_args(kind)[0], part, name) for part in text.split(",") if part)
    if get_origin(kind) is typing.Literal or kind is bool:
        choices = _BOOLS if kind is bool else {choice: choice for choice in get_args(kind)}
        if text not in choices:
            raise HessError(f"{name}={text} is impossible; it may be {', '.join(choices)}")
        return choices[text]
    try:
        return kind(text)
    except ValueError as error:
        what = "a whole number" if kind is int else "a number"
        raise HessError(f"{name}={text} is impossible; it must be {what}") from error
