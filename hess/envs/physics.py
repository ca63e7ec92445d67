"""MuJoCo, imported once its drawing backend is chosen: it reads MUJOCO_GL at import, never again.

Every module of the tasks takes `mujoco` from here.
"""

from __future__ import annotations

from hess import runtime

runtime._choose_gl()

import mujoco as mujoco  # type: ignore[import-untyped]  # noqa: E402, PLC0414 (after the choice)
