"""Keyword arguments of the tasks: those that every task takes, and those of some."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Self

from hess.errors import HessError, unknown

REWARDS = ("sparse", "negative", "dense")
RENDER_MODES = ("rgb_array",)
TRACKS = ("closed", "open")


@dataclass(frozen=True)
class TaskOptions:
    """What a user may change about a task; the defaults are the paper's setting."""

    success_radius: float = 1.5
    """Success within this L2 distance of the goal, in metres (paper, Appendix A)."""
    reward: str = "sparse"
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
        radius = self.success_radius
        if isinstance(radius, bool) or not isinstance(radius, int | float):
            raise HessError(f"success_radius must be a number of metres, not {radius!r}")
        if not (math.isfinite(radius) and radius > 0):
            raise HessError(f"success_radius must be positive and finite, not {radius!r}")
        if self.reward not in REWARDS:
            raise unknown("reward", str(self.reward), REWARDS)
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(field.default, bool) and not isinstance(value, bool):
                raise HessError(f"{field.name} must be True or False, not {value!r}")
        if self.render_mode is not None and self.render_mode not in RENDER_MODES:
            raise unknown("render_mode", str(self.render_mode), RENDER_MODES)


@dataclass(frozen=True)
class CheetahOptions(TaskOptions):
    """What a user may change about a task of the half-cheetah."""

    track: str = "closed"
    """"closed" between two walls, or "open": a plane without end."""

    def _check(self) -> None:
        super()._check()
        if self.track not in TRACKS:
            raise unknown("track", str(self.track), TRACKS)


@dataclass(frozen=True)
class PushOptions(TaskOptions):
    """What a user may change about a map with a block; both for comparison with other versions."""

    goal_post: bool = False
    """A solid post stands on the goal, as in the environment that the authors released."""
    observe_block: bool = False
    """The block's x and y come last in the observation."""
