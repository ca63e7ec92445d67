"""Novelty and potential of subgoals (paper §3.2), on a grid over the subgoal space.

Anything with the methods of `Measures` can take the grid's place: a kernel density or a hashed
grid for subgoal spaces of more dimensions.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hess.agents.cells import CellTable, cell_keys, neighbourhood
from hess.agents.exploration import CandidatePool
from hess.agents.graph import CellGraph, common_edges, empty_graph, stored_graph
from hess.agents.trees import prefixed, select
from hess.config import ExplorationConfig

Floats = NDArray[np.floating[Any]]


class Boundaries(NamedTuple):
    """Stored rollouts at the multiples of c (or of a share of c), in any order."""

    embeddings: Floats  # [E, S+1, d]
    valid: NDArray[np.bool_]  # [E, S+1] states that exist
    ages: Floats  # [E] in episodes
    log_ratios: Floats  # [E, S] log π_new - log π_old of the high-level actions
    share: float = 1.0  # of c between one boundary and the next


class Measures(Protocol):
    """What active exploration asks of an estimator."""

    def novelty(self, embeddings: Floats) -> Floats:
        """Ñ: visits to be expected from here on, per stored transition. [n, d] -> [n]."""

    def potential(self, embeddings: Floats) -> Floats:
        """U: expected negative distance to the imagined subgoal at the segment's end. -> [n]."""

    def rate(self, embeddings: Floats) -> CandidatePool:
        """Candidates with both, and with where cells lead, if that is known. [n, d]."""


