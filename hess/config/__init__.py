"""Everything that can be set, declared once: frozen, typed, documented per field.

Symbols in the comments are the paper's. Field docstrings become the command line's help.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hess.config.baselines import DadsConfig as DadsConfig
from hess.config.baselines import FunConfig as FunConfig
from hess.config.baselines import IntrinsicConfig as IntrinsicConfig
from hess.config.levels import HighConfig as HighConfig
from hess.config.levels import LevelConfig as LevelConfig
from hess.config.levels import LowConfig as LowConfig
from hess.config.subgoals import ExplorationConfig as ExplorationConfig
from hess.config.subgoals import RepresentationConfig as RepresentationConfig
from hess.errors import HessError, unknown


@dataclass(frozen=True)
class EvaluationConfig:
    """Evaluation with deterministic policies and without active exploration."""

    interval: int = 25_000
    """Environment steps between evaluations."""
    episodes: int = 10
    """Episodes per evaluation."""


@dataclass(frozen=True)
class RecordConfig:
    """What is written while training."""

    checkpoint_interval: int = 50_000
    """Environment steps between checkpoints."""
    snapshot_interval: int = 20_000
    """Environment steps between snapshots for figures and the viewer."""
    tensorboard: bool = True
    """Write TensorBoard events beside metrics.jsonl."""


@dataclass(frozen=True)
class Config:
    """A complete description of one run."""

    task: str = "PointMaze"
    """Task: a name from `hess envs`, a Gymnasium id, or module:Env-v0."""
    env: tuple[str, ...] = ()
    """Arguments of the environment: --env random_goal=True reward=dense."""
    success: str = "auto"
    """What success is: auto (info's is_success, success or goal_achieved), another key of info,
    terminated, or reward>=X."""
    horizon: int | None = None
    """Steps per episode, where the environment has no limit or another one is wanted."""
    observe: tuple[str, ...] = ()
    """Keys of a Dict observation that the agent sees, in this order; see docs/environments.md."""
    action_share: float = 1.0
    """Share of the environment's action bounds that is used, around their middle: with all of it,
    random actions throw some robots on their backs, and nothing else is ever seen."""
    method: str = "hess"
    """Method: a name from `hess methods`."""
    seed: int = 0
    """Seed of everything random in the run."""
    steps: int = 1_000_000
    """Environment steps to train for."""
    num_envs: int = 1
    """Environments collected side by side, each in its thread."""
    pipeline: bool = True
    """Collect the next episodes while learning from the last; the lag is always one round."""
    capacity: int = 1_000_000
    """Environment steps that the replay holds, for both levels."""
    subgoal_interval: int = 50
    """c: steps per subgoal."""
    subgoal_radius: float = 20.0
    """r_g: radius of the neighbourhood for subgoals, in units of φ."""
    high: HighConfig = field(default_factory=HighConfig)
    low: LowConfig = field(default_factory=LowConfig)
    representation: RepresentationConfig = field(default_factory=RepresentationConfig)
    exploration: ExplorationConfig = field(default_factory=ExplorationConfig)
    intrinsic: IntrinsicConfig = field(default_factory=IntrinsicConfig)
    fun: FunConfig = field(default_factory=FunConfig)
    dads: DadsConfig = field(default_factory=DadsConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    record: RecordConfig = field(default_factory=RecordConfig)


def override(config: Config, values: Mapping[str, Any]) -> Config:
    """A copy with dotted fields replaced, {"low.hindsight": 0.3}.

    Unknown names, and values that are none of the field's, are refused: a run with such a config
    could not be read again.
    """
    known = flat_fields(config)
    parts: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        if name not in known:
            raise unknown("field", name, known)
        part, _, own = name.rpartition(".")
        owner: Any = getattr(config, part) if part else config
        parts.setdefault(part, {})[own] = fitting(name, _hints(owner.__class__)[own], value)
    top = parts.pop("", {})
    changed: Any = {
        part: dataclasses.replace(getattr(config, part), **fields) for part, fields in parts.items()
    }
    return dataclasses.replace(config, **top, **changed)


_hints = functools.cache(get_type_hints)
_LARGEST = 2**53  # beyond it JSON readers disagree
_WANTED = {int: "a whole number", float: "a number", bool: "True or False", str: "text"}


def fitting(name: str, kind: Any, value: Any) -> Any:
    """The value as a field of that kind has it: 1e5 steps are 100000, a list is a tuple."""
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        value = value.tolist()
    origin, inside = get_origin(kind), get_args(kind)
    if origin is UnionType:  # with None, there is no other
        return None if value is None else fitting(name, inside[0], value)
    if origin is tuple and isinstance(value, list | tuple):
        return tuple(fitting(name, inside[0], each) for each in value)
    if origin is Literal and value in inside:
        return value
    if not isinstance(value, int | float) or abs(value) < _LARGEST:
        if kind is int and isinstance(value, float) and value.is_integer():
            return int(value)
        if type(value) is kind or (kind is float and type(value) is int):
            return value
    wanted = " or ".join(inside) if origin is Literal else _WANTED.get(kind, "a tuple")
    raise HessError(f"{name}={value!r} is impossible; it must be {wanted}")


def flat_fields(config: Any, prefix: str = "") -> dict[str, Any]:
    """All fields of a config, or of a parsed config.json, under dotted names."""
    fields: dict[str, Any] = {}
    for name, value in (config if isinstance(config, Mapping) else vars(config)).items():
        if isinstance(value, Mapping) or dataclasses.is_dataclass(value):
            fields |= flat_fields(value, f"{prefix}{name}.")
        else:
            fields[prefix + name] = tuple(value) if isinstance(value, list) else value
    return fields
