"""Counts, N and U on rollouts that are small enough to compute by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hess.agents.hess.exploration.graph import Boundaries
from hess.agents.hess.exploration.measures import Measures
from hess.agents.hess.exploration.novelty import NOVELTIES, discounted_sums, importance_sums
from hess.arrays import Floats
from hess.config import ExplorationConfig
from hess.runs.tensors import checked_state, pack, unpack

# Cells of edge 1; A, B and C are the middles of three of them.
A, B, C, ELSEWHERE = (0.5, 0.5), (1.5, 0.5), (2.5, 0.5), (9.5, 9.5)
ALL = np.array([A, B, C, ELSEWHERE])


def measures(**fields: Any) -> Measures:
    """n(A) = 4, n(B) = 2, n(C) = 1."""
    settings: dict[str, Any] = {"cell_size": 1.0, "count_discount": 0.5, "novelty": "cumulative"}
    made = Measures(ExplorationConfig(**(settings | fields)), dim=2)
    made.visit(np.array([A] * 4 + [B] * 2 + [C]))
    return made


def rollouts(
    *points: list[tuple[float, float]],
    ages: list[float],
    valid: list[list[bool]] | None = None,
    log_ratios: list[list[float]] | None = None,
) -> Boundaries:
    embeddings = np.array(points)
    episodes, boundaries, _ = embeddings.shape
    return Boundaries(
        embeddings,
        np.ones((episodes, boundaries), np.bool_) if valid is None else np.array(valid),
        np.array(ages),
        np.zeros((episodes, boundaries - 1)) if log_ratios is None else np.array(log_ratios),
    )


def refresh(grid: Measures, stored: Boundaries, transitions: int) -> None:
    """With what the novelty asks for; its rollouts and the steps of the graph are the same here."""
    rollouts = stored if NOVELTIES[grid.config.novelty].follows_rollouts else None
    grid.refresh(transitions, rollouts, stored if grid.has_graph else None)


def test_visits_are_counted_per_cell_and_add_up() -> None:
    grid = measures()
    assert grid.visited()[1].tolist() == [4, 2, 1]
    grid.visit(np.array([B, B, ELSEWHERE]))
    refresh(grid, rollouts([ELSEWHERE, ELSEWHERE], ages=[0]), 1)
    assert grid.visits.number == 4
    assert grid.novelty(np.array([A, B, C])).tolist() == [4, 4, 1]


def test_recount_forgets_the_old_space() -> None:
    grid = measures()
    grid.recount(np.array([C, C, ELSEWHERE]))
    assert grid.visits.number == 2
    assert grid.novelty(ALL).tolist() == [0, 0, 2, 1]


def test_cumulative_counts_follow_each_rollout_at_the_multiples_of_c() -> None:
    grid = measures()
    refresh(grid, rollouts([A, B, C], ages=[0]), 10)
    # N(A) = 4 + 0.5 * 2 + 0.25 * 1, N(B) = 2 + 0.5 * 1, N(C) = 1; divided by the transitions.
    assert grid.novelty(ALL).tolist() == [0.525, 0.25, 0.1, 0.0]


def test_reachable_novelty_is_the_best_end_of_any_chain_of_segments() -> None:
    grid = measures(novelty="reachable", segment_cost=0.1)
    # No rollout went from A to C, but one from A to B and another from B to C.
    refresh(grid, rollouts([A, B], [B, C], ages=[0, 50]), 10)
    # With the cells that touch them, A has 4 + 2 visits, B 4 + 2 + 1, C 2 + 1.
    expected = [np.log(4) + 0.2, np.log(4) + 0.1, np.log(4), 0.0]
    np.testing.assert_allclose(grid.novelty(ALL), expected)


def test_a_segment_after_the_end_of_an_episode_leads_nowhere() -> None:
    grid = measures(novelty="reachable", segment_cost=0.1)
    refresh(grid, rollouts([A, B, C], ages=[0], valid=[[True, True, False]]), 1)
    np.testing.assert_allclose(grid.novelty(np.array([B])), [np.log(8)])


def test_a_cell_beside_a_busy_one_is_not_new_however_few_its_own_visits() -> None:
    grid = measures(novelty="reachable")
    sliver, frontier = (0.5, 1.5), ELSEWHERE
    grid.visit(np.array([sliver, frontier]))
    novelty = grid.novelty(np.array([sliver, frontier]))
    np.testing.assert_allclose(novelty, [np.log(1 + 1 + 4 + 2), np.log(1 + 1)])


def test_n_is_a_mean_over_rollouts_and_not_a_sum() -> None:
    grid = measures()
    once = rollouts([A, B, C], ages=[0])
    refresh(grid, once, 1)
    single = grid.novelty(ALL)
    refresh(grid, rollouts([A, B, C], [A, B, C], [A, B, C], ages=[0, 0, 0]), 1)
    np.testing.assert_allclose(grid.novelty(ALL), single)


def test_older_rollouts_weigh_less() -> None:
    grid = measures(age_discount=0.5)
    # From A on: the new rollout sees 4 + 0.5 * 1, the old one (weight 0.25) 4 + 0.5 * 2.
    refresh(grid, rollouts([A, C], [A, B], ages=[0, 2]), 1)
    assert grid.novelty(np.array([A]))[0] == pytest.approx((4.5 + 0.25 * 5.0) / 1.25)


def test_a_cell_met_twice_in_a_rollout_is_averaged_over_both() -> None:
    grid = measures()
    refresh(grid, rollouts([A, A, B], ages=[0]), 1)
    second = 4 + 0.5 * 2
    first = 4 + 0.5 * second
    assert grid.novelty(np.array([A]))[0] == pytest.approx((first + second) / 2)


def test_states_after_the_end_of_an_episode_count_nowhere() -> None:
    grid = measures()
    short = rollouts([B, C, A], ages=[0], valid=[[True, True, False]])
    refresh(grid, short, 1)
    # A was not reached: it adds nothing to B and C, and has no N of its own, only its count.
    assert grid.novelty(np.array([B, C, A])).tolist() == [2.5, 1.0, 4.0]


def test_immediate_novelty_is_the_count_alone() -> None:
    grid = measures(novelty="immediate")
    refresh(grid, rollouts([A, B, C], ages=[0]), 2)
    assert grid.novelty(ALL).tolist() == [2.0, 1.0, 0.5, 0.0]


@pytest.mark.parametrize("kind", ["cumulative", "reachable"])
def test_expected_visits_are_novelty_in_visits(kind: str) -> None:
    grid = measures(novelty=kind, segment_cost=0.1)
    refresh(grid, rollouts([A, B, C], ages=[0]), 10)
    novelty = grid.novelty(ALL)
    expected = 10 * novelty if kind == "cumulative" else np.exp(novelty) - 1
    np.testing.assert_allclose(grid.expected_visits(ALL), expected)


def test_importance_weights_are_products_of_ratios_up_to_each_state() -> None:
    ratios = [[2.0, 3.0]]
    sums = importance_sums(np.array([[4.0, 2.0, 1.0]]), np.log(ratios), discount=0.5)
    # rho: 2 at the first boundary, 2 * 3 at the second and, having no action, at the last.
    np.testing.assert_allclose(sums, [[2 * 4 + 0.5 * 6 * 2 + 0.25 * 6 * 1, 12 + 3, 6]])


def test_importance_weights_are_bounded() -> None:
    huge = importance_sums(np.ones((1, 2)), np.array([[1000.0]]), discount=1.0)
    np.testing.assert_allclose(huge, [[2 * np.exp(5.0), np.exp(5.0)]])


def test_importance_novelty_ignores_age() -> None:
    grid = measures(novelty="importance", age_discount=0.5)
    even = rollouts([A, C], [A, B], ages=[0, 7], log_ratios=[[0.0], [np.log(3.0)]])
    refresh(grid, even, 1)
    assert grid.novelty(np.array([A]))[0] == pytest.approx((4.5 + 3 * 5.0) / 2)


def test_discounted_sums_leave_their_input_alone() -> None:
    counts: Floats = np.array([[1.0, 2.0, 4.0], [0.0, 0.0, 8.0]])
    assert discounted_sums(counts, 0.5).tolist() == [[3.0, 4.0, 4.0], [2.0, 4.0, 8.0]]
    assert counts.tolist() == [[1.0, 2.0, 4.0], [0.0, 0.0, 8.0]]


def test_potential_is_a_mean_however_often_a_cell_was_tried() -> None:
    grid = measures()
    grid.record_outcomes(np.array([A, B]), np.array([1.0, 3.0]))
    for _ in range(20):
        grid.record_outcomes(np.array([A]), np.array([1.0]))
    assert grid.potential(np.array([A, B])).tolist() == [-1.0, -3.0]


def test_potential_discounts_older_attempts_by_episodes() -> None:
    grid = measures(age_discount=0.5)
    grid.record_outcomes(np.array([A]), np.array([8.0]))
    grid.age()
    grid.age()
    grid.record_outcomes(np.array([A]), np.array([2.0]))
    assert grid.potential(np.array([A]))[0] == pytest.approx(-(0.25 * 8 + 2) / 1.25)


def test_age_alone_changes_no_mean() -> None:
    grid = measures(age_discount=0.5)
    grid.record_outcomes(np.array([A]), np.array([8.0]))
    grid.age()
    assert grid.potential(np.array([A]))[0] == pytest.approx(-8.0)


def test_a_cell_without_attempts_has_the_most_optimistic_potential() -> None:
    grid = measures()
    assert grid.potential(ALL).tolist() == [0, 0, 0, 0]
    grid.record_outcomes(np.array([A]), np.array([5.0]))
    assert grid.potential(ALL).tolist() == [-5, 0, 0, 0]


def test_no_attempts_are_fine() -> None:
    grid = measures()
    grid.record_outcomes(np.zeros((0, 2)), np.zeros(0))
    assert grid.potential(np.array([A])).tolist() == [0]


def test_potentials_go_where_the_states_of_their_cells_are_and_stay_means() -> None:
    grid = measures()
    grid.record_outcomes(np.array([A, A, A, B]), np.array([2.0, 2.0, 2.0, 6.0]))
    before = grid.keys(np.array([A, B, C]))
    grid.divide(2.0, np.array([A, B, C]))
    grid.carry(before, grid.keys(np.array([A, B, C])))
    # A and B share a cell of edge 2 now: three attempts at -2 and one at -6.
    assert grid.potential(np.array([A, B, C])).tolist() == [-3, -3, 0]
    grid.recount(np.array([A, B, C]))
    assert grid.visited()[1].tolist() == [2, 1]


@pytest.mark.parametrize("kind", NOVELTIES)
def test_candidates_are_rated_with_the_graph_whatever_the_novelty(kind: str) -> None:
    grid = measures(novelty=kind)
    assert grid.rate(ALL).graph is None
    grid.record_outcomes(np.array([A]), np.array([5.0]))
    refresh(grid, rollouts([A, B, C], ages=[0]), 10)
    pool = grid.rate(ALL)
    assert pool.novelty.tolist() == grid.novelty(ALL).tolist()
    assert pool.potential.tolist() == [-5, 0, 0, 0]
    assert pool.graph is not None
    assert pool.cells.tolist() == [0, 1, 2, -1]
    assert pool.graph.edges.tolist() == [[0, 1], [1, 2]]
    assert pool.places is not None
    assert pool.places.size == 1.0
    assert pool.wear is not None
    unworn = pool.wear(pool.graph, np.zeros(3))
    np.testing.assert_allclose(unworn, pool.novelty[:3])  # what an episode begins with
    worn = pool.wear(pool.graph, np.array([0.0, 0.0, 2.0]))
    assert worn[2] > unworn[2]
    # Chains from A and B lead to C; counts are of no concern to other places.
    assert (worn[:2] > unworn[:2]).all() == (kind == "reachable")


@pytest.mark.parametrize("kind", ["immediate", "cumulative", "importance"])
def test_wear_adds_to_the_log_of_the_visits(kind: str) -> None:
    grid = measures(novelty=kind)
    refresh(grid, rollouts([A, B, C], ages=[0]), 10)
    pool = grid.rate(ALL)
    assert pool.graph is not None
    assert pool.wear is not None
    expected = ((1 + grid.expected_visits(ALL[:3])) * np.exp(2.0) - 1) / 10
    np.testing.assert_allclose(pool.wear(pool.graph, np.full(3, 2.0)), expected)


@pytest.mark.parametrize(("cost", "failed", "toll"), [(0.2, 4, 0.8), (0.0, 4, 0.0), (1.0, 50, 10)])
def test_attempts_in_vain_are_paid_for_up_to_a_limit(cost: float, failed: int, toll: float) -> None:
    grid = measures(novelty="reachable", attempt_cost=cost)
    grid.record_attempts(np.repeat(np.array([C]), failed, axis=0), np.full(failed, 9.0))
    refresh(grid, rollouts([A, B, C], ages=[0]), 10)
    graph = grid.rate(ALL).graph
    assert graph is not None
    np.testing.assert_allclose(graph.tolls, [0.0, 0.0, toll])


EXCURSIONS = {"waypoints": 0.0, "detour": 0.0, "least_progress": 0.0, "revisit_cost": 0.0}


@pytest.mark.parametrize("kind", NOVELTIES)
@pytest.mark.parametrize("asked", [{}, {"probability": 0.0}, *({name: 0.5} for name in EXCURSIONS)])
def test_a_graph_is_made_where_something_asks_for_it(kind: str, asked: dict[str, float]) -> None:
    grid = measures(novelty=kind, **(EXCURSIONS | {"probability": 0.7} | asked))
    wanted = kind == "reachable" or bool(asked.keys() & EXCURSIONS.keys())
    assert grid.has_graph == wanted


def test_the_graph_survives_a_checkpoint_and_fits_what_a_fresh_grid_expects() -> None:
    grid = measures(novelty="reachable", segment_cost=0.3)
    refresh(grid, rollouts([A, B, C], [C, B, ELSEWHERE], ages=[0, 1]), 7)
    fresh = Measures(grid.config, dim=2)
    arrays = checked_state(unpack(pack(grid.state()), "the state"), fresh.state())
    fresh.restore(arrays)
    assert len(fresh.graph.edges) == 4
    expected = grid.graph._asdict()
    for name, part in fresh.graph._asdict().items():
        assert np.array_equal(part, expected[name]), name
        assert np.asarray(part).dtype == np.asarray(expected[name]).dtype


def test_a_fresh_grid_survives_one_too() -> None:
    fresh, other = measures(novelty="reachable"), measures(novelty="reachable")
    fresh.restore(checked_state(unpack(pack(other.state()), "the state"), fresh.state()))
    assert fresh.rate(ALL).graph is None


def test_state_restores_everything_into_a_fresh_grid() -> None:
    grid = measures()
    refresh(grid, rollouts([A, B, C], ages=[0]), 7)
    grid.record_outcomes(np.array([A, C]), np.array([1.0, 2.0]))
    grid.age()
    grid.divide(2.0, ALL)
    copy = Measures(grid.config, dim=2)
    copy.restore(grid.state())
    assert copy.novelty(ALL).tolist() == grid.novelty(ALL).tolist()
    assert copy.potential(ALL).tolist() == grid.potential(ALL).tolist()
    copy.record_outcomes(np.array([A]), np.array([9.0]))
    grid.record_outcomes(np.array([A]), np.array([9.0]))
    assert copy.potential(ALL).tolist() == grid.potential(ALL).tolist()
    assert copy.state().keys() == grid.state().keys()
