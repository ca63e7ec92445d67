"""Which subgoal is selected (Eq. 6), where the imagined one lies, and how p falls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hess.agents.hess.exploration.selection import (
    CandidatePool,
    exploration_probability,
    explored_unit,
    extend,
    resolving_size,
    scores,
    select_subgoal,
)
from hess.arrays import Floats
from hess.config import ExplorationConfig

ORIGIN = np.zeros(2)
NO_MOVES = np.zeros(0)


def pool(*rows: tuple[float, float, float, float]) -> CandidatePool:
    """Rows of x, y, novelty, potential."""
    table = np.array(rows)
    return CandidatePool(table[:, :2], table[:, 2], table[:, 3])


def selected(
    among: CandidatePool, current: Floats = ORIGIN, radius: float = 10.0, **fields: Any
) -> list[float]:
    settings: dict[str, Any] = {"reach": 1.0, "balance": "weighted"}
    config = ExplorationConfig(**(settings | fields))
    selection = select_subgoal(among, current, radius, 1.0, config)
    assert selection is not None
    return selection.selected.tolist()


def test_scores_are_novelty_minus_weighted_potential() -> None:
    config = ExplorationConfig(potential_weight=0.5, balance="weighted")
    assert scores(np.array([1.0, 2.0]), np.array([-4.0, 0.0]), config).tolist() == [3.0, 2.0]


def test_normalised_scores_bring_both_to_the_unit_range_first() -> None:
    config = ExplorationConfig(potential_weight=0.5, balance="normalised")
    novelty, potential = np.array([10.0, 30.0, 20.0]), np.array([-1.0, -3.0, -2.0])
    # novelty -> 0, 1, 0.5; potential -> 1, 0, 0.5
    assert scores(novelty, potential, config).tolist() == [-0.5, 1.0, 0.25]


def test_normalising_equal_values_does_not_divide_by_zero() -> None:
    config = ExplorationConfig(balance="normalised")
    assert scores(np.full(3, 7.0), np.full(3, -2.0), config).tolist() == [0, 0, 0]


def test_the_subgoal_has_the_smallest_score() -> None:
    candidates = pool((1, 0, 0.5, 0), (2, 0, 0.2, 0), (3, 0, 0.3, 0))
    assert selected(candidates, potential_weight=0.1) == [2, 0]


def test_potential_outweighs_novelty_where_its_weight_is_large_enough() -> None:
    candidates = pool((1, 0, 0.2, -10), (2, 0, 0.5, -1))
    assert selected(candidates, potential_weight=0.0) == [1, 0]
    assert selected(candidates, potential_weight=0.01) == [1, 0]  # 0.3 against 0.51
    assert selected(candidates, potential_weight=0.1) == [2, 0]  # 1.2 against 0.6


def test_only_states_within_the_radius_are_candidates() -> None:
    candidates = pool((3.01, 0, 0.0, 0), (0, 3, 0.5, 0), (1, 0, 0.9, 0))
    assert selected(candidates, radius=3.0) == [0, 3]  # on the edge counts as inside
    assert selected(candidates, radius=2.9) == [1, 0]
    assert selected(candidates, current=np.array([2.0, 0.0]), radius=3.0) == [3.01, 0]


def test_nothing_in_reach_is_no_selection() -> None:
    far = pool((5, 0, 0, 0), (0, 5, 0, 0))
    config = ExplorationConfig(reach=0.5)
    assert select_subgoal(far, ORIGIN, 9.9, 1.0, config) is None
    assert select_subgoal(far, ORIGIN, 10.1, 1.0, config) is not None


def test_only_the_first_candidates_in_reach_are_compared() -> None:
    candidates = pool((9, 9, 0.0, 0), (1, 0, 0.8, 0), (2, 0, 0.5, 0), (3, 0, 0.1, 0))
    # The first row is out of reach and must not use up one of the places.
    assert selected(candidates, radius=4.0, candidates=2) == [2, 0]
    assert selected(candidates, radius=4.0, candidates=3) == [3, 0]


def test_normalisation_is_over_the_candidates_in_reach() -> None:
    candidates = pool((1, 0, 1.0, -1), (2, 0, 2.0, 0), (90, 0, 1000.0, -1000))
    # In reach: novelty 0, 1 and potential 0, 1. With the far state they would be almost equal.
    assert selected(candidates, balance="normalised", potential_weight=0.9) == [1, 0]
    assert selected(candidates, balance="normalised", potential_weight=1.1) == [2, 0]


def test_the_imagined_subgoal_lies_beyond_the_selected_one() -> None:
    # From (1, 1) to (4, 5): length 5, direction (0.6, 0.8).
    imagined = extend(np.array([4.0, 5.0]), np.array([1.0, 1.0]), 10.0)
    np.testing.assert_allclose(imagined, [10.0, 13.0])


@pytest.mark.parametrize(("unit", "expected"), [(1.0, [6, 8]), (2.0, [9, 12])])
def test_selection_carries_the_imagined_subgoal(unit: float, expected: list[float]) -> None:
    config = ExplorationConfig(extension=5.0, reach=1.0)
    selection = select_subgoal(pool((3, 4, 0, 0)), ORIGIN, 10.0, unit, config)
    assert selection is not None
    assert selection.selected.tolist() == [3, 4]
    np.testing.assert_allclose(selection.imagined, expected)


def test_without_a_direction_or_an_extension_the_subgoal_stays() -> None:
    here = np.array([2.0, 3.0])
    assert extend(here, here, 5.0).tolist() == [2, 3]
    assert extend(here, ORIGIN, 0.0).tolist() == [2, 3]


@given(
    hnp.arrays(np.float64, 3, elements=st.floats(-50, 50)),
    hnp.arrays(np.float64, 3, elements=st.floats(-50, 50)),
    st.floats(0, 30),
)
def test_extension_is_on_the_ray_and_exactly_as_long_as_asked(
    goal: Floats, current: Floats, distance: float
) -> None:
    length = np.linalg.norm(goal - current)
    imagined = extend(goal, current, distance)
    expected = length + distance if length > 0 else 0.0
    assert np.linalg.norm(imagined - current) == pytest.approx(expected, rel=1e-6, abs=1e-6)
    beyond = distance if length > 0 else 0.0
    assert np.linalg.norm(imagined - goal) == pytest.approx(beyond, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("progress", "expected"), [(0.0, 0.8), (0.125, 0.6), (0.25, 0.4), (0.5, 0.0), (1.0, 0.0)]
)
def test_linear_p_falls_to_zero_at_the_given_share_of_training(
    progress: float, expected: float
) -> None:
    config = ExplorationConfig(
        probability=0.8, schedule="linear", anneal_fraction=0.5, decided="segment"
    )
    for success in (0.0, 1.0):
        assert exploration_probability(config, progress, success) == pytest.approx(expected)


def test_a_linear_p_with_no_time_to_anneal_is_zero() -> None:
    config = ExplorationConfig(schedule="linear", anneal_fraction=0.0)
    assert exploration_probability(config, 0.0, 0.0) == 0.0


@pytest.mark.parametrize(("success", "expected"), [(0.0, 0.8), (0.25, 0.6), (1.0, 0.0)])
def test_success_p_depends_on_recent_success_alone(success: float, expected: float) -> None:
    config = ExplorationConfig(probability=0.8, schedule="success", decided="segment")
    for progress in (0.0, 0.5, 1.0):
        assert exploration_probability(config, progress, success) == pytest.approx(expected)


@pytest.mark.parametrize(("success", "expected"), [(0.0, 0.6), (0.25, 0.45), (1.0, 0.0)])
def test_p_of_episodes_has_a_start_of_its_own(success: float, expected: float) -> None:
    config = ExplorationConfig(decided="episode", episode_share=0.6, schedule="success")
    assert exploration_probability(config, 0.5, success) == pytest.approx(expected)
    never = replace(config, probability=0.0)  # nothing would be selected in such an episode
    assert exploration_probability(never, 0.5, success) == 0.0


def test_selection_looks_along_the_explored_directions_alone() -> None:
    plane = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    states = np.array([[3.0, 4.0, 50.0], [9.0, 9.0, 0.0]])
    pool = CandidatePool(states, np.array([0.0, 1.0]), np.zeros(2), plane=plane)
    config = ExplorationConfig(extension=5.0, reach=1.0)
    selection = select_subgoal(pool, np.array([0.0, 0.0, 7.0]), 10.0, 1.0, config)
    assert selection is not None
    # In reach, although far away in the third direction.
    np.testing.assert_allclose(selection.selected, [3, 4, 50])
    way = np.array([3.0, 4.0, 43.0])
    np.testing.assert_allclose(selection.imagined, [3, 4, 50] + 5 * way / np.linalg.norm(way))


def test_fixed_units_do_not_depend_on_what_was_explored() -> None:
    config = ExplorationConfig(units="fixed", reference_span=30.0)
    assert explored_unit(config, np.array([[0.0, 0.0], [90.0, 0.0]]), NO_MOVES, before=1.0) == 1.0


def test_span_units_grow_with_the_widest_dimension_and_never_shrink() -> None:
    config = ExplorationConfig(units="span", reference_span=30.0)
    # 1001 evenly spaced states: half a percent is cut off at each end of the 60.
    wide = np.stack([np.linspace(-20, 40, 1001), np.linspace(0, 10, 1001)], -1)
    unit = explored_unit(config, wide, NO_MOVES, before=0.0)
    assert unit == pytest.approx(0.99 * 60 / 30)
    assert explored_unit(config, wide / 2, NO_MOVES, before=unit) == unit
    assert explored_unit(config, 1.05 * wide, NO_MOVES, before=unit) == unit  # not by a tenth yet
    grown = explored_unit(config, 1.2 * wide, NO_MOVES, before=unit)
    assert grown == pytest.approx(1.2 * unit)


def test_span_units_ignore_a_few_outliers() -> None:
    config = ExplorationConfig(units="span", reference_span=1.0)
    points = np.random.default_rng(0).uniform(0, 1, (10_000, 2))
    points[:10] = 1e6
    assert explored_unit(config, points, NO_MOVES, before=0.0) == pytest.approx(0.99, abs=0.01)


def test_units_of_a_robot_that_stands_still_are_no_length_of_zero() -> None:
    config = ExplorationConfig(units="segment", reference_span=30.0)
    still = np.zeros((100, 2))
    assert explored_unit(config, still, np.zeros(20), before=0.0) == 1.0
    assert explored_unit(config, still, np.zeros(20), before=0.7) == 0.7
    wide = np.stack([np.linspace(0, 60, 1001), np.zeros(1001)], -1)
    moves = np.zeros(20)  # nine of ten segments do not move at all: the span decides
    assert explored_unit(config, wide, moves, before=0.0) == pytest.approx(0.99 * 60 / 30)


def test_segment_units_are_bounded_by_what_one_in_ten_segments_covers() -> None:
    config = ExplorationConfig(units="segment", reference_span=30.0, reference_segment=10.0)
    wide = np.stack([np.linspace(-20, 40, 1001), np.linspace(0, 10, 1001)], -1)
    moves = np.linspace(0, 10, 101)  # nine of ten cover 9 or less
    assert explored_unit(config, wide, moves, before=0.0) == pytest.approx(0.9)
    assert explored_unit(config, wide, 10 * moves, before=0.0) == pytest.approx(0.99 * 60 / 30)


def test_segment_units_never_shrink_and_grow_by_a_tenth_or_more() -> None:
    config = ExplorationConfig(units="segment", reference_span=1.0, reference_segment=10.0)
    wide = np.stack([np.linspace(0, 90, 1001), np.zeros(1001)], -1)
    moves = np.full(5, 10.0)
    assert explored_unit(config, wide, moves / 2, before=1.0) == 1.0
    assert explored_unit(config, wide, 1.05 * moves, before=1.0) == 1.0
    assert explored_unit(config, wide, 1.2 * moves, before=1.0) == pytest.approx(1.2)


def test_without_a_whole_segment_the_span_decides() -> None:
    config = ExplorationConfig(units="segment", reference_span=30.0)
    wide = np.stack([np.linspace(-20, 40, 1001), np.zeros(1001)], -1)
    assert explored_unit(config, wide, NO_MOVES, before=0.0) == pytest.approx(0.99 * 60 / 30)


def test_an_episode_may_bring_its_own_novelty() -> None:
    candidates = pool((1, 0, 0.5, 0), (2, 0, 0.2, 0), (30, 0, 0.0, 0))
    config = ExplorationConfig(reach=1.0)
    own = np.array([0.1, 0.2, 0.0])
    selection = select_subgoal(candidates, ORIGIN, 10.0, 1.0, config, novelty=own)
    assert selection is not None
    assert selection.selected.tolist() == [1, 0]


def test_detours_are_no_candidates_unless_there_is_nothing_else() -> None:
    pool = CandidatePool(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.0, 9.0]), np.zeros(2))
    config = ExplorationConfig(reach=1.0, potential_weight=0.0)
    for straight, chosen in (([False, True], 1), ([True, True], 0), ([False, False], 0)):
        selection = select_subgoal(pool, np.zeros(2), 2.0, 1.0, config, straight=np.array(straight))
        assert selection is not None
        assert np.array_equal(selection.selected, pool.embeddings[chosen])


def test_the_spread_compares_both_terms_of_eq_6() -> None:
    spread = pool((0, 0, 1, -4), (1, 0, 3, -8)).spread(potential_weight=0.5)
    assert list(spread.values()) == [1.0, 0.5 * 2.0]


@pytest.mark.parametrize(
    ("least", "share"), [(0, 1.0), (100, 1.0), (101, 0.8), (170, 0.65), (1_000, 1.0 / 3.0)]
)
def test_cells_become_finer_until_there_are_enough(least: int, share: float) -> None:
    """A square of ten by ten cells, evenly visited."""
    axis = np.linspace(0.001, 29.999, 300)
    points = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    assert resolving_size(points, 3.0, least) == pytest.approx(3.0 * share)


@pytest.mark.parametrize("dim", [2, 8, 16, 70])
def test_cells_are_counted_in_any_number_of_directions(dim: int) -> None:
    points = np.zeros((300, dim))
    points[:, 0] = np.arange(300.0) + 0.5  # in 100 cells of size 3
    assert resolving_size(points, 3.0, 100) == 3.0
    assert resolving_size(points, 3.0, 101) == pytest.approx(3.0 * 0.8)
