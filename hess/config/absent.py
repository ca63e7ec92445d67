"""Values of settings for runs that were made before the setting existed.

Old runs stay readable: a row for every field that came later, with what was done before. Fields of
a part of the config are written as `exploration.pool`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from typing import Any

from hess.config import flat_fields

WHEN_ABSENT: dict[str, Any] = {
    "env": (),
    "success": "auto",
    "horizon": None,
    "observe": (),
    "action_share": 1.0,
    "high.normalise": False,
    "high.observation_input": True,
    "high.embedding_input": False,
    "high.memory_input": False,
    "high.hindsight": 0.0,
    "high.choices": 1,
    "low.hide_explained": False,
    "low.any_subgoal": 0.0,
    "low.weight_decay": 0.0,
    "high.weight_decay": 0.0,
    "low.target_entropy": -1.0,
    "high.target_entropy": -1.0,
    "low.actor_interval": 1,
    "high.actor_interval": 1,
    "representation.start": "before",
    "representation.growth": 0.0,
    "exploration.decided": "segment",
    "exploration.episode_share": 0.5,  # without effect there
    "exploration.greedy_share": 0.0,
    "exploration.reference_segment": 10.0,  # without effect: no run had units by segments
    "exploration.directions": 0,
    "exploration.least_cells": 0,
    "exploration.least_weight": 1.0,
    "exploration.waypoints": 0.0,
    "exploration.detour": 0.0,
    "exploration.least_progress": 0.0,
    "exploration.revisit_cost": 0.0,
    "exploration.insistence": 0.0,
    "exploration.attempt_cost": 0.0,
    "exploration.potential": "distance",
    "exploration.counts": "grid",
}


def complete_fields(config: Mapping[str, Any]) -> dict[str, Any]:
    """All fields of a parsed config.json under dotted names, with those that came later."""
    return WHEN_ABSENT | flat_fields(config)


@functools.cache
def notice(where: str, *names: str) -> None:
    """Say once per program which values a file without these fields is taken to have."""
    if names:
        values = ", ".join(f"{name}={WHEN_ABSENT[name]!r}" for name in names)
        print(
            f"hess: {where} is older than these settings, they count as {values}", file=sys.stderr
        )
