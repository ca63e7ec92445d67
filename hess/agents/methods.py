"""The registry of methods: HESS, its ablations and the baselines it is compared with.

An ablation is a row of config overrides; a baseline is another agent behind the same interface.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hess.agents.by_name import Registry
from hess.config import Config, override
from hess.errors import HessError

if TYPE_CHECKING:
    from hess.agents.agent import BaseAgent
    from hess.replay.episode import EpisodeShape

_HESS = "hess.agents.hess.agent:Hess"


@dataclass(frozen=True)
class Method:
    """A row of `hess methods`."""

    name: str
    summary: str
    section: str
    """Where the paper has it."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    target: str = _HESS
    """"module:Class", imported when a run starts, so that listing methods stays light."""

    @property
    def has_representation(self) -> bool:
        """Whether it learns φ, as HESS does."""
        return self.target == _HESS

    def build(self, config: Config, shape: EpisodeShape) -> BaseAgent:
        try:
            kind = pkgutil.resolve_name(self.target)
        except (ImportError, AttributeError) as error:
            raise HessError(f"cannot load the method {self.name!r}: {error}") from error
        agent: BaseAgent = kind(config, shape)
        return agent

    def apply(self, config: Config) -> Config:
        return override(config, {"method": self.name, **self.overrides})


_NO_STABILITY: dict[str, Any] = {"representation.stability_weight": 0.0}
_NO_PRIORITY: dict[str, Any] = {"representation.priority": "uniform"}
_NO_IMAGINED: dict[str, Any] = {"exploration.extension": 0.0}
_POLICY_ALONE: dict[str, Any] = {"exploration.probability": 0.0, "high.warmup": "policy"}
_LESSON = _NO_STABILITY | _NO_PRIORITY | _POLICY_ALONE
# An episode that ended with success would cost the agent the bonuses that it could still have
# collected, so all rewards count, at the paper's scale.
_INTRINSIC = _POLICY_ALONE | {"high.stop_at_success": False, "high.reward_scale": 0.1}

_ROWS = (
    Method("hess", "the full method", "3"),
    Method("hess-no-stability", "no stability term in φ's loss", "5.4", _NO_STABILITY),
    Method("hess-no-priority", "φ from uniform samples", "5.4", _NO_PRIORITY),
    Method(
        "hess-no-stability-no-priority",
        "neither stability term nor prioritised samples",
        "5.4",
        _NO_STABILITY | _NO_PRIORITY,
    ),
    Method(
        "hess-continuous-stability",
        "λ(s) = λ₀/√(1 + L_tri) instead of the best fitted k%",
        "E.4",
        {"representation.stability": "continuous"},
    ),
    Method(
        "hess-no-potential",
        "subgoals by novelty alone",
        "5.4",
        {"exploration.potential_weight": 0.0},
    ),
    Method(
        "hess-immediate-counts",
        "plain visit counts n instead of the least visited place that is known to be reachable",
        "5.4",
        {"exploration.novelty": "immediate"},
    ),
    Method(
        "hess-importance-novelty",
        "the paper's N with importance weights instead of the least visited place in reach",
        "E.3",
        {"exploration.novelty": "importance"},
    ),
    Method(
        "hess-reactive",
        "novelty and potential as high-level reward instead of active selection",
        "5.4",
        _INTRINSIC
        | {
            "intrinsic.kind": "reactive",
            "exploration.novelty": "cumulative",
            "exploration.attempts": "all",
        },
    ),
    Method("hess-no-imagined", "no extension of selected subgoals", "E.2", _NO_IMAGINED),
    Method(
        "hess-no-imagined-wide",
        "no extension, but a radius of 25",
        "E.2",
        _NO_IMAGINED | {"subgoal_radius": 25.0},
    ),
    Method(
        "lesson",
        "triplet loss only; subgoals by the high-level policy, no exploration bonus",
        "5.2",
        _LESSON,
    ),
    Method(
        "h-icm",
        "lesson, and the error of a model of φ's dynamics as high-level reward",
        "5.2",
        _LESSON | _INTRINSIC | {"intrinsic.kind": "prediction", "intrinsic.weight": 10.0},
    ),
    Method(
        "h-sr",
        "lesson, and 1/‖ψ‖₁ of a successor representation as high-level reward",
        "5.2",
        _LESSON | _INTRINSIC | {"intrinsic.kind": "successor"},
    ),
    Method(
        "sac", "flat soft actor-critic on (observation, goal)", "5.2", {}, "hess.agents.flat:Flat"
    ),
    Method(
        "fun",
        "FeUdal Networks: a recurrent manager sets directions, a recurrent worker follows them",
        "D",
        {
            "num_envs": 8,
            "pipeline": False,
            "subgoal_interval": 10,
            "representation.dim": 50,
            "representation.start": "before",  # policy gradients make its latent space, no triplets
        },
        "hess.agents.fun.agent:Fun",
    ),
    Method(
        "dads",
        "skills by predictable and distinct dynamics, then a high level over the skills",
        "5.2",
        # With half as many updates of the actor, skills are not distinct when control begins.
        {"representation.dim": 2, "low.actor_interval": 1},
        "hess.agents.dads.agent:Dads",
    ),
)

METHODS = Registry("method", {row.name: row for row in _ROWS})


def method(name: str) -> Method:
    """The row of that name; `module:name` is one that an imported module has registered.

    Nothing is imported here: whoever wrote a run folder has chosen the names in it.
    """
    module, _, own = name.rpartition(":")
    if module and module not in sys.modules:
        raise HessError(f"the method {name!r} is registered by a module that is not imported")
    return replace(METHODS[own], name=name)


def import_method(name: str) -> Method:
    """The row of a method that the user has named; the module in `module:name` is imported."""
    module = name.rpartition(":")[0]
    if module:
        try:
            importlib.import_module(module)
        except (Exception, SystemExit) as error:  # somebody else's module may fail in any way
            raise HessError(
                f"cannot load the method {name!r}: {type(error).__name__}: {error}"
            ) from error
    return method(name)


def register_method(
    name: str,
    agent: str | type[Any] = _HESS,
    *,
    summary: str = "",
    overrides: Mapping[str, Any] | None = None,
) -> str:
    """Make a method of your own known, as a variant of HESS or with an agent of its own.

    `agent` is a `hess.BaseAgent`, or "module:Class". On the command line it is
    `--method module:name`, with the module that makes this call.
    """
    target = agent if isinstance(agent, str) else f"{agent.__module__}:{agent.__qualname__}"
    if not re.fullmatch(r"[\w.]+:\w+", target):
        raise HessError(f"the agent of a method must be a class of a module, not {target!r}")
    changes = dict(overrides or {})
    override(Config(), changes)
    METHODS.register(name, Method(name, summary, "none", changes, target))
    return name
