"""Actions in the bounds of any Box."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from hess.envs.spaces import ActionScale
from hess.errors import HessError

UNEVEN = spaces.Box(np.array([-3.0, 0.0, 2.0]), np.array([5.0, 1e6, 2.0]), dtype=np.float64)


@pytest.mark.parametrize(
    ("action", "expected"),
    [(-1, [-3, 0, 2]), (0, [1, 5e5, 2]), (1, [5, 1e6, 2]), (2, [5, 1e6, 2])],
)
def test_every_number_has_its_own_bounds(action: float, expected: list[float]) -> None:
    scale = ActionScale(UNEVEN)
    assert scale(np.full(3, action, np.float32)).tolist() == expected
    assert scale.description == "3 numbers in [-3, 1e+06]"


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_actions_have_the_dtype_and_stay_inside(dtype: Any) -> None:
    space = spaces.Box(np.array([-0.1, 0.3], dtype), np.array([0.7, 1.1], dtype), dtype=dtype)
    scale = ActionScale(space)
    for action in np.random.default_rng(0).uniform(-1, 1, (200, 2)).astype(np.float32):
        assert space.contains(scale(action))
    assert all(space.contains(scale(np.full(2, end))) for end in (-1.0, 1.0))


def test_a_box_of_several_axes_gets_its_shape() -> None:
    space = spaces.Box(-2, 2, (2, 3), np.float32)
    scale = ActionScale(space)
    assert scale.dim == 6
    assert scale(np.linspace(-1, 1, 6)).shape == (2, 3)
    assert scale(np.linspace(-1, 1, 6))[1, 2] == 2


def test_whole_numbers_are_rounded() -> None:
    space = spaces.Box(0, 9, (2,), np.int64)
    scaled = ActionScale(space)(np.array([0.99, -1.0]))
    assert scaled.tolist() == [9, 0]
    assert space.contains(scaled)


def test_bounds_as_large_as_float32_holds_do_not_overflow() -> None:
    most = float(np.finfo(np.float32).max)
    scaled = ActionScale(spaces.Box(-most, most, (1,), np.float32))(np.array([0.5]))
    assert np.isfinite(scaled).all()
    assert scaled[0] == pytest.approx(most / 2)


def test_what_is_in_place_already_is_passed_on_untouched() -> None:
    action = np.array([0.25, -1.0], np.float32)
    assert ActionScale(spaces.Box(-1, 1, (2,), np.float32))(action) is action


def test_a_share_of_the_bounds_is_taken_around_their_middle() -> None:
    scale = ActionScale(
        spaces.Box(np.array([-1, 0], np.float32), np.array([1, 8], np.float32)), 0.25
    )
    assert scale(np.array([1.0, -1.0])).tolist() == [0.25, 3.0]
    assert scale(np.array([0.0, 0.0])).tolist() == [0.0, 4.0]


@pytest.mark.parametrize(
    ("space", "sentence"),
    [
        (spaces.Discrete(3), "its actions are a Discrete; HESS needs a Box"),
        (spaces.Box(-np.inf, 1, (2,)), "no finite bounds"),
        (spaces.Box(1, 1, (2,)), "leave no choice"),
        (spaces.Box(0, 1, (0,)), "leave no choice"),
    ],
)
def test_what_cannot_be_acted_in_is_named(space: Any, sentence: str) -> None:
    with pytest.raises(HessError, match=sentence):
        ActionScale(space)
