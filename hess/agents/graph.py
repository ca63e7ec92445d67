"""Where visited cells are known to lead: the graph behind the "reachable" novelty."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hess.agents.cells import Keys, neighbourhood
from hess.errors import HessError

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]


class CellGraph(NamedTuple):
    """Visited cells, how often, and the transitions between them that are no accident."""

    keys: Keys  # [n], sorted
    log_counts: Floats  # [n] log(1 + visits) of a cell and all that touch it
    edges: Integers  # [m, 2] indices of cells, from and to
    edge_cost: float  # what an edge adds to the log count of where it leads

    def locate(self, keys: Keys) -> Integers:
        """The place of each key among the cells, -1 where it is none of them. [...] -> [...]."""
        if len(self.keys) == 0:
            return np.full(keys.shape, -1)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, place, -1)

    def reachable(self, extra: Floats | float = 0.0) -> Floats:
        """The least log count, with the cost of the chain there, from each cell. -> [n].

        `extra` [n] is added to the log counts.
        """
        return least_over_chains(self.log_counts + extra, self.edges, self.edge_cost)

    def lengths_from(self, cell: int, centres: Floats) -> Floats:
        """Length of the shortest chain to each cell, from centre to centre. [n, d] -> [n]."""
        start = np.full(len(self.keys), np.inf)
        start[cell] = 0.0
        lengths = np.linalg.norm(centres[self.edges[:, 0]] - centres[self.edges[:, 1]], axis=-1)
        return least_over_chains(start, self.edges[:, ::-1], lengths)

    def steps_to(self, cell: int) -> Floats:
        """Edges on the shortest chain from each cell to this one; infinite without one. -> [n]."""
        start = np.full(len(self.keys), np.inf)
        start[cell] = 0.0
        return least_over_chains(start, self.edges, 1.0)

    def surroundings(self, cell: int, dim: int) -> Integers:
        """The cell and those that touch it, as indices."""
        touching = self.locate(neighbourhood(self.keys[cell : cell + 1], dim)[0])
        return touching[touching >= 0]

    def entered(self) -> Integers:
        """Cells that some edge leads into."""
        return np.unique(self.edges[:, 1])


def empty_graph() -> CellGraph:
    """What a fresh agent knows: no cells."""
    return CellGraph(np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 2), np.int64), 0.0)


def stored_graph(arrays: dict[str, Any]) -> CellGraph:
    """The graph of a checkpoint; edges that lead nowhere, or chains without end, are refused."""
    keys, log_counts, edges = (arrays[name] for name in ("keys", "log_counts", "edges"))
    cost = float(arrays["edge_cost"])
    if len(keys) != len(log_counts):
        raise HessError(f"{len(keys)} cells cannot have {len(log_counts)} log counts")
    if len(edges) and not (edges.min() >= 0 and edges.max() < len(keys)):
        raise HessError(f"an edge between cells leads to none of the {len(keys)} cells")
    if not (0.0 <= cost < np.inf and np.isfinite(log_counts).all()):
        raise HessError(f"edges of cost {cost} between log counts that are no numbers")
    return CellGraph(keys, log_counts, edges, cost)


def common_edges(edges: Integers, times: Integers, share: float) -> NDArray[np.bool_]:
    """Which edges make up a share of those that leave their cell, or are how most enter theirs.

    Where φ lies in folds, or a robot tumbles, a few steps seem to lead through a wall; a chain with
    one of them would draw every episode to the wall. The main way into a cell stays, however rare:
    it is how a new cell was found. [n, 2] indices of cells, [n] -> [n].
    """
    if not len(edges):
        return np.zeros(0, np.bool_)
    (start, end), cells = edges.T, edges.max() + 1
    leaving, most = np.zeros(cells), np.zeros(cells)
    np.add.at(leaving, start, times)
    entering = np.where(start != end, times, 0)
    np.maximum.at(most, end, entering)
    return (times >= share * leaving[start]) | ((entering > 0) & (entering == most[end]))


def least_over_chains(values: Floats, edges: Integers, cost: Floats | float) -> Floats:
    """The least of value(end) + the cost of all edges over all chains of them from each cell.

    Averages over rollouts that wander forth and back say little about where a cell can lead; the
    best that is known does. [cells], [edges, 2] indices of their cells -> [cells].
    """
    start, end = edges.T
    least = values.copy()
    while True:
        before = least.copy()
        np.minimum.at(least, start, before[end] + cost)
        if np.array_equal(least, before):
            return least
