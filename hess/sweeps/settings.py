"""`--set field=value value …`: text from the command line as values of the config's fields."""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Iterable
from typing import Any, get_args, get_origin, get_type_hints

from hess.config import Config
from hess.envs.arguments import parse_value
from hess.errors import HessError, unknown

Settings = dict[str, tuple[Any, ...]]
_NAME = re.compile(r"[\w.-]+")
_BOOLS = {"true": True, "false": False}


def parse_settings(words: Iterable[str]) -> Settings:
    """Values by field, in the order given; a word without `=` is one more value of the last field.

    `env.NAME` is an argument of the environment.

    >>> parse_settings(["low.hindsight=0", "0.5", "low.hidden=64,32", "env.reward=dense", "sparse"])
    {'low.hindsight': (0.0, 0.5), 'low.hidden': ((64, 32),), 'env.reward': ('dense', 'sparse')}
    """
    kinds = _kinds(Config)
    settings: Settings = {}
    name = ""
    for word in words:
        field, equals, text = word.partition("=")
        if not _NAME.fullmatch(field):  # `reward>=1` is a value
            equals = ""
        name = field.replace("-", "_") if equals else name
        if not name:
            raise HessError(f"{word!r} sets no field; write it as field=value")
        if name not in kinds and not name.startswith("env."):
            raise unknown("field", name, kinds)
        if equals and name in settings:
            raise HessError(f"{name} is set twice; give all its values at once: {name}=A B")
        value = _parse(kinds.get(name), text if equals else word, name)
        settings[name] = (*settings.get(name, ()), value)
    return settings


def _kinds(kind: Any, prefix: str = "") -> dict[str, Any]:
    """The type of every field under its dotted name."""
    kinds: dict[str, Any] = {}
    for name, inner in get_type_hints(kind).items():
        if dataclasses.is_dataclass(inner):
            kinds |= _kinds(inner, f"{prefix}{name}.")
        else:
            kinds[prefix + name] = inner
    return kinds


def _parse(kind: Any, text: str, name: str) -> Any:
    if kind is None:
        return parse_value(text)
    if get_origin(kind) is types.UnionType:  # int | None
        return None if text == "None" else _parse(get_args(kind)[0], text, name)
    if get_origin(kind) is tuple:
        return tuple(_parse(get_args(kind)[0], part, name) for part in text.split(",") if part)
    if get_origin(kind) is typing.Literal or kind is bool:
        choices = _BOOLS if kind is bool else {choice: choice for choice in get_args(kind)}
        if text not in choices:
            raise HessError(f"{name}={text} is impossible; it may be {', '.join(choices)}")
        return choices[text]
    try:
        return kind(text)
    except ValueError as error:
        what = "a whole number" if kind is int else "a number"
        raise HessError(f"{name}={text} is impossible; it must be {what}") from error
