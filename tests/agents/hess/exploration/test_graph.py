"""Which cells lead where, on graphs that are small enough to follow with a finger."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hess.agents.hess.exploration.cells import cell_keys
from hess.agents.hess.exploration.graph import (
    PlaceGraph,
    common_edges,
    empty_graph,
    least_over_chains,
    stored_graph,
)
from hess.agents.hess.exploration.places import GridCells
from hess.errors import HessError

CORNERS = np.array([[0, 0], [1, 0], [2, 0], [2, 1], [9, 9]]) + 0.5
A, B, C, D, FAR = range(5)  # as they are sorted by key: A, B, C in a row, D above C, FAR alone
KEYS = cell_keys(CORNERS, 1.0)
INF = np.inf


def graph() -> PlaceGraph:
    """A -> B -> C -> B, and D -> D; log counts 4, 3, 1, 2 and 0."""
    edges = np.array([[A, B], [B, C], [C, B], [D, D]])
    return PlaceGraph(KEYS, np.array([4.0, 3.0, 1.0, 2.0, 0.0]), edges, 0.5, np.zeros(5))


def test_cells_are_found_by_their_keys_and_others_are_not() -> None:
    assert (np.diff(KEYS) > 0).all()
    unknown = cell_keys(np.array([[0.5, 5.5], [20.5, 20.5]]), 1.0)
    keys = np.array([[KEYS[FAR], unknown[0]], [unknown[1], KEYS[A]]])
    assert graph().locate(keys).tolist() == [[FAR, -1], [-1, A]]
    assert graph().locate(KEYS[C]).tolist() == C


def test_nothing_is_found_in_an_empty_graph() -> None:
    assert empty_graph().locate(KEYS).tolist() == [-1] * 5
    assert empty_graph().entered().tolist() == []
    assert empty_graph().reachable().tolist() == []


def test_the_least_log_count_is_reached_at_a_cost_per_edge() -> None:
    # C is the best that A and B lead to, two edges and one away; FAR is better, but cut off.
    assert graph().reachable().tolist() == [1.0 + 2 * 0.5, 1.0 + 0.5, 1.0, 2.0, 0.0]


def test_what_is_extra_counts_before_chains_are_followed() -> None:
    extra = np.array([0.0, 0.0, 3.0, 0.0, 7.0])
    # C has 4 now: B itself has 3, and A and C lead there.
    assert graph().reachable(extra).tolist() == [3.5, 3.0, 3.5, 2.0, 7.0]
    assert graph().log_counts.tolist() == [4.0, 3.0, 1.0, 2.0, 0.0]


def test_a_toll_is_paid_by_every_chain_that_enters() -> None:
    tolls = np.array([0.0, 0.25, 0.0, 0.0, 4.0])
    # A pays for B on its way to C, and so does whoever goes to B itself; FAR is dear to enter.
    paying = graph()._replace(tolls=tolls)
    assert paying.reachable().tolist() == [2.25, 1.75, 1.0, 2.0, 4.0]
    assert paying.without_tolls().reachable().tolist() == graph().reachable().tolist()
    dear = graph()._replace(tolls=np.array([0.0, 5.0, 0.0, 0.0, 0.0]))
    assert dear.reachable()[A] == 4.0  # it stays where it is


def test_steps_are_edges_on_the_shortest_chain_and_infinite_without_one() -> None:
    assert graph().steps_to(C).tolist() == [2, 1, 0, INF, INF]
    assert graph().steps_to(A).tolist() == [0, INF, INF, INF, INF]  # edges lead one way
    shortcut = np.concatenate([graph().edges, [[A, C]]])
    assert graph()._replace(edges=shortcut).steps_to(C).tolist() == [1, 1, 0, INF, INF]


def test_surroundings_are_the_known_cells_that_touch_one_and_itself() -> None:
    def around(cell: int) -> list[int]:
        return sorted(graph().surroundings(cell, GridCells(2, 1.0)).tolist())

    assert around(A) == [A, B]
    assert around(B) == [A, B, C, D]  # D across the corner
    assert around(FAR) == [FAR]


def test_entered_cells_are_the_ends_of_edges_once_each() -> None:
    assert graph().entered().tolist() == [B, C, D]


def test_edges_lead_one_way_and_their_cost_counts() -> None:
    values, edges = np.array([3.0, 2.0, 0.0]), np.array([[0, 1], [0, 2], [2, 1]])
    assert least_over_chains(values, edges, 0.5).tolist() == [0.5, 2.0, 0.0]
    assert least_over_chains(values, edges, 4.0).tolist() == [3.0, 2.0, 0.0]
    assert values.tolist() == [3.0, 2.0, 0.0]


def test_circles_come_to_an_end() -> None:
    circle = np.array([[0, 1], [1, 2], [2, 0]])
    assert least_over_chains(np.array([5.0, 5.0, 0.0]), circle, 0.0).tolist() == [0, 0, 0]
    assert least_over_chains(np.array([5.0, INF, 0.0]), circle, 1.0).tolist() == [2, 1, 0]


def test_rare_edges_do_not_count_but_the_main_edge_into_a_cell_does() -> None:
    # From 0 it is mostly to 1, and 2 is mostly entered from 1: the edge from 0 to 2 is rare.
    edges = np.array([[0, 0], [0, 1], [0, 2], [1, 2], [2, 3]])
    times = np.array([900, 96, 4, 50, 1])
    assert common_edges(edges, times, 0.03).tolist() == [True, True, False, True, True]
    # To 3 there is no other edge than a rare one.
    edges, times = np.array([[0, 0], [0, 3]]), np.array([999, 1])
    assert common_edges(edges, times, 0.03).tolist() == [True, True]
    assert common_edges(edges[:0], times[:0], 0.03).tolist() == []


def test_staying_in_a_cell_is_no_way_into_it() -> None:
    edges, times = np.array([[0, 1], [1, 1]]), np.array([2, 50])
    assert common_edges(edges, times, 1.0).tolist() == [True, True]
    edges, times = np.array([[0, 0], [0, 1], [2, 1]]), np.array([500, 2, 2])
    assert common_edges(edges, times, 0.1).tolist() == [True, True, True]


def test_all_edges_count_if_asked_for() -> None:
    edges, times = np.array([[0, 0], [0, 1], [2, 1]]), np.array([9_999, 1, 500])
    assert common_edges(edges, times, 0.0).all()
    assert common_edges(edges, times, 0.03).tolist() == [True, False, True]


def arrays(**changes: Any) -> dict[str, Any]:
    """The graph as a checkpoint holds it."""
    parts = graph()._asdict() | changes
    return {name: np.asarray(part) for name, part in parts.items()}


def test_a_stored_graph_comes_back() -> None:
    again = stored_graph(arrays())
    assert isinstance(again.edge_cost, float)
    expected = graph()._asdict()
    for name, part in again._asdict().items():
        assert np.array_equal(part, expected[name]), name


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("log_counts", np.zeros(4), "5 cells cannot have 4 log counts"),
        ("edges", np.array([[0, 5]]), "an edge between cells leads to none of the 5 cells"),
        ("edges", np.array([[-1, 0]]), "an edge between cells leads to none of the 5 cells"),
        ("edge_cost", -0.5, "edges of cost -0.5"),
        ("edge_cost", np.nan, "edges of cost nan"),
        ("log_counts", np.array([0.0, 0.0, 0.0, 0.0, np.nan]), "no numbers"),
        ("tolls", np.zeros(4), "5 cells cannot have 4 tolls"),
        ("tolls", np.array([0.0, 0.0, 0.0, 0.0, np.nan]), "no numbers"),
        ("tolls", np.array([0.0, -1.0, 0.0, 0.0, 0.0]), "no numbers"),
    ],
)
def test_a_graph_whose_chains_would_not_end_is_refused(
    field: str, value: Any, sentence: str
) -> None:
    with pytest.raises(HessError, match=sentence):
        stored_graph(arrays(**{field: value}))
