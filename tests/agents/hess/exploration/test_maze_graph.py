"""Novelty along chains, on a maze whose answer is known, in a space of any dimension.

A corridor bends twice: along the x axis, up, and back above where it began, behind a wall. Episodes
begin at one end; most come to the middle, few to the other end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from hess.agents.hess.exploration.excursion import Excursion
from hess.agents.hess.exploration.graph import Boundaries
from hess.agents.hess.exploration.measures import Measures
from hess.agents.hess.exploration.visits import ESTIMATORS
from hess.arrays import Floats
from hess.config import ExplorationConfig
from hess.runs.tensors import checked_state, pack, unpack

LENGTH, ACROSS = 24.0, 4.0
EPISODES, STEPS = 40, 60
CASES = [(name, dim) for name in ESTIMATORS for dim in (2, 3, 4, 8) if (name, dim) != ("grid", 8)]


def corridor(way: Any, dim: int) -> Floats:
    """The point after so much of the way, turned into a space of more dimensions. [n] -> [n, d]."""
    way = np.asarray(way, np.float64)
    x = np.interp(way, [0, 10, 14, LENGTH], [0, 10, 10, 0])
    y = np.interp(way, [0, 10, 14, LENGTH], [0, 0, ACROSS, ACROSS])
    axes, _ = np.linalg.qr(np.random.default_rng(dim).normal(size=(dim, dim)))
    return np.stack([x, y], -1) @ axes[:2]


def walks(dim: int) -> Boundaries:
    """Forth and back a little, but mostly forth; every eighth episode comes to the end."""
    rng = np.random.default_rng(0)
    speeds = np.where(np.arange(EPISODES) % 8 == 0, LENGTH, LENGTH / 2) / STEPS
    ways = speeds[:, None] * np.arange(STEPS + 1) + rng.normal(0, 0.3, (EPISODES, STEPS + 1))
    points = corridor(ways.clip(0, LENGTH), dim) + rng.normal(0, 0.05, (*ways.shape, dim))
    valid = np.ones(ways.shape, np.bool_)
    ages = np.arange(EPISODES, dtype=np.float64)[::-1]
    return Boundaries(points, valid, ages, np.zeros((EPISODES, 0)), 0.2)


def explored(name: str, dim: int, **fields: Any) -> Measures:
    """After an update of φ with all episodes but two, which come afterwards."""
    settings: dict[str, Any] = {"counts": name, "cell_size": 1.5, "directions": 0, "waypoints": 0.0}
    settings |= {"insistence": 0.0}
    measures = Measures(ExplorationConfig(**(settings | fields)), dim)
    stored = walks(dim)
    earlier = stored._replace(
        embeddings=stored.embeddings[:-2], valid=stored.valid[:-2], ages=stored.ages[2:] - 2
    )
    points = earlier.embeddings.reshape(-1, dim)
    measures.divide(1.5, points)
    measures.recount(points)
    measures.refresh(len(points), earlier, earlier)
    for points in stored.embeddings[-2:]:
        measures.visit(points)
        measures.age()
    measures.refresh(stored.valid.size, stored, stored)
    return measures


@pytest.mark.parametrize(("name", "dim"), CASES)
def test_all_of_the_corridor_leads_to_its_far_end(name: str, dim: int) -> None:
    ways = np.linspace(0.5, LENGTH - 0.5, 40)
    novelty = explored(name, dim).novelty(corridor(ways, dim))
    # A hashed grid of eight axes cuts the corridor into pieces that differ by chance.
    least = 0.75 if (name, dim) == ("hashed", 8) else 0.95
    assert spearmanr(novelty, ways).statistic < -least


@pytest.mark.parametrize(("name", "dim"), CASES)
def test_what_is_behind_the_wall_is_a_detour(name: str, dim: int) -> None:
    measures = explored(name, dim)
    ways = np.array([3.0, 6.0, 9.0, 19.0, 21.0, 23.0])
    pool = measures.rate(corridor(ways, dim))
    going = Excursion(pool, measures.config, 10, np.random.default_rng(0))
    going.arrive(0, corridor(2.0, dim))
    assert going.straight().tolist() == [True, True, True, False, False, False]


@pytest.mark.parametrize(("name", "dim"), CASES)
def test_where_segments_ended_wears_out(name: str, dim: int) -> None:
    measures = explored(name, dim, revisit_cost=20.0)
    pool = measures.rate(corridor(np.array([2.0, 23.5]), dim))
    going = Excursion(pool, measures.config, 10, np.random.default_rng(0))
    going.arrive(0, corridor(23.5, dim))
    before = going.novelty()
    assert before[1] < before[0]
    going.arrive(1, corridor(23.5, dim))
    worn = going.novelty()
    assert worn[1] > before[1]
    assert worn[1] - before[1] >= worn[0] - before[0]


@pytest.mark.parametrize("name", ["hashed", "neighbours"])
def test_edges_of_new_episodes_alone_are_added(name: str) -> None:
    measures = explored(name, 4)
    total = int(measures.state()["edges.values"].sum())
    assert total == EPISODES * STEPS  # each step of each episode once
    measures.refresh(1, None, walks(4))  # nothing new
    assert int(measures.state()["edges.values"].sum()) == total


@pytest.mark.parametrize(("name", "dim"), CASES)
def test_a_resumed_run_knows_the_same(name: str, dim: int) -> None:
    measures = explored(name, dim)
    copy = Measures(measures.config, dim)
    copy.restore(checked_state(unpack(pack(measures.state()), "the state"), copy.state()))
    asked = corridor(np.linspace(0.0, LENGTH, 30), dim)
    for each in (measures, copy):
        each.visit(asked)
        each.age()
        each.refresh(9, walks(dim), walks(dim))
    assert copy.novelty(asked).tolist() == measures.novelty(asked).tolist()
    for key, array in measures.state().items():
        assert np.array_equal(copy.state()[key], array), key
