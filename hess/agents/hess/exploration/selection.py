"""Active exploration (paper §3.3): which visited embedding to aim beyond next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hess.agents.hess.exploration.cells import cell_keys
from hess.agents.hess.exploration.graph import PlaceGraph
from hess.agents.hess.exploration.places import MOST_AXES, Places
from hess.arrays import Floats
from hess.config import ExplorationConfig

_GOOD_SEGMENT = 0.9  # quantile of the distances that segments cover: most press against something
_FINER = (1.0, 0.8, 0.65, 0.5, 0.4, 1.0 / 3.0)  # cells, where there are too few
_SAMPLED = 100_000  # points that show how many cells are visited
SPREAD_METRICS = ("exploration/novelty_spread", "exploration/potential_spread")


class Selection(NamedTuple):
    """A selected subgoal g_t and the imagined one g_e beyond it."""

    selected: Floats  # [d]
    imagined: Floats  # [d]


class CandidatePool(NamedTuple):
    """Visited embeddings with their measures, drawn from the replay once per round."""

    embeddings: Floats  # [P, d]
    novelty: Floats  # [P]
    potential: Floats  # [P]
    plane: Floats | None = None  # [d, k] the directions that are explored; None: all
    graph: PlaceGraph | None = None  # where places lead, if that is known; all below goes with it
    cells: Any = None  # [P] places of the graph, -1 for none
    places: Places | None = None
    wear: Callable[[PlaceGraph, Floats], Floats] | None = None  # novelty of worn places, [n]

    def project(self, embeddings: Floats) -> Floats:
        """Embeddings in the directions that are explored. [..., d] -> [..., k]."""
        return embeddings if self.plane is None else embeddings @ self.plane

    def spread(self, potential_weight: float) -> dict[str, float]:
        """How much each term of Eq. 6 varies; one that is far larger decides alone."""
        spreads = (float(self.novelty.std()), float(potential_weight * self.potential.std()))
        return dict(zip(SPREAD_METRICS, spreads, strict=True))


def exploration_probability(config: ExplorationConfig, progress: float, success: float) -> float:
    """p: linear in the share of training done (the paper), or p₀ · (1 - recent success)."""
    start = config.probability
    if config.decided == "episode" and start > 0:
        start = config.episode_share
    if config.schedule == "success":
        return start * (1.0 - success)
    if config.anneal_fraction <= 0:
        return 0.0
    return start * max(0.0, 1.0 - progress / config.anneal_fraction)


def scores(novelty: Floats, potential: Floats, config: ExplorationConfig) -> Floats:
    """Ñ - αU of Eq. 6, lower is better; "normalised" brings both to [0, 1] first. [n] -> [n]."""
    if config.balance == "normalised":
        novelty, potential = _unit_range(novelty), _unit_range(potential)
    return novelty - config.potential_weight * potential


def _unit_range(values: Floats) -> Floats:
    if not len(values):
        return values
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.zeros_like(values)


def extend(selected: Floats, current: Floats, distance: float) -> Floats:
    """g_e = g_t + d_e (g_t - φ(s_t)) / ‖g_t - φ(s_t)‖; g_t itself where the direction is 0."""
    direction = selected - current
    length = float(np.linalg.norm(direction))
    return selected + distance * direction / length if length > 0 else selected


def select_subgoal(
    pool: CandidatePool,
    current: Floats,
    radius: float,
    unit: float,
    config: ExplorationConfig,
    *,
    novelty: Floats | None = None,
    straight: NDArray[np.bool_] | None = None,
) -> Selection | None:
    """Eq. 6 over the first M pool states within reach of φ(s_t); None where there are none.

    `novelty` [P] takes the place of the pool's own, for an episode that has been somewhere;
    `straight` [P] says what is no detour, if anything is. The pool is a random draw from the
    replay, so its first M in reach are one, too.
    """
    squared_distances = (pool.project(pool.embeddings - current) ** 2).sum(-1)
    near = squared_distances <= (config.reach * radius) ** 2
    if straight is not None and (near & straight).any():
        near &= straight
    in_reach = np.flatnonzero(near)
    if len(in_reach) == 0:
        return None
    in_reach = in_reach[: config.candidates]
    novelty = pool.novelty if novelty is None else novelty
    values = scores(novelty[in_reach], pool.potential[in_reach], config)
    selected = pool.embeddings[in_reach[np.argmin(values)]]
    return Selection(selected, extend(selected, current, unit * config.extension))


def resolving_size(points: Floats, size: float, least: int) -> float:
    """The edge of a cell with which visited points fill enough of them. [n, k].

    A robot that has become fast has long segments, and cells with them; at the end of a corridor
    the few states beyond the last corner would then count as often visited as the corner itself.
    """
    sample = points[:: max(1, -(-len(points) // _SAMPLED))]
    for share in _FINER:
        if _cells_with(sample, share * size) >= least:
            return share * size
    return _FINER[-1] * size


def _cells_with(points: Floats, size: float) -> int:
    """How many cells have points in them. [n, k]."""
    if points.shape[-1] <= MOST_AXES:
        return len(np.unique(cell_keys(points, size)))
    # Where landmarks take the place of a grid: its keys have no room for so many axes.
    return len(np.unique(np.floor(np.asarray(points, np.float64) / size), axis=0))


def explored_unit(
    config: ExplorationConfig, embeddings: Floats, moves: Floats, before: float
) -> float:
    """The factor on r_g, d_e and cell size: how far φ's visited states extend. [n, d], [m].

    φ's scale depends on how far a robot gets in c steps while it still moves at random, which
    says little about the task; the extent of what has been visited does. But a large world is no
    reason for large steps: what a good segment covers is the limit ("segment"), or cells become
    wider than doors. It only grows, and in steps of a tenth, so that cells and actions keep their
    meaning between growths.
    """
    if config.units == "fixed":
        return 1.0
    low, high = np.quantile(embeddings, (0.005, 0.995), axis=0)
    unit = float((high - low).max()) / config.reference_span
    if config.units == "segment" and len(moves):  # none where episodes end within c steps
        good = float(np.quantile(moves, _GOOD_SEGMENT)) / config.reference_segment
        unit = min(unit, good) if good > 0 else unit
    if unit <= 0:  # nothing has ever moved
        return before or 1.0
    return unit if unit > 1.1 * before else before
