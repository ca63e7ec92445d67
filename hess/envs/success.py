"""What counts as success: one rule for training, evaluation and `hess check-env`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from hess.errors import HessError, closest

AUTO = "auto"
TERMINATED = "terminated"
KEYS = ("is_success", "success", "goal_achieved")
"""What `auto` looks for in `info`, in this order."""
CHOICES = (
    "--success KEY (a key of info), --success terminated (the episode ended before its horizon), "
    "or --success 'reward>=1' (a step with that much reward)"
)
_THRESHOLD = "reward>="


def check_rule(rule: str) -> None:
    """Refuse what can be no rule."""
    if rule.startswith(("reward>", "reward<", "reward=")):
        _threshold(rule)
    elif not rule or rule != rule.strip():
        raise HessError(f"success={rule!r} is impossible; it may be auto, or {CHOICES}")


def _threshold(rule: str) -> float:
    text = rule.removeprefix(_THRESHOLD)
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not rule.startswith(_THRESHOLD) or not math.isfinite(value):
        raise HessError(
            f"success={rule!r} is impossible; a threshold is written reward>=X with a number X"
        )
    return value


class SuccessSignal:
    """Reads success off the steps of one environment, and notices when nothing is said about it.

    A key has to be in `info` at some step of the first episode. Where a later step lacks it, that
    step was no success.
    """

    def __init__(self, rule: str):
        check_rule(rule)
        self.rule = rule
        self._limit = _threshold(rule) if rule.startswith(_THRESHOLD) else None
        self._keys = KEYS if rule == AUTO else (rule,)
        self._seen: set[str] = set()  # keys of info in the first episode
        self.key: str | None = None
        """Where success is found in `info`; None before it was found, and for other rules."""

    @property
    def description(self) -> str:
        """For messages, once a step was read."""
        if self._limit is not None:
            return f"a step with a reward of {self._limit:g} or more"
        if self.rule == TERMINATED:
            return "an episode that ends before its horizon"
        return f"info[{self.key!r}]"

    @property
    def is_settled(self) -> bool:
        """Whether it is known where success is found."""
        return self._limit is not None or self.rule == TERMINATED or self.key is not None

    def __call__(self, reward: float, terminated: bool, info: Mapping[str, Any]) -> bool:
        """Whether a step succeeded."""
        if self._limit is not None:
            return reward >= self._limit
        if self.rule == TERMINATED:
            return terminated
        if self.key is None:
            self._seen.update(map(str, info))
            self.key = next((key for key in self._keys if key in info), None)
        return self.key is not None and self.key in info and _as_bool(self.key, info[self.key])

    def missing(self) -> str | None:
        """At the end of an episode: what is wrong, as the end of a sentence; None if nothing."""
        if self.is_settled:
            return None
        had = f"info had {', '.join(sorted(self._seen))}" if self._seen else "info was empty"
        if self.rule == AUTO:
            return (
                f"never said whether it succeeded: {had}, none of {', '.join(KEYS)}; say what "
                f"success is with {CHOICES}"
            )
        close = closest(self.rule, sorted(self._seen))
        hint = f"did you mean {close!r}? " if close else ""
        return f"never put {self.rule!r} into info; {hint}{had}; success may also be {CHOICES}"


def _as_bool(key: str, value: Any) -> bool:
    if value is True or value is False:
        return value
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "biuf" or array.item() not in (0, 1):
        shown = repr(value)[:80]
        raise HessError(
            f"info[{key!r}] is {shown}, not True or False; say what success is with {CHOICES}"
        )
    return bool(array.item())
