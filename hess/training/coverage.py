"""How much of the task's plane has been visited, in squares of 1 m. No agent reads this."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hess.envs.floorplan import FloorPlan


class Coverage:
    """Visited squares, and what share of the reachable ones they are where a plan is known."""

    def __init__(self, plan: FloorPlan | None):
        self._visited: set[tuple[int, int]] = set()
        self._reachable = _reachable_squares(plan) if plan is not None else None

    def add(self, positions: NDArray[np.floating[Any]]) -> None:
        """Count the squares of a trajectory. [n, 2]."""
        squares = np.unique(np.floor(positions).astype(np.int64), axis=0)
        self._visited.update(map(tuple, squares.tolist()))

    def share(self) -> float | None:
        """Share of the reachable squares that has been visited; None without a plan."""
        if self._reachable is None:
            return None
        return len(self._visited & self._reachable) / len(self._reachable)

    def count(self) -> int:
        return len(self._visited)

    def state(self) -> NDArray[np.int64]:
        """For the checkpoint. [n, 2]."""
        return np.array(sorted(self._visited), np.int64).reshape(-1, 2)

    def restore(self, squares: NDArray[Any]) -> None:
        self._visited = set(map(tuple, squares.tolist()))


def _reachable_squares(plan: FloorPlan) -> set[tuple[int, int]]:
    left, low, right, high = plan.bounds
    x, y = np.meshgrid(
        np.arange(np.floor(left), np.ceil(right)), np.arange(np.floor(low), np.ceil(high))
    )
    corners = np.stack([x.ravel(), y.ravel()], -1)
    reachable = corners[plan.is_reachable(corners + 0.5)]
    return set(map(tuple, reachable.astype(np.int64).tolist()))
