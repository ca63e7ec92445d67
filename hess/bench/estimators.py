"""What novelty and potential cost with a full replay, for every estimator of visits and many d."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from itertools import cycle
from typing import NamedTuple

import numpy as np

from hess.agents.hess.exploration.excursion import Excursion
from hess.agents.hess.exploration.graph import Boundaries
from hess.agents.hess.exploration.measures import Measures
from hess.agents.hess.exploration.selection import select_subgoal
from hess.agents.hess.exploration.visits import ESTIMATORS
from hess.arrays import Floats
from hess.bench.measuring import (
    MEGABYTE,
    MICROSECONDS,
    MILLISECONDS,
    BenchRow,
    Goal,
    Size,
    compared,
    cpu_seconds,
)
from hess.config import Config, ExplorationConfig

DIMS = (1, 2, 3, 4, 8, 16)
GRID_DIMS = (1, 2, 3, 4)
_EPISODE = 500  # steps
_PARTS = 5  # of a segment, between which edges lead
STEP = 1_300.0  # µs of training on AntMaze with the default, on one core (results/README.md)
_SHARE = 0.05


class Costs(NamedTuple):
    """Seconds of each piece of work, and bytes of a checkpoint."""

    update: float  # after φ has changed: places, and all visits counted anew
    refresh: float  # graph and novelty, after two more episodes
    pool: float  # rating of candidates, and counting, once an episode
    selection: float  # of one subgoal
    memory: float

    def per_step(self, config: Config) -> float:
        """Seconds for each step of the environment."""
        exploration = config.exploration
        selections = _EPISODE / config.subgoal_interval * self.selection
        episode = self.refresh / exploration.novelty_interval + self.pool + selections
        return (episode + self.update / config.representation.interval) / _EPISODE


def rows(size: Size) -> list[BenchRow]:
    """One for every estimator and dimension; φ itself is not part of it."""
    return [
        _row(f"{name}, d = {dim}", costs(name, dim, size))
        for name in ESTIMATORS
        for dim in (GRID_DIMS if name == "grid" else DIMS)
    ]


def _row(name: str, found: Costs) -> BenchRow:
    step = found.per_step(Config()) * MICROSECONDS
    *works, memory = found._asdict().items()
    parts = ", ".join(f"{work} {seconds * MILLISECONDS:.2f} ms" for work, seconds in works)
    note = f"{parts}, memory {memory[1] / MEGABYTE:.1f} MB"
    pair, goal = ([step], [STEP]), Goal("at most", _SHARE)
    return compared("measures", name, "µs", pair, "a step of training", goal=goal, note=note)


def costs(name: str, dim: int, size: Size) -> Costs:
    """Measured on one core, with `size.capacity` stored states in all d directions."""
    config = ExplorationConfig(counts=name, directions=0)  # type: ignore[arg-type]
    walks = random_walks(size.capacity // _EPISODE, dim)
    stride = Config().subgoal_interval // _PARTS
    steps = Boundaries(
        embeddings=walks[:, ::stride],
        valid=np.ones(walks[:, ::stride].shape[:2], np.bool_),
        ages=np.arange(len(walks), dtype=np.float64)[::-1],
        log_ratios=np.zeros((len(walks), 0)),
        share=1 / _PARTS,
    )
    states = walks[:, :-1].reshape(-1, dim)
    rng = np.random.default_rng(0)
    # Others in every episode: what was asked for last is remembered.
    pools = cycle([states[rng.integers(len(states), size=config.pool)] for _ in range(2)])
    measures = Measures(config, dim)

    def update() -> None:
        measures.divide(config.cell_size, states)
        measures.recount(states)

    def episode() -> None:
        measures.visit(walks[-1, :-1])
        measures.age()
        measures.rate(next(pools))

    def refresh() -> None:
        for _ in range(config.novelty_interval):
            measures.age()  # so many episodes are new
        measures.refresh(len(states), None, steps)

    updated = cpu_seconds(update)
    refresh()
    episodes = _median(episode, size)
    refreshed = _median(refresh, size)
    memory = sum(array.nbytes for array in measures.state().values())
    return Costs(updated, refreshed, episodes, _selecting(measures, next(pools), size), memory)


def _selecting(measures: Measures, candidates: Floats, size: Size) -> float:
    """Where an episode has been, what is no detour, and Eq. 6."""
    config = measures.config
    pool = measures.rate(candidates)
    excursion = Excursion(pool, config, 10, np.random.default_rng(0))
    radius = Config().subgoal_radius

    def select() -> None:
        excursion.arrive(1, candidates[0])
        worn, straight = excursion.novelty(), excursion.straight()
        select_subgoal(pool, candidates[0], radius, 1.0, config, novelty=worn, straight=straight)

    return _median(select, size)


def _median(work: Callable[[], None], size: Size) -> float:
    return statistics.median(cpu_seconds(work) for _ in range(size.repetitions))


def random_walks(episodes: int, dim: int) -> Floats:
    """Episodes that wander off from one place, about 30 wide in all. -> [E, steps + 1, d]."""
    rng = np.random.default_rng(dim)
    heading = rng.normal(size=(episodes, 1, dim)) * 0.01
    moves = rng.normal(0.0, 0.15, (episodes, _EPISODE + 1, dim)) + heading
    return np.cumsum(moves, 1).astype(np.float32)
