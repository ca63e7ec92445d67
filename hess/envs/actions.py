"""Actions from [-1, 1] in the bounds of any Box."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from hess.arrays import Floats
from hess.errors import HessError


class ActionScale:
    """Scales, clips and shapes what an agent does to what an environment takes."""

    def __init__(self, space: spaces.Space[Any]):
        if not isinstance(space, spaces.Box):
            raise HessError(
                f"its actions are a {type(space).__name__}; HESS needs a Box with finite bounds"
            )
        low, high = np.asarray(space.low, np.float64), np.asarray(space.high, np.float64)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise HessError("its actions have no finite bounds; declare low and high of the Box")
        if low.size == 0 or not (low <= high).all() or (low == high).all():
            raise HessError("its actions leave no choice: no low is below its high")
        self.dim = int(low.size)
        self.low, self.high = low, high
        self._shape, self._dtype = space.shape, np.dtype(space.dtype)
        # Halves first: the difference of two large bounds can be more than a float holds.
        self._middle, self._half = high / 2 + low / 2, high / 2 - low / 2
        flat = len(space.shape) == 1 and self._dtype.kind == "f"
        self._is_unit = flat and bool((low == -1).all() and (high == 1).all())

    def __call__(self, action: Floats) -> NDArray[Any]:
        """From [-1, 1] to the environment's own bounds. [action] -> the shape of the Box."""
        if self._is_unit:
            return action
        shaped = np.asarray(action, np.float64).reshape(self._shape)
        scaled = np.clip(self._middle + self._half * shaped, self.low, self.high)
        if self._dtype.kind in "iu":
            scaled = np.rint(scaled)
        return scaled.astype(self._dtype)

    @property
    def description(self) -> str:
        """For messages."""
        count = "1 number" if self.dim == 1 else f"{self.dim} numbers"
        return f"{count} in [{self.low.min():g}, {self.high.max():g}]"
