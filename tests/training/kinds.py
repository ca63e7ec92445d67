"""One method of every kind: those that share all code differ only in numbers."""

from __future__ import annotations

from hess.agents.methods import METHODS

AGENTS = list({row.target: name for name, row in reversed(METHODS.items())}.values())
"""The first method of every agent class."""

LEARNERS = list(
    {
        (row.target, row.overrides.get("intrinsic.kind", "none")): name
        for name, row in reversed(METHODS.items())
    }.values()
)
"""The first method of every agent class and every intrinsic reward: each has a state of its own."""
