"""Command-line flags from a dataclass, and tyro's error boxes as one sentence."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from typing import TypeVar

from hess.errors import HessError

Parsed = TypeVar("Parsed")

_SIDES = "│|╭╮╰╯+ "
_RULES = "─-"


def parse(command: type[Parsed], program: str, arguments: Sequence[str]) -> Parsed:
    """Build the dataclass from the arguments; bad ones are a `HessError`.

    A dataclass with a classmethod `defaults(arguments)` gets its default values from there, so
    that one flag (a preset) can decide the defaults of others.
    """
    import tyro

    options = (
        tyro.conf.HelptextFromCommentsOff,  # comments explain code, docstrings explain flags
        tyro.conf.PositionalMetavarFromFieldName,
    )
    defaults = getattr(command, "defaults", None)
    default: Parsed = defaults(arguments) if defaults else tyro.MISSING_NONPROP
    errors = io.StringIO()
    try:
        with contextlib.redirect_stderr(errors):
            return tyro.cli(command, prog=program, args=arguments, default=default, config=options)
    except SystemExit as leaving:
        if leaving.code in (0, None):  # --help
            raise
        raise HessError(sentence(errors.getvalue())) from None


def sentence(box: str) -> str:
    """The text inside of a box, its parts joined by semicolons.

    >>> sentence("╭─ Title ───╮\\n│ No --sed. │\\n│ ───────── │\\n│ Run --help │\\n╰───────╯")
    'no --sed; run --help'
    """
    parts: list[list[str]] = [[]]
    for line in box.splitlines():
        text = line.strip(_SIDES)
        if not text.strip(_RULES):
            parts.append([])
        elif not text.startswith(("─ ", "- ")):  # the title says the same again
            parts[-1].append(text)
    joined = [" ".join(_without_explanations(part)).rstrip(".") for part in parts if part]
    return "; ".join(part[0].lower() + part[1:] for part in joined)


def _without_explanations(lines: list[str]) -> list[str]:
    """Of suggestions keep the flags; what each means is in the help."""
    if lines[0] != "Perhaps you meant:":
        return lines
    flags = [line for line in lines[1:] if line.startswith("-")]
    return [*lines[:1], ", ".join(flags)] if flags else lines
