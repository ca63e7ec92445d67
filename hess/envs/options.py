"""What a user may change about a task: the keyword arguments of its environment."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

from hess.envs.layouts import U_MAZE
from hess.errors import HessError, unknown


@dataclass(frozen=True)
class TaskOptions:
    """What a user may change about a task; the defaults are the paper's setting."""

    success_radius: float = 1.5
    """Success within this L2 distance of the goal, in metres (paper, Appendix A)."""
    reward: Literal["sparse", "negative", "dense"] = "sparse"
    """"sparse" 1 or 0 (paper), "negative" 0 or -1, "dense" minus the distance."""
    random_goal: bool = False
    """Draw a goal at every reset instead of the fixed one."""
    random_start: bool = False
    """Draw a start at every reset instead of the fixed one."""
    terminate_on_success: bool = False
    """End the episode at the goal; for evaluation, training runs to the horizon."""
    render_mode: str | None = None
    """"rgb_array" or None."""

    @classmethod
    def parse(cls, task: str, keywords: dict[str, Any]) -> Self:
        """Check the keyword arguments of a task's constructor."""
        names = [field.name for field in fields(cls)]
        for name in keywords:
            if name not in names:
                raise unknown(f"{task} option", name, names)
        options = cls(**keywords)
        options._check()
        return options

    def _check(self) -> None:
        for name, kind in get_type_hints(type(self)).items():
            value = getattr(self, name)
            if kind is float and (isinstance(value, bool) or not isinstance(value, Real)):
                raise HessError(f"{name} must be a number of metres, not {value!r}")
            if kind is str and not isinstance(value, str):
                raise HessError(f"{name} must be text, not {value!r}")
            if kind is bool and not isinstance(value, bool):
                raise HessError(f"{name} must be True or False, not {value!r}")
            if get_origin(kind) is Literal and value not in get_args(kind):
                raise unknown(f"{name} option", str(value), get_args(kind))
        if not 0 < self.success_radius < math.inf:
            raise HessError(
                f"success_radius must be positive and finite, not {self.success_radius!r}"
            )
        if self.render_mode not in (None, "rgb_array"):
            raise unknown("render_mode", str(self.render_mode), ["rgb_array"])


@dataclass(frozen=True)
class MazeOptions(TaskOptions):
    """What a user may change about a maze."""

    layout: str = U_MAZE
    """The map as text."""
    cell: float = 4.0
    """Metres along the edge of one of its cells."""
    images: bool = False
    """A view from above takes the place of x and y."""


@dataclass(frozen=True)
class PushOptions(MazeOptions):
    """What a user may change about a map with a block; both for comparison with other versions."""

    goal_post: bool = False
    """A solid post stands on the goal, as in the environment that the authors released."""
    observe_block: bool = False
    """The block's x and y come last in the observation."""


@dataclass(frozen=True)
class CheetahOptions(TaskOptions):
    """What a user may change about a task of the half-cheetah."""

    track: Literal["closed", "open"] = "closed"
    """"closed" between two walls, or "open": a plane without end."""
    pitch: Literal["cos_sin", "angle"] = "cos_sin"
    """The torso's, in the observation: its cosine and sine, or the "angle", which has no bound."""
