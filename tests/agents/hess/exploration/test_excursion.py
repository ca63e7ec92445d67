"""Where an exploring episode goes first, and what wears out on the way: a corridor of cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from hess.agents.hess.exploration.cells import cell_keys
from hess.agents.hess.exploration.excursion import Excursion
from hess.agents.hess.exploration.graph import PlaceGraph
from hess.agents.hess.exploration.places import GridCells
from hess.agents.hess.exploration.selection import CandidatePool, Selection
from hess.arrays import Floats
from hess.config import ExplorationConfig

CELLS = 6
MIDDLES = np.stack([np.arange(CELLS) + 0.5, np.full(CELLS, 0.5)], -1)
LOG_COUNTS = np.array([6.0, 5.0, 4.0, 3.0, 2.0, 1.0])
COST = 0.25
SEGMENTS = 10
RIGHTWARDS = [(cell, cell + 1) for cell in range(CELLS - 1)]


def corridor(
    edges: Sequence[tuple[int, int]] = RIGHTWARDS, states: Floats = MIDDLES, own: float = 9.0
) -> CandidatePool:
    """Six cells of edge 1 in a row, the right ones less visited, and states in some of them."""
    keys = cell_keys(MIDDLES, 1.0)
    graph = PlaceGraph(keys, LOG_COUNTS, np.array(edges), COST, np.zeros(len(keys)))
    cells = graph.locate(cell_keys(states, 1.0))
    novelty = np.full(len(states), own)  # told apart from all that the graph says
    pool = CandidatePool(states, novelty, np.zeros(len(states)))
    wear, places = PlaceGraph.reachable, GridCells(2, 1.0)
    return pool._replace(graph=graph, cells=cells, places=places, wear=wear)


class Draws:
    """A generator that was told what to draw."""

    def __init__(self, share: float, cell: int | None = None):
        self._share, self._cell = share, cell
        self.offered: list[int] = []

    def random(self) -> float:
        return self._share

    def choice(self, among: Any) -> Any:
        self.offered = among.tolist()
        assert self._cell in self.offered
        return self._cell


def excursion(pool: CandidatePool, waypoint: int | None = None, **fields: Any) -> Excursion:
    """One with this waypoint, or none."""
    config = ExplorationConfig(
        **({"waypoints": 0.5, "revisit_cost": 1.0, "insistence": 0.0} | fields)
    )
    rng: Any = Draws(0.75) if waypoint is None else Draws(0.25, waypoint)
    return Excursion(pool, config, SEGMENTS, rng)


def reachable(log_counts: Sequence[float]) -> list[float]:
    """By hand, where chains lead to the right: the least of all log counts from here on."""
    return [
        min(count + COST * distance for distance, count in enumerate(log_counts[cell:]))
        for cell in range(len(log_counts))
    ]


def test_without_a_waypoint_the_novelty_is_that_of_the_graph() -> None:
    going = excursion(corridor())
    going.arrive(0, MIDDLES[0])
    assert going.novelty().tolist() == [2.25, 2.0, 1.75, 1.5, 1.25, 1.0]
    assert going.novelty().tolist() == reachable(LOG_COUNTS.tolist())


def test_a_waypoint_is_any_cell_that_was_entered() -> None:
    draws: Any = Draws(0.25, 3)
    Excursion(corridor(), ExplorationConfig(waypoints=0.5), SEGMENTS, draws)
    assert draws.offered == [1, 2, 3, 4, 5]


def test_a_waypoint_is_followed_until_it_is_reached() -> None:
    going = excursion(corridor(), waypoint=3, revisit_cost=0.0)
    going.arrive(0, MIDDLES[0])
    # Steps to cell 3; from the cells beyond it none lead back: as far as there are cells.
    steps = [3, 2, 1, 0, 6, 6]
    assert going.novelty().tolist() == steps
    going.arrive(1, np.array([2.49, 0.5]))  # its middle is 1.01 away, more than a cell
    assert going.novelty().tolist() == steps
    going.arrive(2, np.array([2.51, 0.5]))
    assert going.novelty().tolist() == reachable(LOG_COUNTS.tolist())
    going.arrive(3, MIDDLES[0])  # it does not come back
    assert going.novelty().tolist() == reachable(LOG_COUNTS.tolist())


def test_a_waypoint_is_given_up_after_half_of_the_episode() -> None:
    going = excursion(corridor(), waypoint=5, revisit_cost=0.0)
    for segment in range(5):
        going.arrive(segment, MIDDLES[0])
        assert going.novelty().tolist() == [5, 4, 3, 2, 1, 0]
    going.arrive(5, MIDDLES[0])
    assert going.novelty().tolist() == reachable(LOG_COUNTS.tolist())


def test_places_where_segments_end_wear_out_with_those_that_touch_them() -> None:
    going = excursion(corridor(), revisit_cost=2.0)
    going.arrive(0, MIDDLES[5])  # where the episode begins no segment has ended
    assert going.novelty().tolist() == reachable(LOG_COUNTS.tolist())
    going.arrive(1, MIDDLES[5])
    assert going.novelty().tolist() == reachable([6, 5, 4, 3, 4, 3])
    going.arrive(2, MIDDLES[4])
    worn = reachable([6, 5, 4, 5, 6, 5])
    assert going.novelty().tolist() == worn
    assert worn[0] == 4 + 2 * COST  # the end of the corridor is not the best any more
    going.arrive(3, np.array([50.0, 50.0]))  # no cell that is known: nothing wears out
    assert going.novelty().tolist() == worn


def test_places_wear_out_on_the_way_to_a_waypoint_too() -> None:
    going = excursion(corridor(), waypoint=5)
    going.arrive(1, MIDDLES[2])
    going.arrive(5, MIDDLES[2])
    assert going.novelty().tolist() == reachable([6, 7, 6, 5, 2, 1])


def test_a_revisit_that_costs_nothing_changes_nothing() -> None:
    going = excursion(corridor(), revisit_cost=0.0)
    for segment in range(SEGMENTS):
        going.arrive(segment, MIDDLES[3])
    assert going.novelty().tolist() == reachable(LOG_COUNTS.tolist())


def test_an_episode_that_insists_wears_nothing_out() -> None:
    going = excursion(corridor(), revisit_cost=2.0, insistence=1.0)
    for segment in range(SEGMENTS):
        going.arrive(segment, MIDDLES[5])
    assert going.novelty().tolist() == reachable(LOG_COUNTS.tolist())


def test_an_episode_that_insists_pays_no_tolls() -> None:
    pool = corridor()
    assert pool.graph is not None
    pool = pool._replace(graph=pool.graph._replace(tolls=np.array([0.0, 0.0, 3.0, 0.0, 0.0, 0.0])))
    assert excursion(pool, insistence=1.0).novelty().tolist() == reachable(LOG_COUNTS.tolist())
    with_tolls = excursion(pool).novelty() - reachable(LOG_COUNTS.tolist())
    assert with_tolls.tolist() == [3.0, 3.0, 3.0, 0.0, 0.0, 0.0]  # all that comes from the left


def test_states_in_no_cell_keep_their_novelty() -> None:
    states = np.array([[0.5, 0.5], [40.5, 0.5], [5.5, 0.5]])
    going = excursion(corridor(states=states, own=7.5))
    going.arrive(0, MIDDLES[0])
    assert going.novelty().tolist() == [2.25, 7.5, 1.0]


def test_a_waypoint_that_no_candidate_leads_to_is_no_waypoint() -> None:
    # Cell 1 is entered from 0 alone, and all states lie to its right.
    going = excursion(corridor(states=MIDDLES[2:]), waypoint=1)
    going.arrive(0, MIDDLES[2])
    assert going.novelty().tolist() == reachable(LOG_COUNTS.tolist())[2:]


def test_without_edges_there_is_no_waypoint() -> None:
    bare = corridor()
    assert bare.graph is not None
    graph = bare.graph._replace(edges=np.zeros((0, 2), np.int64))
    bare = bare._replace(graph=graph, wear=PlaceGraph.reachable)
    going = Excursion(bare, ExplorationConfig(waypoints=1.0), SEGMENTS, np.random.default_rng(0))
    going.arrive(0, MIDDLES[0])
    assert going.novelty().tolist() == LOG_COUNTS.tolist()


BEND = [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2)]  # around a wall at (0, 1), (1, 1)


@pytest.mark.parametrize(
    ("here", "detour", "seen"),
    [
        (0, 1.25, [0, 1, 2]),  # (2, 1) is 3 away by the corner, 2.2 straight
        (0, 1.5, [0, 1, 2, 3, 4]),
        (3, 1.25, [2, 3, 4]),
        (0, 0.0, [0, 1, 2, 3, 4, 5, 6]),
    ],
)
def test_what_lies_behind_a_wall_is_a_detour(here: int, detour: float, seen: list[int]) -> None:
    middles = np.array(BEND) + 0.5
    keys = cell_keys(middles, 1.0)
    order = np.argsort(keys)
    place = np.argsort(order)
    chain = [(place[i], place[i + 1]) for i in range(len(BEND) - 1)]
    both_ways = np.array(chain + [(end, start) for start, end in chain])
    graph = PlaceGraph(keys[order], np.ones(len(BEND)), both_ways, COST, np.zeros(len(keys)))
    states = np.concatenate([middles, [[50.0, 50.0]]])  # the last in no cell
    cells = graph.locate(cell_keys(states, 1.0))
    pool = corridor()._replace(embeddings=states, graph=graph, cells=cells)
    going = excursion(pool, detour=detour)
    going.arrive(0, middles[here])
    assert np.flatnonzero(going.straight()).tolist() == [*seen, 7]


def test_from_no_known_cell_nothing_is_a_detour() -> None:
    going = excursion(corridor())
    going.arrive(0, np.array([-30.5, 0.5]))
    assert going.straight().all()


OPEN = np.array([[x + 0.5, y + 0.5] for x in range(5) for y in range(5)])


def in_the_open(**fields: Any) -> Excursion:
    """Twenty-five cells in a square, none of them behind anything, and a state in each."""
    keys = cell_keys(OPEN, 1.0)
    nothing, no_edges = np.zeros(len(keys)), np.zeros((0, 2), np.int64)
    graph = PlaceGraph(np.sort(keys), nothing + 1.0, no_edges, COST, nothing)
    pool = corridor()._replace(
        embeddings=OPEN, novelty=np.zeros(len(OPEN)), graph=graph, cells=graph.locate(keys)
    )
    return excursion(pool, detour=0.0, **fields)


def left_out(going: Excursion) -> list[tuple[float, float]]:
    return [tuple(state) for state in OPEN[~going.straight()].tolist()]


def towards(selected: Sequence[float], imagined: Sequence[float]) -> Selection:
    return Selection(np.array(selected), np.array(imagined))


AHEAD = [(3.5, 2.5), (4.5, 2.5), (4.5, 1.5), (4.5, 3.5)]  # of (2.5, 2.5), to the right


def test_where_a_segment_got_nowhere_its_direction_is_left_out() -> None:
    going = in_the_open()
    going.arrive(0, np.array([2.5, 2.5]))
    going.pursue(towards([4.5, 2.5], [6.5, 2.5]))
    going.arrive(1, np.array([2.9, 2.5]))  # a fifth of the way to the selected subgoal
    assert sorted(left_out(going)) == [(3.5, 2.5), (4.5, 1.5), (4.5, 2.5), (4.5, 3.5)]
    going.arrive(2, np.array([2.5, 2.5]))
    assert sorted(left_out(going)) == sorted(AHEAD)


@pytest.mark.parametrize(
    ("end", "fields"),
    [
        ((3.1, 2.5), {}),  # three tenths of the way
        ((2.5, 2.5), {"least_progress": 0.0}),
        ((2.5, 2.5), {"insistence": 1.0}),
    ],
)
def test_nothing_is_left_out_after_progress_or_if_it_does_not_matter(
    end: tuple[float, float], fields: dict[str, float]
) -> None:
    going = in_the_open(**fields)
    going.arrive(0, np.array([2.5, 2.5]))
    going.pursue(towards([4.5, 2.5], [6.5, 2.5]))
    going.arrive(1, np.array(end))
    assert left_out(going) == []


def test_obstacles_count_where_they_were_met_and_are_remembered() -> None:
    going = in_the_open()
    going.arrive(0, np.array([2.5, 2.5]))
    going.pursue(towards([4.5, 2.5], [6.5, 2.5]))
    going.arrive(1, np.array([2.5, 2.5]))
    going.arrive(2, np.array([0.5, 2.5]))  # two cells away
    assert left_out(going) == []
    going.arrive(3, np.array([2.5, 2.5]))
    assert sorted(left_out(going)) == sorted(AHEAD)


def test_a_subgoal_of_the_policy_meets_no_obstacle() -> None:
    going = in_the_open()
    going.arrive(0, np.array([2.5, 2.5]))
    going.pursue(towards([4.5, 2.5], [6.5, 2.5]))
    going.arrive(1, np.array([4.5, 2.5]))
    going.arrive(2, np.array([4.5, 2.5]))  # nothing was selected for this segment
    assert left_out(going) == []


@pytest.mark.parametrize(("waypoints", "share"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)])
def test_the_config_says_how_many_episodes_have_a_waypoint(waypoints: float, share: float) -> None:
    rng, pool = np.random.default_rng(0), corridor()
    config = ExplorationConfig(waypoints=waypoints)
    usual, followed = reachable(LOG_COUNTS.tolist()), []
    for _ in range(400):
        going = Excursion(pool, config, SEGMENTS, rng)
        going.arrive(0, np.array([-30.5, 0.5]))  # near none of the cells
        followed.append(going.novelty().tolist() != usual)
    assert np.mean(followed) == pytest.approx(share, abs=0.0 if share in (0, 1) else 0.07)


@pytest.mark.parametrize(("insistence", "share"), [(0.0, 0.0), (0.3, 0.3), (1.0, 1.0)])
def test_the_config_says_how_many_episodes_insist(insistence: float, share: float) -> None:
    rng, pool = np.random.default_rng(0), corridor()
    config = ExplorationConfig(waypoints=0.0, insistence=insistence)
    usual, insisted = reachable(LOG_COUNTS.tolist()), []
    for _ in range(400):
        going = Excursion(pool, config, SEGMENTS, rng)
        going.arrive(1, MIDDLES[5])
        insisted.append(going.novelty().tolist() == usual)
    assert np.mean(insisted) == pytest.approx(share, abs=0.0 if share in (0, 1) else 0.07)
