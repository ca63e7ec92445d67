"""Which directions of φ lead somewhere: on made-up states whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from hess.agents.hess.exploration.directions import (
    explored_directions,
    growing_directions,
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


def test_the_growing_directions_are_those_beyond_random_moves() -> None:
    rng = np.random.default_rng(0)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    random = rng.uniform(-1.0, 1.0, (5_000, 3)) * [2.0, 5.0, 1.0]  # it turns more than it walks
    visited = rng.uniform(-1.0, 1.0, (50_000, 3)) * [20.0, 6.0, 5.0]
    visited, random = visited @ turn.T, random @ turn.T
    assert np.abs(turn[:, 1] @ widest_directions(visited, 2)[:, 1]) > 0.9
    directions = growing_directions(visited, random, 2)
    np.testing.assert_allclose(directions.T @ directions, np.eye(2), atol=1e-6)
    assert np.linalg.norm(turn[:, 0] @ directions) > 0.98
    assert np.linalg.norm(turn[:, 2] @ directions) > 0.9


def test_where_nothing_moved_at_random_everything_grows() -> None:
    visited = np.array([[0.0, 0.0, 0.0], [0.0, 3.0, 4.0]])
    for random in (np.zeros((1, 3)), np.zeros((50, 3))):
        directions = growing_directions(visited, random, 2)
        np.testing.assert_allclose(np.abs(directions[:, 0]), [0.0, 0.6, 0.8], atol=0.03)
    np.testing.assert_array_equal(growing_directions(np.ones((9, 3)), random, 2), np.eye(3, 2))


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


@pytest.mark.parametrize(("weight", "count"), [(0.9, 3), (0.5, 2)])
def test_a_third_direction_is_explored_where_it_leads_somewhere(weight: float, count: int) -> None:
    rng = np.random.default_rng(0)
    visited = rng.uniform(-1.0, 1.0, (20_000, 4)) * [20.0, 15.0, 10.0, 5.0]
    weights = np.diag([1.0, 1.0, weight, 0.3])
    random = visited / [8.0, 6.0, 4.0, 1.0]
    for most, expected in ((2, 2), (3, count), (4, count)):
        assert explored_directions(visited, random, weights, most).shape == (4, expected)


def test_while_nothing_is_known_of_directions_two_are_explored() -> None:
    visited = np.random.default_rng(0).uniform(-1.0, 1.0, (20_000, 4)) * [20.0, 15.0, 10.0, 5.0]
    assert explored_directions(visited, visited / 5, np.eye(4), 4).shape == (4, 2)
    assert explored_directions(visited, None, np.diag([1, 1, 1, 0.3]), 4).shape == (4, 2)
