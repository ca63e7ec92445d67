"""MuJoCo, imported once its drawing backend is chosen: it reads MUJOCO_GL at import, never again.

Every module of the tasks takes `mujoco` from here.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from pathlib import Path

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


def _stop_clock() -> None:
    """Take MuJoCo's timer away: it looks at the clock all the time, for a tenth of a step.

    Nobody here reads `MjData.timer`; `mujoco.set_mjcb_time` gives it back. The bindings have no way
    to remove the one they set themselves, and a library by another name keeps it.
    """
    for library in Path(mujoco.__file__).parent.glob("libmujoco*"):
        with contextlib.suppress(OSError, ValueError):  # no library, or one without the symbol
            ctypes.c_void_p.in_dll(ctypes.CDLL(str(library)), "mjcb_time").value = None


_stop_clock()
