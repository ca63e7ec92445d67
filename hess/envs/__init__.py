"""The tasks: `make("AntMaze")`, or `gymnasium.make("hess/AntMaze-v0")`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from hess.envs.making import make
from hess.envs.registry import TASKS, TaskInfo, register_all, register_maze

if TYPE_CHECKING:
    import gymnasium

    from hess.envs.floorplan import FloorPlan

__all__ = ["TASKS", "TaskInfo", "floor_plan", "make", "register_all", "register_maze"]


def floor_plan(task: str | gymnasium.Env[Any, Any]) -> FloorPlan | None:
    """Walls, start and goal in the plane of the goals; None for a task that has no plan."""
    env = make(task) if isinstance(task, str) else task
    plan: FloorPlan | None = getattr(env.unwrapped, "floor_plan", None)
    if isinstance(task, str):
        env.close()
    return plan


# `gymnasium.make("hess.envs:hess/AntMaze-v0")` imports this module and expects its tasks to be
# registered then. Without Gymnasium in memory the import stays light; `make` registers later.
if "gymnasium" in sys.modules:
    register_all()
