"""Where visited places are known to lead: chains, waypoints and detours are found in it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hess.agents.hess.exploration.cells import CellTable, Keys
from hess.agents.hess.exploration.places import Places
from hess.arrays import Floats
from hess.errors import HessError

Integers = NDArray[np.integer[Any]]


class Boundaries(NamedTuple):
    """Stored rollouts at the multiples of c (or of a share of c), in any order."""

    embeddings: Floats  # [E, S+1, d]
    valid: NDArray[np.bool_]  # [E, S+1] states that exist
    ages: Floats  # [E] in episodes
    log_ratios: Floats  # [E, S] log π_new - log π_old of the high-level actions
    share: float = 1.0  # of c between one boundary and the next


class PlaceGraph(NamedTuple):
    """Visited places, how often, and the transitions between them that are no accident."""

    keys: Keys  # [n], sorted
    log_counts: Floats  # [n] log(1 + visits), or what the novelty counts in place of visits
    edges: Integers  # [m, 2] indices of places, from and to
    edge_cost: float  # what an edge adds to the log count of where it leads
    tolls: Floats  # [n] what entering a place adds besides, for attempts that fail

    def locate(self, keys: Keys) -> Integers:
        """The index of each key among the places, -1 where it is none of them. [...] -> [...]."""
        if len(self.keys) == 0:
            return np.full(keys.shape, -1)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, place, -1)

    def reachable(self, extra: Floats | float = 0.0) -> Floats:
        """The least log count, with the cost of the chain through each place to there. -> [n].

        `extra` [n] is added to the log counts.
        """
        costs = self.edge_cost + self.tolls[self.edges[:, 1]]
        return self.tolls + least_over_chains(self.log_counts + extra, self.edges, costs)

    def without_tolls(self) -> PlaceGraph:
        """As it is for those who try again what failed."""
        return self._replace(tolls=np.zeros_like(self.tolls))

    def lengths_from(self, place: int, centres: Floats) -> Floats:
        """Length of the shortest chain to each place, from centre to centre. [n, k] -> [n]."""
        start = np.full(len(self.keys), np.inf)
        start[place] = 0.0
        lengths = np.linalg.norm(centres[self.edges[:, 0]] - centres[self.edges[:, 1]], axis=-1)
        return least_over_chains(start, self.edges[:, ::-1], lengths)

    def steps_to(self, place: int) -> Floats:
        """Edges on the shortest chain from each place to this one; infinite without one. -> [n]."""
        start = np.full(len(self.keys), np.inf)
        start[place] = 0.0
        return least_over_chains(start, self.edges, 1.0)

    def surroundings(self, place: int, places: Places) -> Integers:
        """The place and those that touch it, as indices."""
        touching = self.locate(places.touching(int(self.keys[place])))
        return touching[touching >= 0]

    def entered(self) -> Integers:
        """Places that some edge leads into."""
        return np.unique(self.edges[:, 1])


def empty_graph() -> PlaceGraph:
    """What a fresh agent knows: no places."""
    nothing, no_edges = np.zeros(0), np.zeros((0, 2), np.int64)
    return PlaceGraph(np.zeros(0, np.int64), nothing, no_edges, 0.0, nothing)


def stored_graph(arrays: dict[str, Any]) -> PlaceGraph:
    """The graph of a checkpoint; edges that lead nowhere, or chains without end, are refused."""
    keys, log_counts, edges = (arrays[name] for name in ("keys", "log_counts", "edges"))
    cost = float(arrays["edge_cost"])
    if len(keys) != len(log_counts):
        raise HessError(f"{len(keys)} cells cannot have {len(log_counts)} log counts")
    if len(edges) and not (edges.min() >= 0 and edges.max() < len(keys)):
        raise HessError(f"an edge between cells leads to none of the {len(keys)} cells")
    tolls = arrays["tolls"]
    if len(keys) != len(tolls):
        raise HessError(f"{len(keys)} cells cannot have {len(tolls)} tolls")
    finite = np.isfinite(log_counts).all() and (tolls >= 0).all() and (tolls < np.inf).all()
    if not (0.0 <= cost < np.inf and finite):
        raise HessError(f"edges of cost {cost} between log counts and tolls that are no numbers")
    return PlaceGraph(keys, log_counts, edges, cost, tolls)


class Edges:
    """How often transitions from place to place were made.

    Counted anew every time: cells are found fast, and what the replay forgot is forgotten.
    """

    def update(self, places: Places, rollouts: Boundaries) -> tuple[Keys, Integers]:
        """All distinct ones, as keys of places, and how often. -> [m, 2], [m].

        The rollouts are all that is stored; their embeddings are points already.
        """
        return distinct_steps(places, rollouts)

    def age(self) -> None:
        """One episode has been stored."""

    def clear(self) -> None:
        """The space is divided into other places."""

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, arrays: dict[str, Any]) -> None:
        """Take over what `state` gave."""


_PAIRS = 2**31  # more than there are landmarks: a pair of keys is one number
_EVERY = 2**30  # episodes: more than are ever stored


class KeptEdges(Edges):
    """Counted as they are made, and anew when φ has changed: finding landmarks takes time."""

    def __init__(self) -> None:
        self.table = CellTable()
        self.unseen = _EVERY  # newest episodes that are not in the table yet

    def update(self, places: Places, rollouts: Boundaries) -> tuple[Keys, Integers]:
        new = rollouts.ages < self.unseen
        chosen = rollouts._replace(
            embeddings=rollouts.embeddings[new], valid=rollouts.valid[new], ages=rollouts.ages[new]
        )
        edges, times = distinct_steps(places, chosen)
        self.table.add(edges[:, 0] * _PAIRS + edges[:, 1], times.astype(np.float64))
        self.unseen = 0
        starts, ends = np.divmod(self.table.keys, _PAIRS)
        return np.stack([starts, ends], -1), self.table.values.astype(np.int64)

    def age(self) -> None:
        self.unseen = min(self.unseen + 1, _EVERY)

    def clear(self) -> None:
        self.table, self.unseen = CellTable(), _EVERY

    def state(self) -> dict[str, Any]:
        return self.table.state("edges") | {"edges.unseen": self.unseen}

    def restore(self, arrays: dict[str, Any]) -> None:
        self.table = CellTable.stored(arrays, "edges")
        self.unseen = int(arrays["edges.unseen"])


def distinct_steps(places: Places, rollouts: Boundaries) -> tuple[Keys, Integers]:
    """Transitions from one boundary to the next and how often each was made. -> [m, 2], [m]."""
    keys = places.keys(rollouts.embeddings)
    known = rollouts.valid & (keys >= 0)
    made = known[:, :-1] & known[:, 1:]
    # As one number each: to sort rows takes ten times as long.
    visited, ranks = np.unique(keys, return_inverse=True)
    ranks = ranks.reshape(keys.shape)
    steps = ranks[:, :-1][made] * len(visited) + ranks[:, 1:][made]
    steps, times = np.unique(steps, return_counts=True)
    return visited[np.stack(np.divmod(steps, max(len(visited), 1)), -1)], times


def common_edges(edges: Integers, times: Integers, share: float) -> NDArray[np.bool_]:
    """Which edges make up a share of those that leave their place, or are how most enter theirs.

    Where φ lies in folds, or a robot tumbles, a few steps seem to lead through a wall; a chain with
    one of them would draw every episode to the wall. The main way into a place stays, however
    rare: it is how a new place was found. [n, 2] indices of places, [n] -> [n].
    """
    if not len(edges):
        return np.zeros(0, np.bool_)
    (start, end), places = edges.T, edges.max() + 1
    leaving, most = np.bincount(start, times, places), np.zeros(places)
    entering = np.where(start != end, times, 0)
    np.maximum.at(most, end, entering)
    return (times >= share * leaving[start]) | ((entering > 0) & (entering == most[end]))


def least_over_chains(values: Floats, edges: Integers, cost: Floats | float) -> Floats:
    """The least of value(end) + the cost of all edges over all chains of them from each place.

    Averages over rollouts that wander forth and back say little about where a place can lead; the
    best that is known does. [places], [edges, 2] indices of their places -> [places].
    """
    start, end = edges.T
    least = values.copy()
    while True:
        before = least.copy()
        np.minimum.at(least, start, before[end] + cost)
        if np.array_equal(least, before):
            return least
