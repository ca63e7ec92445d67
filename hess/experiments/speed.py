"""How fast runs are: what their parts cost, corrected by what was measured here.

Evaluations, checkpoints and the start of a program come on top; together they are a few percent.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hess.config import Config, LevelConfig
from hess.envs.registry import TASKS

# Seconds, measured with `hess bench` on one AVX2 core; every estimate rests on these alone.
_ENVIRONMENT = {"point": 6e-6, "ant": 7e-4, "half-cheetah": 6e-5}  # per step, by robot
_OTHER_ENVIRONMENT = 1e-4
_ACTING = 3e-5  # per action, with φ and subgoals
_UPDATE = 4.3e-3 / (128 * 256 * 256)  # per SAC update, transition and weight between hidden layers
_MINIBATCH = 1.4e-6  # per φ minibatch and triplet
_OTHER_HORIZON = 500


def estimated_speed(config: Config) -> float:
    """Steps/s on one core; methods without a hierarchy are about a sixth faster than this."""
    task = TASKS.get(config.task.removeprefix("hess/").removesuffix("-v0"))
    horizon = task.horizon if task else _OTHER_HORIZON
    high = config.high.updates_per_decision / config.subgoal_interval
    representation = config.representation
    minibatches = representation.minibatches / (representation.interval * horizon)
    seconds = (
        (_ENVIRONMENT[task.robot] if task else _OTHER_ENVIRONMENT)
        + _ACTING
        + _update_seconds(config.low) * config.low.updates_per_decision
        + _update_seconds(config.high) * high
        + _MINIBATCH * representation.batch_size * minibatches
    )
    return 1.0 / seconds


def _update_seconds(level: LevelConfig) -> float:
    return _UPDATE * level.batch_size * math.prod(level.hidden[-2:])


def measured_speed(rows: Sequence[Mapping[str, Any]], pipeline: bool) -> float | None:
    """Steps/s of lines of metrics.jsonl, without evaluations.

    With `pipeline` the environment and the learner work at the same time.
    """
    together = max if pipeline else sum
    parts = ("time/learning", "time/collection")
    seconds = sum(together([float(row.get(name, 0.0)) for name in parts]) for row in rows[1:])
    return (rows[-1]["step"] - rows[0]["step"]) / seconds if seconds > 0 else None


class Speeds:
    """Estimates, corrected by the runs that were measured on the same machines."""

    def __init__(self, measured: Iterable[tuple[Config, float]]):
        corrections: dict[tuple[str, str], list[float]] = defaultdict(list)
        for config, speed in measured:
            corrections[config.task, config.method].append(speed / estimated_speed(config))
        self._corrections = {
            pair: statistics.median(values) for pair, values in corrections.items()
        }
        everything = [value for values in corrections.values() for value in values]
        self._usual = statistics.median(everything) if everything else 1.0

    @property
    def is_measured(self) -> bool:
        """Whether any run stands behind the estimates."""
        return bool(self._corrections)

    def of(self, config: Config) -> float:
        """Steps/s of a run: as its task and method were measured, or as usual on this machine."""
        correction = self._corrections.get((config.task, config.method), self._usual)
        return estimated_speed(config) * correction
