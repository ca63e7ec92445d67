"""Short runs that go through all that long ones do: what is counted in steps or episodes shrinks.

The settings of learners, networks and measures stay; so a miniature shows that everything works
and what a figure will look like, not how well a method learns.
"""

from __future__ import annotations

from typing import Any

from hess.config import Config, flat_fields
from hess.errors import HessError

_FEWEST_STEPS = 2_000  # two episodes of the longest tasks
_EVALUATIONS = 10  # in a run, about; as many as in a long one would take most of the time
_USUAL_SCALE = 0.05  # from here on evaluations have all their episodes

# Field -> the least that makes sense.
_LEAST = {
    "capacity": 10_000,
    "representation.first_update": 1,
    "representation.interval": 1,
    "representation.minibatches": 100,
    "representation.refresh": 50,
    "exploration.success_window": 5,
    "exploration.novelty_interval": 1,
    "record.checkpoint_interval": 1_000,
    "record.snapshot_interval": 1,
}


def miniature(config: Config, scale: float) -> dict[str, Any]:
    """Values that make a run a share of its length; none at a scale of 1."""
    if not 0.0 < scale <= 1.0:
        raise HessError(f"scale={scale:g} is impossible; it must be above 0 and at most 1")
    if scale == 1.0:
        return {}
    steps = min(max(round(config.steps * scale), _FEWEST_STEPS), config.steps)
    share = steps / config.steps
    fields = flat_fields(config)
    values = {
        name: min(max(round(fields[name] * share), least), fields[name])
        for name, least in _LEAST.items()
    }
    interval, episodes = config.evaluation.interval, config.evaluation.episodes
    return values | {
        "steps": steps,
        "evaluation.interval": min(max(round(interval * share), steps // _EVALUATIONS), interval),
        "evaluation.episodes": max(round(episodes * min(share / _USUAL_SCALE, 1.0)), 2),
    }
