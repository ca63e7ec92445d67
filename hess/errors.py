"""The one exception for anything a user can put right, and the sentence it carries."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class HessError(Exception):
    """Bad input or a broken environment; the message is one sentence for the user."""


class MissingExtraError(HessError):
    """Something optional is not installed; the message says how to install it."""

    def __init__(self, what: str, package: str, extra: str):
        super().__init__(
            f"{what} needs {package}, which is not installed: "
            f"pip install '.[{extra}]' in a checkout of HESS"
        )


def closest(name: str, valid: Iterable[str], cutoff: float = 0.5) -> str | None:
    """The valid name that was probably meant, upper and lower case aside; None if none is near."""
    by_folded_name = {choice.casefold(): choice for choice in valid}
    close = difflib.get_close_matches(name.casefold(), by_folded_name, n=1, cutoff=cutoff)
    return by_folded_name[close[0]] if close else None


def unknown(kind: str, name: str, valid: Iterable[str]) -> HessError:
    """An error that names the bad value, the closest valid one and all choices."""
    choices = sorted(valid)
    close = closest(name, choices)
    hint = f"did you mean {close!r}? " if close else ""
    return HessError(f"unknown {kind} {name!r}; {hint}{kind}s: {', '.join(choices)}")


def require_at_least(name: str, value: int | None, least: int) -> None:
    """Refuse a number that is too small; None is for who did not give one."""
    if value is not None and value < least:
        raise HessError(f"{name}={value} is impossible; it must be at least {least}")
