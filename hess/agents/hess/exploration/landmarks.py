"""Landmarks: visited points that take the place of cells where a grid would have too many."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from hess.agents.hess.exploration.cells import Keys
from hess.arrays import Floats
from hess.errors import HessError

MOST = 1_000  # landmarks: tables, trees and chains stay small in any dimension
_AT_ONCE = MOST // 2  # when a space is divided; the rest is for what is found afterwards
_WIDER = 1.1  # where they do not suffice
_REGION = 1.5  # sizes around a landmark that belong to it, if no other is nearer
TOUCHING = 2.0  # sizes between landmarks that touch
AROUND = 8  # of them, at most, as around a cell of a plane: in more dimensions all would touch
_COVERED = 20_000  # points that a division looks at
_REMEMBERED = 50_000  # points whose landmarks were asked for last
_CHUNK = 1_000
_COMPARED = 250  # points with all landmarks at once: what a cache holds


class Landmarks:
    """The place of a point is the nearest landmark; landmarks are at least a size apart.

    Every visited point that is farther than that from all of them becomes one, in the order of the
    visits, so they cover what was visited at an even spacing, along its own few directions, however
    many dimensions there are. Their number is bounded: where more would be needed, the size grows.
    """

    def __init__(self, points: Floats, size: float):
        self.points = np.asarray(points, np.float64)  # [n, k]
        self.size = float(size)
        self._newest: tuple[Floats, Keys] = np.zeros((0, 0)), np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def _tree(self) -> Any:
        return cKDTree(self.points)

    def _nearest(self, points: Floats, limit: float) -> Keys:
        """The nearest landmark that is not farther than the limit, or -1. [..., k] -> [...]."""
        if len(self.points) == 0 or points.size == 0:
            return np.full(points.shape[:-1], -1, np.int64)
        flat = points.reshape(-1, points.shape[-1])
        nearest = self._compare(flat)
        is_near = np.linalg.norm(flat - self.points[nearest], axis=-1) < limit
        return np.where(is_near, nearest, -1).reshape(points.shape[:-1])

    def _compare(self, points: Floats) -> Keys:
        """The nearest of all landmarks, by products: a tree takes 2 to 10 times as long from four
        dimensions on. [n, k] -> [n]."""
        centre = self.points.mean(0)
        landmarks = (self.points - centre).astype(np.float32).T
        squares = (landmarks**2).sum(0) / 2
        found = np.empty(len(points), np.int64)
        for start in range(0, len(points), _COMPARED):
            chunk = (points[start : start + _COMPARED] - centre).astype(np.float32)
            found[start : start + _COMPARED] = (squares - chunk @ landmarks).argmin(-1)
        return found

    def keys(self, points: Floats) -> Keys:
        """The nearest landmark of each point, -1 where it is far. [..., k] -> [...].

        Candidates are looked up for novelty, potential and the graph in turn: once will do.
        """
        known, keys = self._newest
        if known.shape == points.shape and np.array_equal(known, points):
            return keys
        keys = self._nearest(points, _REGION * self.size)
        if len(points) <= _REMEMBERED:
            self._newest = np.array(points), keys
        return keys

    def centres(self, keys: Keys) -> Floats:
        return self.points[keys]

    def near(self, points: Floats, most: int) -> tuple[Floats, Keys]:
        """Distances in sizes to the nearest landmarks of those that touch. [..., k] -> [..., most].

        Infinite, with a key of none, where there are fewer.
        """
        if len(self.points) == 0 or points.size == 0:
            shape = (*points.shape[:-1], most)
            return np.full(shape, np.inf), np.full(shape, len(self.points))
        limit = TOUCHING * self.size
        distances, keys = self._tree.query(points, k=range(1, most + 1), distance_upper_bound=limit)
        return distances / self.size, keys

    def touching(self, key: int) -> Keys:
        """A landmark and the nearest around it."""
        _, keys = self.near(self.points[key], 1 + AROUND)
        return np.asarray(keys[keys < len(self.points)], np.int64)

    def reached(self, key: int, point: Floats) -> bool:
        """Whether a point is less than a size from the landmark. [k]."""
        return bool(np.linalg.norm(point - self.points[key]) < self.size)

    @property
    def slack(self) -> float:
        """Landmarks lie to the left and to the right of a way."""
        return self.size

    def state(self) -> dict[str, Any]:
        return {"landmarks": self.points, "cell_size": self.size}

    def grown(self, points: Floats) -> Landmarks:
        """With new ones where points are far from all; those there are keep their keys. [n, k]."""
        found = self
        for start in range(0, len(points), _CHUNK):
            chunk = points[start : start + _CHUNK]
            uncovered = chunk[found._nearest(chunk, self.size) < 0]
            new = _apart(uncovered, self.size, MOST - len(found))
            if len(new):
                found = Landmarks(np.concatenate([found.points, new]), self.size)
        return found


def stored_landmarks(arrays: dict[str, Any], dim: int) -> Landmarks:
    """Those of a checkpoint."""
    points, size = arrays["landmarks"], float(arrays["cell_size"])
    if points.shape[1] != dim or not np.isfinite(points).all() or not 0 < size < np.inf:
        raise HessError(f"{list(points.shape)} landmarks of size {size} in {dim} dimensions")
    return Landmarks(points, size)


def cover(points: Floats, size: float) -> Landmarks:
    """Landmarks of that size for all points, or of a larger one where half of `MOST` do not do."""
    sample = points[:: max(1, -(-len(points) // _COVERED))]
    while True:
        found = Landmarks(np.zeros((0, points.shape[-1])), size)
        for start in range(0, len(sample), _CHUNK):
            found = found.grown(sample[start : start + _CHUNK])
            if len(found) > _AT_ONCE:
                break
        else:
            return found
        size *= _WIDER


def _apart(points: Floats, size: float, most: int) -> Floats:
    """Points that are a size or more from all before them. [n, k] -> [m, k]."""
    chosen: list[int] = []
    free = np.ones(len(points), np.bool_)
    while free.any() and len(chosen) < most:
        first = int(np.argmax(free))
        chosen.append(first)
        free &= ((points - points[first]) ** 2).sum(-1) >= size**2
        free[first] = False
    return np.asarray(points[chosen], np.float64)
