"""MuJoCo, imported once its drawing backend is chosen: it reads MUJOCO_GL at import, never again.

Every module of the tasks takes `mujoco` from here.
"""

from __future__ import annotations

import os

from hess import runtime
from hess.errors import HessError

runtime.choose_gl()

try:
    import mujoco as mujoco  # type: ignore[import-untyped]  # noqa: PLC0414 (others take it from here)
except Exception as error:  # a GL backend whose libraries are missing stops the whole import
    chosen = os.environ.get("MUJOCO_GL", "")
    raise HessError(
        f"MuJoCo cannot be loaded with MUJOCO_GL={chosen}; set MUJOCO_GL=disable to work without "
        f"pictures, or: {runtime.rendering_advice()}"
    ) from error
