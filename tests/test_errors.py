"""The sentence a user reads after a typo."""

from __future__ import annotations

import pytest

from hess.errors import HessError, unknown


@pytest.mark.parametrize(
    ("name", "closest"),
    [("antmaze", "AntMaze"), ("AntMase", "AntMaze"), ("PUSH", "Push"), ("antmz", "AntMaze")],
)
def test_offers_the_closest_name_whatever_its_case(name: str, closest: str) -> None:
    error = unknown("task", name, ["Push", "AntMaze"])
    expected = f"unknown task {name!r}; did you mean {closest!r}? tasks: AntMaze, Push"
    assert str(error) == expected


@pytest.mark.parametrize("name", ["", "zzz", "🙂"])
def test_offers_nothing_where_nothing_is_close(name: str) -> None:
    error = unknown("task", name, ["AntMaze"])
    assert str(error) == f"unknown task {name!r}; tasks: AntMaze"


def test_is_an_error_to_raise_of_its_own_kind() -> None:
    with pytest.raises(HessError):
        raise unknown("method", "x", iter(["hess"]))
