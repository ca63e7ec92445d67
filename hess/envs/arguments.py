"""Keyword arguments of an environment as text, `name=value`, the form they have in a config.

Values are written as Python writes them; a word that is no number, list or the like is itself:

    random_goal=True  reward=dense  success_radius=0.5  maze_map=[[1,1,1],[1,'r',1]]
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from hess.errors import HessError, require_at_least
from hess.files import digest

Arguments = tuple[str, ...]
"""Sorted by name, each once: equal environments have equal arguments."""

_LONGEST = 20_000  # characters of a value; a map of 50 x 50 cells has 7,500
_LONGEST_IN_NAME = 40
_PLAIN = re.compile(r"[\w.+-]+")
_WORDS = {"true": True, "false": False, "null": None}  # as JSON and `--set` write them
_ELSEWHERE = {
    "max_episode_steps": "the length of an episode is --horizon, or horizon= in Python",
    "render_mode": "whoever draws sets it",
    "id": "it is the task's own name",
}


def parse_arguments(words: Iterable[str]) -> dict[str, Any]:
    """Values by name.

    >>> parse_arguments(["random_goal=True", "reward=dense", "cells=[1, 'g']"])
    {'random_goal': True, 'reward': 'dense', 'cells': [1, 'g']}
    """
    values: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise HessError(
                f"{word!r} is no argument of an environment; write it as name=value, such as "
                "random_goal=True"
            )
        if name in values:
            raise HessError(f"the environment's argument {name!r} is given twice")
        _refuse_name(name)
        values[name] = parse_value(text)
    return values


def parse_value(text: str) -> Any:
    """A Python literal, true, false or null; anything else is itself."""
    if len(text) > _LONGEST:
        raise HessError(f"an environment's argument of {len(text):,} characters is too long")
    if text in _WORDS:
        return _WORDS[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


def format_arguments(values: Mapping[str, Any]) -> Arguments:
    """The text of arguments, from which `parse_arguments` makes the same values.

    >>> format_arguments({"reward": "dense", "cells": (1, "g"), "name": "3"})
    ("cells=(1, 'g')", "name='3'", 'reward=dense')
    """
    for name in values:
        _refuse_name(name)
    return tuple(f"{name}={_format(name, values[name])}" for name in sorted(values))


def _refuse_name(name: str) -> None:
    if name in _ELSEWHERE:
        raise HessError(f"{name!r} cannot be an environment's argument: {_ELSEWHERE[name]}")
    if not name.isidentifier():
        raise HessError(f"{name!r} cannot be the name of an environment's argument")


def _format(name: str, value: Any) -> str:
    value = _plain(name, value)
    if isinstance(value, str) and value.strip() == value and parse_value(value) == value:
        return value
    return repr(value)


def _plain(name: str, value: Any) -> Any:
    """The value without anything but Python's own kinds in it: a config is text on disk."""
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        value = value.tolist()
    if isinstance(value, Enum):  # some are numbers or text as well, but are not written as these
        value = value.value
    if isinstance(value, list | tuple):
        kind = list if isinstance(value, list) else tuple
        return kind(_plain(name, each) for each in value)
    if isinstance(value, dict):
        return {_plain(name, key): _plain(name, each) for key, each in value.items()}
    finite = not isinstance(value, float) or math.isfinite(value)
    if value is None or (isinstance(value, bool | int | float | str) and finite):
        return value
    raise HessError(
        f"the environment's argument {name}={value!r} cannot be kept in a config; it may be made "
        "of finite numbers, text, True, False, None, lists, tuples and dictionaries"
    )


def make_keywords(words: Iterable[str], horizon: int | None) -> dict[str, Any]:
    """What `gymnasium.make` is given."""
    keywords = parse_arguments(words)
    require_at_least("horizon", horizon, 1)
    return keywords if horizon is None else keywords | {"max_episode_steps": horizon}


def merged(words: Iterable[str], values: Mapping[str, Any] | None = None) -> Arguments:
    """Arguments with some replaced or added, in the one form that a config has."""
    return format_arguments(parse_arguments(words) | dict(values or {}))


def collected(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a config in which `env`, a mapping or words, and `env.NAME` have become one `env`.

    >>> collected({"steps": 10, "env": {"reward": "dense"}, "env.random_goal": True})
    {'steps': 10, 'env': ('random_goal=True', 'reward=dense')}
    """
    if not any(name.partition(".")[0] == "env" for name in fields):
        return dict(fields)
    single = {
        name.removeprefix("env."): value
        for name, value in fields.items()
        if name.startswith("env.")
    }
    others = {name: value for name, value in fields.items() if name.partition(".")[0] != "env"}
    whole = fields.get("env", ())
    if isinstance(whole, str) or not isinstance(whole, Iterable):
        raise HessError(
            f"env={whole!r} is impossible; it must be a dictionary of the environment's arguments"
        )
    values = dict(whole) if isinstance(whole, Mapping) else parse_arguments(whole)
    return others | {"env": format_arguments(values | single)}


def label(arguments: Iterable[str]) -> str:
    """For the name of a folder; what is long or not fit for a name is a digest of it.

    >>> label(["random_goal=True", "reward=dense"])
    'random_goal=True,reward=dense'
    """
    return ",".join(_short(*word.partition("=")[::2]) for word in arguments)


def _short(name: str, text: str) -> str:
    fits = len(text) <= _LONGEST_IN_NAME and _PLAIN.fullmatch(text)
    return f"{name}={text if fits else digest(text.encode())[:8]}"
