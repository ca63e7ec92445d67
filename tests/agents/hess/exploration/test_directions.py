"""Which directions of φ lead somewhere: on made-up states whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from hess.agents.hess.exploration.directions import (
    explored_directions,
    growth_metric,
    widest_directions,
)
from hess.arrays import Floats


def test_the_widest_directions_are_those_of_places_not_of_visits() -> None:
    rng = np.random.default_rng(0)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    far = np.linspace(0.0, 30.0, 40)[:, None] * [1.0, 0.0, 0.0]  # a path that was walked once
    wide = rng.uniform(-4.0, 4.0, (4_000, 1)) * [0.0, 1.0, 0.0]
    noise = rng.uniform(-1.0, 1.0, (4_040, 3)) * [0.1, 0.1, 1.0]
    visited = np.concatenate([far, wide]) + noise
    directions = widest_directions(visited @ turn.T, 2)
    assert directions.shape == (3, 2)
    np.testing.assert_allclose(directions.T @ directions, np.eye(2), atol=1e-9)
    assert np.abs(turn[:, 0] @ directions[:, 0]) > 0.98
    assert np.abs(turn[:, 1] @ directions[:, 1]) > 0.9


@pytest.mark.parametrize("visited", [np.ones((50, 3)), np.ones((1, 3))], ids=["many", "one"])
def test_where_nothing_has_ever_moved_any_directions_will_do(visited: Floats) -> None:
    np.testing.assert_array_equal(widest_directions(visited, 2), np.eye(3, 2))


def test_two_places_have_a_widest_direction() -> None:
    directions = widest_directions(np.array([[0.0, 0.0, 0.0], [0.0, 3.0, 4.0]]), 2)
    np.testing.assert_allclose(np.abs(directions[:, 0]), [0.0, 0.6, 0.8], atol=0.03)
    np.testing.assert_allclose(directions.T @ directions, np.eye(2), atol=1e-9)


@pytest.mark.parametrize(("least", "expected"), [(0.3, 0.3), (0.0, 0.1)])
def test_a_direction_weighs_what_it_has_grown(least: float, expected: float) -> None:
    rng = np.random.default_rng(0)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    random = rng.uniform(-1.0, 1.0, (20_000, 3)) * [4.0, 10.0, 4.0]
    visited = rng.uniform(-1.0, 1.0, (200_000, 3)) * [30.0, 10.0, 12.0]
    metric = growth_metric(visited @ turn.T, random @ turn.T, least)
    np.testing.assert_allclose(metric, metric.T, atol=1e-6)
    weights = np.diag(turn.T @ metric @ turn)  # a heading in the middle, as wide as ever
    np.testing.assert_allclose(weights[[0, 2]], 1.0, atol=0.05)
    assert weights[1] == pytest.approx(expected, abs=0.1)


def test_the_direction_that_has_grown_most_weighs_1() -> None:
    """While nothing has grown much, the largest of little growth counts in full."""
    rng = np.random.default_rng(0)
    random = rng.uniform(-5.0, 5.0, (5_000, 2))
    metric = growth_metric(random * [1.6, 1.0], random, 0.1)
    assert np.linalg.eigvalsh(metric)[-1] == pytest.approx(1.0)
    assert metric[1, 1] < 0.5


def test_what_is_as_wide_as_any_counts_though_it_has_not_grown() -> None:
    rng = np.random.default_rng(0)
    random = rng.uniform(-1.0, 1.0, (20_000, 3)) * [20.0, 3.0, 3.0]
    visited = rng.uniform(-1.0, 1.0, (200_000, 3)) * [20.0, 20.0, 3.0]
    weights = np.diag(growth_metric(visited, random, 0.3))
    np.testing.assert_allclose(weights, [1.0, 1.0, 0.3], atol=0.05)


def test_where_nothing_has_moved_all_directions_weigh_the_same() -> None:
    np.testing.assert_array_equal(growth_metric(np.ones((9, 3)), np.ones((5, 3)), 0.3), np.eye(3))


def test_two_directions_are_explored_in_full_and_a_third_as_it_leads_beyond_random_moves() -> None:
    rng = np.random.default_rng(0)
    turn, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    random = rng.uniform(-1.0, 1.0, (5_000, 4)) * [2.0, 9.0, 1.0, 3.0]  # it turns, hardly walks
    visited = rng.uniform(-1.0, 1.0, (50_000, 4)) * [20.0, 9.0, 6.0, 3.0]
    explored = explored_directions(visited @ turn.T, random @ turn.T, 3)
    along = turn.T @ explored  # of x, heading, y and a pose
    assert np.abs(along[0, 0]) == pytest.approx(1.0, abs=0.05)
    assert np.abs(along[2]).max() == pytest.approx(1.0, abs=0.05)
    np.testing.assert_allclose(np.linalg.norm(explored, axis=0)[:2], 1.0)
    assert np.linalg.norm(along[[1, 3]]) < 0.35
    np.testing.assert_allclose(explored.T @ explored, np.diag((explored**2).sum(0)), atol=1e-9)


def test_a_coordinate_that_bends_takes_three_directions() -> None:
    """x is told by its own direction up to a fold, and beyond it by another one."""
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-20.0, 20.0, (2, 30_000))
    visited = np.stack([np.abs(x), y, x * (np.abs(x) < 12), rng.uniform(-3, 3, 30_000)], axis=1)
    random = rng.uniform(-1.0, 1.0, (5_000, 4)) * [1.0, 1.0, 1.0, 3.0]
    lengths = np.linalg.norm(explored_directions(visited, random, 3), axis=1)
    np.testing.assert_allclose(lengths[:3], 1.0, atol=0.1)
    assert lengths[3] < 0.2


def test_before_anything_but_random_moves_is_known_two_directions_are_explored() -> None:
    visited = np.random.default_rng(0).uniform(-1.0, 1.0, (20_000, 4)) * [20.0, 15.0, 10.0, 5.0]
    np.testing.assert_array_equal(
        explored_directions(visited, None, 3), widest_directions(visited, 2)
    )


def test_where_nothing_moved_at_random_everything_leads_somewhere() -> None:
    visited = np.array([[0.0, 0.0, 0.0], [0.0, 3.0, 4.0]])
    for random in (np.zeros((1, 3)), np.zeros((50, 3))):
        directions = explored_directions(visited, random, 2)
        np.testing.assert_allclose(np.abs(directions[:, 0]), [0.0, 0.6, 0.8], atol=0.03)
