"""How many attempts a place takes, on segments whose answer is known."""

from __future__ import annotations

import numpy as np

from hess.agents.hess.exploration.outcomes import Attempts
from hess.agents.hess.exploration.places import GridCells

PLACES = GridCells(2, 2.0)
A, B, C = np.array([[1.0, 1.0], [5.0, 1.0], [9.0, 1.0]])
KEYS = PLACES.keys(np.array([A, B, C]))


def tried() -> Attempts:
    """Three attempts at A, of which one got nearer than a cell's edge; one at B, which did."""
    attempts = Attempts(0.9)
    attempts.record(PLACES, np.array([A, A, A, B]), np.array([2.1, 9.0, 1.9, 0.0]))
    return attempts


def test_attempts_per_success_are_1_where_nothing_is_known() -> None:
    np.testing.assert_allclose(tried().expected(KEYS), [4 / 2, 1.0, 1.0])


def test_a_place_that_was_never_reached_becomes_dear() -> None:
    attempts = Attempts(0.9)
    for _ in range(9):
        attempts.record(PLACES, C[None], np.array([5.0]))
    assert attempts.expected(KEYS)[2] == 10.0


def test_old_attempts_are_forgotten() -> None:
    attempts = tried()
    for _ in range(200):
        attempts.age()
    np.testing.assert_allclose(attempts.expected(KEYS), 1.0, atol=1e-6)


def test_attempts_go_where_the_states_of_their_place_are() -> None:
    attempts = tried()
    moved = np.array([KEYS[2], KEYS[2]])
    attempts.carry(np.array([KEYS[0], KEYS[0]]), moved)
    assert attempts.expected(KEYS).tolist() == [1.0, 1.0, 2.0]


def test_an_episode_without_attempts_changes_nothing() -> None:
    attempts = tried()
    attempts.record(PLACES, np.zeros((0, 2)), np.zeros(0))
    np.testing.assert_allclose(attempts.expected(KEYS), [2.0, 1.0, 1.0])


def test_a_copy_knows_the_same() -> None:
    copy = Attempts(0.9)
    copy.restore(tried().state())
    np.testing.assert_array_equal(copy.expected(KEYS), tried().expected(KEYS))
