"""The tasks: `make("AntMaze")`, or `gymnasium.make("hess/AntMaze-v0")`."""

from __future__ import annotations

import sys

from hess.envs.making import make
from hess.envs.registration import TASKS, TaskInfo, register_all, register_maze

__all__ = ["TASKS", "TaskInfo", "make", "register_all", "register_maze"]

# `gymnasium.make("hess.envs:hess/AntMaze-v0")` imports this module and expects its tasks to be
# registered then. Without Gymnasium in memory the import stays light; `make` registers later.
if "gymnasium" in sys.modules:
    register_all()