class GridMeasures:
    """Counts, cumulative counts and potential per cell."""

    def __init__(self, config: ExplorationConfig):
        self.config = config
        self.counts = CellTable()
        self.cumulative_counts = CellTable()
        self.potential_weights = CellTable()
        self.potential_sums = CellTable()
        self.transitions = 0
        self.cell_size = config.cell_size
        self.plane: Floats | None = None  # [d, 2] the directions that cells divide; None: all
        self.graph = empty_graph()  # of "reachable" novelty, as of the newest refresh

    def visit(self, embeddings: Floats) -> None:
        """n: count states with φ as it is at the time of the visit. [n, d]."""
        self.counts.add(self._keys(embeddings), 1.0)

    def recount(self, embeddings: Floats) -> None:
        """Forget the mixture of old and new spaces: count all stored states under φ now."""
        self.counts = CellTable()
        self.visit(embeddings)

    def turn(self, plane: Floats | None) -> None:
        """Divide other directions into cells; counts have to be taken anew, potentials too."""
        if plane is not None or self.plane is not None:
            self.potential_weights, self.potential_sums = CellTable(), CellTable()
        self.plane = plane

    def resize(self, cell_size: float, dim: int) -> None:
        """Move potentials into cells of another size; counts have to be taken anew."""
        for name in ("potential_weights", "potential_sums"):
            table: CellTable = getattr(self, name)
            setattr(self, name, table.rebinned(dim, self.cell_size, cell_size))
        self.cell_size = cell_size

    def age(self) -> None:
        """One episode has passed: older potentials weigh less."""
        self.potential_weights.scale(self.config.age_discount)
        self.potential_sums.scale(self.config.age_discount)

    def attempt(self, selected: Floats, distances: Floats) -> None:
        """Record segments: g_t and ‖φ(s_{t+c}) - g_e‖. [n, d], [n]."""
        keys = self._keys(selected)
        self.potential_weights.add(keys, 1.0)
        self.potential_sums.add(keys, -distances)

    def refresh(self, rollouts: Boundaries, transitions: int) -> None:
        """N of every cell that holds a segment boundary, Eq. 4: a weighted mean over rollouts."""
        self.transitions = transitions
        if self.config.novelty == "immediate":
            return
        keys = self._keys(rollouts.embeddings)
        if self.config.novelty == "reachable":
            self._refresh_reachable(keys, rollouts)
            return
        counts = np.where(rollouts.valid, self.counts.get(keys), 0.0)
        if self.config.novelty == "importance":
            values = importance_sums(counts, rollouts.log_ratios, self.config.count_discount)
            weights = np.ones_like(values)
        else:
            values = discounted_sums(counts, self.config.count_discount)
            weights = np.broadcast_to(
                self.config.age_discount ** rollouts.ages[:, None], values.shape
            )
        flat = rollouts.valid
        totals, sums = CellTable(), CellTable()
        totals.add(keys[flat], weights[flat])
        sums.add(keys[flat], (weights * values)[flat])
        self.cumulative_counts = CellTable(sums.keys, sums.values / totals.values)

    def _refresh_reachable(self, keys: NDArray[np.int64], rollouts: Boundaries) -> None:
        """Follow the steps that are made from cell to cell, but for rare ones."""
        made = rollouts.valid[:, :-1] & rollouts.valid[:, 1:]
        steps = np.stack([keys[:, :-1][made], keys[:, 1:][made]], -1)
        edges, times = np.unique(steps, axis=0, return_counts=True)
        cells = np.union1d(self.counts.keys, edges)
        edges = np.searchsorted(cells, edges)
        self.graph = CellGraph(
            cells,
            self._log_surroundings(cells, self.project(rollouts.embeddings[:1, :1]).shape[-1]),
            edges[common_edges(edges, times, self.config.way_share)],
            self.config.segment_cost * rollouts.share,
        )
        self.cumulative_counts = CellTable(cells, self.graph.reachable())

    def _log_surroundings(self, keys: NDArray[np.int64], dim: int) -> Floats:
        """log(1 + n) of a cell and all that touch it.

        A cell of which only a corner can be reached has few visits for ever, which makes it look
        new; its surroundings do not.
        """
        visits = self.counts.get(neighbourhood(keys, dim)).sum(-1)
        return np.asarray(np.log1p(visits))

    def novelty(self, embeddings: Floats) -> Floats:
        """Ñ = N / transitions; of "reachable" the log count as it is. [n, d] -> [n]."""
        values = self._tabled(embeddings)
        return values if self.config.novelty == "reachable" else values / max(self.transitions, 1)

    def expected_visits(self, embeddings: Floats) -> Floats:
        """N itself. [n, d] -> [n]."""
        values = self._tabled(embeddings)
        return np.expm1(values) if self.config.novelty == "reachable" else values

    def _tabled(self, embeddings: Floats) -> Floats:
        """N, or its log; where no boundary fell into a cell, its first term n stands in."""
        keys = self._keys(embeddings)
        known = self.cumulative_counts.contains(keys)
        cumulative = self.cumulative_counts.get(keys)
        if self.config.novelty == "reachable":
            surroundings = self._log_surroundings(keys, self.project(embeddings[:1]).shape[-1])
            return np.where(known, cumulative, surroundings)
        return np.where(known, cumulative, self.counts.get(keys))

    def potential(self, embeddings: Floats) -> Floats:
        """Age-discounted mean of U per cell; without data 0, the most optimistic (all U ≤ 0)."""
        keys = self._keys(embeddings)
        weights = self.potential_weights.get(keys)
        known = weights > 0
        return np.where(known, self.potential_sums.get(keys) / np.where(known, weights, 1.0), 0.0)

    def rate(self, embeddings: Floats) -> CandidatePool:
        """Candidates with all that is known about them. [n, d]."""
        novelty, potential = self.novelty(embeddings), self.potential(embeddings)
        pool = CandidatePool(embeddings, novelty, potential, plane=self.plane)
        if len(self.graph.keys) == 0:
            return pool
        cells = self.graph.locate(self._keys(embeddings))
        return pool._replace(graph=self.graph, cells=cells, cell_size=self.cell_size)

    def state(self) -> dict[str, Floats]:
        """All arrays that a checkpoint must hold."""
        tables = {name: table for name, table in vars(self).items() if isinstance(table, CellTable)}
        arrays: dict[str, Any] = {
            "transitions": np.asarray(self.transitions),
            "cell_size": np.asarray(self.cell_size),
        }
        for name, table in tables.items():
            arrays[f"{name}.keys"], arrays[f"{name}.values"] = table.keys, table.values
        arrays |= prefixed(self.graph._asdict(), "graph.")
        # Of one width, whether there is one yet or not: what a checkpoint must look like.
        arrays["plane"] = (
            np.zeros((0, self.config.directions)) if self.plane is None else self.plane
        )
        return {name: np.asarray(array) for name, array in arrays.items()}

    def restore(self, arrays: dict[str, Any]) -> None:
        """Take over what `state` gave."""
        self.transitions = int(arrays["transitions"])
        self.cell_size = float(arrays["cell_size"])
        for name, table in list(vars(self).items()):
            if isinstance(table, CellTable):
                setattr(self, name, CellTable(arrays[f"{name}.keys"], arrays[f"{name}.values"]))
        self.graph = stored_graph(select(arrays, "graph."))
        self.plane = arrays["plane"] if arrays["plane"].size else None

    def project(self, embeddings: Floats) -> Floats:
        """Embeddings in the space that cells divide. [..., d] -> [..., k]."""
        return embeddings if self.plane is None else embeddings @ self.plane

    def _keys(self, embeddings: Floats) -> NDArray[np.int64]:
        return cell_keys(self.project(embeddings), self.cell_size)


def discounted_sums(counts: Floats, discount: float) -> Floats:
    """Σ_j γ^j n_{i+j} for every boundary i. [E, S+1] -> [E, S+1]."""
    sums = np.array(counts, np.float64)
    for index in range(sums.shape[1] - 2, -1, -1):
        sums[:, index] += discount * sums[:, index + 1]
    return sums


_MAX_LOG_RATIO = 5.0  # products of ratios over an episode explode without a bound


def importance_sums(counts: Floats, log_ratios: Floats, discount: float) -> Floats:
    """Σ_j γ^j ρ n_{i+j}, ρ the product of π_new/π_old over segments 0..i+j. -> [E, S+1].

    The last boundary has no action of its own and takes the product over all segments.
    """
    products = np.cumsum(log_ratios, axis=1)
    products = np.concatenate([products, products[:, -1:]], axis=1)
    ratios = np.exp(np.clip(products, -_MAX_LOG_RATIO, _MAX_LOG_RATIO))
    return discounted_sums(ratios * counts, discount)
