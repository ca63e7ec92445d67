"""Arguments of environments: text to values and back, and what they are called in a name."""

from __future__ import annotations

import doctest
from enum import IntEnum, StrEnum
from typing import Any, NamedTuple

import numpy as np
import pytest

from hess.envs import arguments
from hess.envs.arguments import (
    collected,
    format_arguments,
    label,
    make_keywords,
    merged,
    parse_arguments,
)
from hess.errors import HessError

VALUES: dict[str, Any] = {
    "flag": True,
    "nothing": None,
    "count": 3,
    "size": 0.5,
    "word": "dense",
    "number_as_text": "3",
    "true_as_text": "true",
    "text": "two words ",
    "empty": "",
    "maze": [[1, "r"], [0, "g"]],
    "pair": (1.0, 2.0),
    "named": {"a": [1, 2]},
}


def test_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(arguments).failed == 0


@pytest.mark.parametrize("name", VALUES)
def test_a_value_survives_being_text(name: str) -> None:
    words = format_arguments({name: VALUES[name]})
    assert parse_arguments(words) == {name: VALUES[name]}
    assert type(parse_arguments(words)[name]) is type(VALUES[name])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("True", True),
        ("true", True),
        ("false", False),
        ("null", None),
        ("1e-3", 0.001),
        ("a b", "a b"),
    ],
)
def test_text_of_the_command_line(text: str, value: Any) -> None:
    assert parse_arguments([f"x={text}"]) == {"x": value}


def test_the_same_arguments_have_one_form() -> None:
    assert merged(["b=true", "a='x'"]) == merged(["a=x", "b=True"]) == ("a=x", "b=True")
    assert format_arguments({"a": np.float64(0.5), "b": np.arange(2)}) == ("a=0.5", "b=[0, 1]")


class Pair(NamedTuple):
    x: int
    y: int


class Level(IntEnum):
    HARD = 2


class Kind(StrEnum):
    DENSE = "dense"


def test_enumerations_and_named_tuples_are_kept_by_their_values() -> None:
    values = {"a": Level.HARD, "b": [Kind.DENSE], "c": Pair(1, 2)}
    assert format_arguments(values) == ("a=2", "b=['dense']", "c=(1, 2)")


def test_some_are_replaced_and_some_added() -> None:
    assert merged(("a=1", "b=2"), {"b": 3, "c": "x"}) == ("a=1", "b=3", "c=x")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["random_goal"], "'random_goal' is no argument of an environment; write it as name=value"),
        (["a=1", "a=2"], "'a' is given twice"),
        (["max_episode_steps=3"], "the length of an episode is --horizon"),
        (["render_mode=human"], "whoever draws sets it"),
        (["a-b=3"], "'a-b' cannot be the name"),
        (["a=" + "1" * 30_000], "30,000 characters is too long"),
    ],
)
def test_what_can_be_no_argument_is_refused(words: list[str], sentence: str) -> None:
    with pytest.raises(HessError) as caught:
        parse_arguments(words)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("value", [object(), float("nan"), float("inf"), [len], 1j])
def test_what_a_config_cannot_keep_is_refused(value: Any) -> None:
    with pytest.raises(HessError, match=r"the environment's argument x=.* cannot be kept"):
        format_arguments({"x": value})


def test_deeply_nested_text_is_just_text() -> None:
    nested = "[" * 5_000
    assert parse_arguments([f"x={nested}"]) == {"x": nested}


def test_a_mapping_words_and_single_names_are_one_field() -> None:
    expected = {"steps": 1, "env": ("a=1", "b=x")}
    assert collected({"steps": 1, "env": {"a": 1, "b": "x"}}) == expected
    assert collected({"steps": 1, "env": ("b=x", "a=1")}) == expected
    assert collected({"steps": 1, "env.b": "x", "env": {"a": 1}}) == expected
    assert collected({"steps": 1}) == {"steps": 1}
    for wrong in ("a=1", 3):
        with pytest.raises(HessError, match="must be a dictionary"):
            collected({"env": wrong})


def test_a_folder_is_named_by_short_values_and_digests_of_long_ones() -> None:
    first, second = (label([f"maze_map=[[1, {end}]]"]) for end in (0, 1))
    assert label(["random_goal=True"]) == "random_goal=True"
    assert first != second
    assert all(name.startswith("maze_map=") and len(name) == 17 for name in (first, second))
    assert "/" not in label(["file=../../secret"])


def test_the_horizon_is_gymnasiums_limit() -> None:
    assert make_keywords(["a=1"], None) == {"a": 1}
    assert make_keywords(["a=1"], 7) == {"a": 1, "max_episode_steps": 7}
    for wrong in (0, -1):  # to Gymnasium, -1 is no limit at all
        with pytest.raises(HessError, match=f"horizon={wrong} is impossible"):
            make_keywords([], wrong)
