"""Where around φ(s) subgoals lie, and the high level's actions that stand for them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hess.arrays import Floats


class SubgoalBox(NamedTuple):
    """r_g to all sides (the paper), or less along directions of φ that lead nowhere.

    An action lies in [-1, 1]^d. NumPy and JAX arrays alike.
    """

    radius: Any  # r_g in φ's units
    weights: Any = None  # [d, d] symmetric; None: all directions alike
    inverse: Any = None

    def offsets(self, actions: Any) -> Any:
        """g - φ(s) of actions. [..., d] -> [..., d]."""
        return self.radius * (actions if self.weights is None else actions @ self.weights)

    def actions(self, offsets: Any) -> Any:
        """The actions of what lies between φ(s) and g, or the next ones to them. [..., d]."""
        inside = offsets if self.inverse is None else offsets @ self.inverse
        return (inside / self.radius).clip(-1.0, 1.0)


def weighted_box(radius: float, weights: Floats) -> SubgoalBox:
    """As far as r_g along a direction of weight 1."""
    inverse = np.linalg.inv(weights.astype(np.float64)).astype(np.float32)
    return SubgoalBox(radius, weights, inverse)
