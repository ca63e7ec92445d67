"""Landmarks cover what was visited, and stay few."""

from __future__ import annotations

import numpy as np
import pytest

from hess.agents.hess.exploration.landmarks import MOST, Landmarks, cover
from hess.agents.hess.exploration.places import moved
from hess.arrays import Floats


def walk(dim: int, steps: int = 5_000, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(0, 0.3, (steps, dim)), 0)


@pytest.mark.parametrize("dim", [1, 2, 4, 8, 16])
def test_every_point_has_a_landmark_and_landmarks_are_a_size_apart(dim: int) -> None:
    points = walk(dim)
    found = cover(points, 1.0)
    assert 0 < len(found) <= MOST
    distances = np.linalg.norm(found.points[:, None] - found.points, axis=-1)
    assert distances[~np.eye(len(found), dtype=bool)].min() >= found.size
    gaps = np.linalg.norm(points[::50, None] - found.points, axis=-1)
    assert gaps.min(-1).max() < found.size
    assert found.keys(points[::50]).tolist() == gaps.argmin(-1).tolist()


def test_the_size_grows_where_many_would_be_needed() -> None:
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (20_000, 8))
    wide = cover(points, 0.1)
    assert wide.size > 0.5
    assert MOST / 10 < len(wide) <= MOST / 2
    assert cover(points[:100], 0.01).size == 0.01


def test_what_is_found_later_gets_landmarks_and_the_others_keep_their_keys() -> None:
    first = cover(np.array([[0.0, 0.0], [0.4, 0.0], [1.5, 0.0]]), 1.0)
    assert first.points.tolist() == [[0, 0], [1.5, 0]]
    grown = first.grown(np.array([[1.4, 0.2], [5.0, 0.0], [5.5, 0.0], [6.1, 0.0]]))
    assert grown.points.tolist() == [[0, 0], [1.5, 0], [5, 0], [6.1, 0]]
    assert first.points.tolist() == [[0, 0], [1.5, 0]]
    assert grown.keys(np.array([[0.7, 0.0], [5.6, 0.0], [5.2, 1.4], [3.25, 0.0]])).tolist() == [
        0, 3, 2, -1,
    ]  # fmt: skip


def test_their_number_is_bounded_afterwards_too() -> None:
    found = cover(np.zeros((1, 1)), 1.0)
    assert len(found.grown(2.0 * np.arange(5_000)[:, None])) == MOST


def test_nothing_is_near_no_landmarks() -> None:
    nothing = Landmarks(np.zeros((0, 3)), 1.0)
    assert nothing.keys(np.zeros((2, 4, 3))).tolist() == [[-1] * 4] * 2
    assert np.isinf(nothing.near(np.zeros((2, 3)), 5)[0]).all()


def test_touching_landmarks_are_the_nearest_within_two_sizes() -> None:
    line = Landmarks(np.array([[0.0], [1.1], [2.1], [3.6], [9.0]]), 1.0)
    assert sorted(line.touching(1)) == [0, 1, 2]
    assert sorted(line.touching(4)) == [4]
    assert line.reached(1, np.array([2.0]))
    assert not line.reached(1, np.array([2.2]))


def test_sums_move_to_the_nearest_landmark_of_another_division() -> None:
    from hess.agents.hess.exploration.cells import CellTable

    before = Landmarks(np.array([[0.0], [1.0], [2.0], [50.0]]), 1.0)
    now = Landmarks(np.array([[0.4], [2.4]]), 2.0)
    table = CellTable(np.arange(4), np.array([1.0, 2.0, 4.0, 8.0]))
    assert moved(table, before, now).values.tolist() == [3, 4]  # nothing is near the last
