"""Another way to `FloorPlan`, which lives in plan.py.

Importing a submodule puts it into its package under its own name, here over the function
`hess.envs.floor_plan`; so this module can be called like that function.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import hess.envs
from hess.envs.plan import FloorPlan

__all__ = ["FloorPlan"]

_function = hess.envs.floor_plan


class _CallableModule(ModuleType):
    def __call__(self, task: Any) -> FloorPlan | None:
        return _function(task)


sys.modules[__name__].__class__ = _CallableModule
