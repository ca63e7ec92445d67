"""Cells of a grid over the subgoal space, and sparse tables: what counts and averages live in."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hess.arrays import Floats
from hess.errors import HessError

Keys = NDArray[np.int64]


def cell_keys(embeddings: Floats, cell_size: float) -> Keys:
    """One integer per embedding that names its cell. [n, d] -> [n]."""
    dim = embeddings.shape[-1]
    bits = 62 // dim
    limit = 1 << (bits - 1)
    coordinates = np.floor(np.asarray(embeddings, np.float64) / cell_size)
    if not np.all(np.abs(coordinates) < limit):
        raise HessError(
            f"an embedding lies outside the grid of ±{limit * cell_size:g} per dimension "
            f"that {dim} dimensions allow; is the representation diverging?"
        )
    keys = np.zeros(embeddings.shape[:-1], np.int64)
    for axis in range(dim):
        keys = (keys << bits) | (coordinates[..., axis].astype(np.int64) + limit)
    return keys


def cell_centres(keys: Keys, dim: int, cell_size: float) -> Floats:
    """The middle of each named cell. [n] -> [n, d]."""
    bits = 62 // dim
    limit = 1 << (bits - 1)
    shifts = [bits * (dim - 1 - axis) for axis in range(dim)]
    columns = [((keys >> shift) & ((1 << bits) - 1)) - limit for shift in shifts]
    return (np.stack(columns, -1) + 0.5) * cell_size


def neighbourhood(keys: Keys, dim: int) -> Keys:
    """Each named cell and all that touch it. [n] -> [n, 3^d]."""
    bits = 62 // dim
    steps = np.array(list(product((-1, 0, 1), repeat=dim)), np.int64)
    shifts = np.array([1 << (bits * (dim - 1 - axis)) for axis in range(dim)], np.int64)
    return keys[..., None] + steps @ shifts


class CellTable:
    """Sums per cell, sorted by key; missing cells read as 0."""

    def __init__(self, keys: Keys | None = None, values: Floats | None = None):
        self.keys: Keys = np.zeros(0, np.int64) if keys is None else keys
        self.values: Floats = np.zeros(0, np.float64) if values is None else values
        if self.keys.shape != self.values.shape:
            raise HessError(f"{len(self.keys)} cells cannot have {len(self.values)} values")

    def __len__(self) -> int:
        return len(self.keys)

    def add(self, keys: Keys, amounts: Floats | float) -> None:
        """Add an amount to the cell of each key; a key may occur many times."""
        amounts = np.broadcast_to(np.asarray(amounts, np.float64), keys.shape)
        merged = np.concatenate([self.keys, keys])
        self.keys, inverse = np.unique(merged, return_inverse=True)
        weights = np.concatenate([self.values, amounts])
        self.values = np.bincount(inverse.ravel(), weights, len(self.keys)).astype(np.float64)

    def get(self, keys: Keys) -> Floats:
        """The sum in the cell of each key. Any shape -> the same shape."""
        if len(self.keys) == 0:
            return np.zeros(keys.shape)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.values[place], 0.0)

    def contains(self, keys: Keys) -> NDArray[np.bool_]:
        return np.isin(keys, self.keys)

    def scale(self, factor: float) -> None:
        self.values = self.values * factor

    def carried(self, before: Keys, now: Keys) -> CellTable:
        """The same sums over other cells: each is shared out to where its cell's states are now.

        The cells of the same states, then and now; -1 for none. [n], [n].
        """
        known = (before >= 0) & (now >= 0) & self.contains(before)
        cells, inverse, states = np.unique(before[known], return_inverse=True, return_counts=True)
        found = CellTable()
        found.add(now[known], (self.get(cells) / states)[inverse.ravel()])
        return found

    def state(self, name: str) -> dict[str, Any]:
        return {f"{name}.keys": self.keys, f"{name}.values": self.values}

    @classmethod
    def stored(cls, arrays: dict[str, Any], name: str) -> CellTable:
        return cls(arrays[f"{name}.keys"], arrays[f"{name}.values"])
