"""Values of settings for runs that were made before the setting existed.

Old runs stay readable: a row for every field that came later, with what was done before. Fields of
a part of the config are written as `exploration.pool`.
"""

from __future__ import annotations

import sys
from typing import Any

WHEN_ABSENT: dict[str, Any] = {
    "env": (),
    "success": "auto",
    "horizon": None,
    "observe": (),
    "high.normalise": False,
    "high.embedding_input": False,
    "low.actor_interval": 1,
    "high.actor_interval": 1,
    "representation.features": 0,
    "exploration.decided": "segment",
    "exploration.episode_share": 0.5,  # without effect there
    "exploration.reference_segment": 10.0,  # without effect: no run had units by segments
    "exploration.directions": 0,
    "exploration.waypoints": 0.0,
    "exploration.revisit_cost": 0.0,
}

_noticed: set[tuple[str, str]] = set()


def notice(where: str, name: str) -> None:
    """Say once per program which value a file without this field is taken to have."""
    if (where, name) not in _noticed:
        _noticed.add((where, name))
        then = f"it counts as {WHEN_ABSENT[name]!r}"
        print(f"hess: {where} was written before {name!r} existed; {then}", file=sys.stderr)
