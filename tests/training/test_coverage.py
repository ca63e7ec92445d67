"""Visited squares of one metre."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from hess.envs.floorplan import FloorPlan
from hess.training.coverage import Coverage

# Four by two metres, of which a wall fills the second column.
PLAN = FloorPlan(
    walls=np.array([[1.0, 0.0, 2.0, 2.0]]),
    start=(0.5, 0.5),
    goal=(3.5, 0.5),
    bounds=(0.0, 0.0, 4.0, 2.0),
)


def test_the_share_is_of_the_squares_without_walls() -> None:
    coverage = Coverage(PLAN)
    assert coverage.share() == 0.0
    coverage.add(np.array([[0.1, 0.1], [0.9, 0.9], [2.5, 1.5]]))
    assert coverage.share() == pytest.approx(2 / 6)
    coverage.add(np.array([[0.5, 0.5]]))
    assert coverage.share() == pytest.approx(2 / 6)
    assert coverage.count() == 2


def test_squares_outside_of_the_plan_do_not_count_towards_the_share() -> None:
    coverage = Coverage(PLAN)
    coverage.add(np.array([[-0.5, 0.5], [1.5, 0.5], [9.0, 9.0], [3.5, 0.5]]))
    assert coverage.share() == pytest.approx(1 / 6)
    assert coverage.count() == 4


def test_where_the_robot_cannot_get_to_all_that_is_free_only_its_reach_counts() -> None:
    reach = np.array([[0.0, 0.0, 1.0, 1.0], [3.0, 0.2, 4.0, 0.8]])
    coverage = Coverage(dataclasses.replace(PLAN, reach=reach))
    coverage.add(np.array([[0.5, 0.5], [0.5, 1.5]]))
    assert coverage.share() == 0.5


def test_without_a_plan_there_is_only_a_number() -> None:
    coverage = Coverage(None)
    coverage.add(np.array([[0.2, 0.2], [-0.2, 0.2]]))
    assert coverage.share() is None
    assert coverage.count() == 2


def test_state_restores_what_was_visited() -> None:
    coverage, copy = Coverage(PLAN), Coverage(PLAN)
    assert coverage.state().shape == (0, 2)
    coverage.add(np.array([[0.2, 0.2], [3.2, 1.2], [-7.0, 3.0]]))
    copy.restore(coverage.state())
    assert copy.share() == coverage.share()
    assert np.array_equal(copy.state(), coverage.state())
