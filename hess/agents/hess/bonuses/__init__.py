"""Intrinsic rewards of the high level: what the baselines explore by, one file each."""

from __future__ import annotations

from hess.agents.hess.bonuses.bonus import Bonus, Segments, SubgoalSpace, see_segments
from hess.agents.hess.bonuses.prediction import Prediction
from hess.agents.hess.bonuses.reactive import Reactive
from hess.agents.hess.bonuses.successor import Successor
from hess.config import Config
from hess.replay.episode import EpisodeShape

__all__ = ["Bonus", "Segments", "SubgoalSpace", "make_bonus", "see_segments"]

_KINDS: dict[str, type[Prediction | Reactive | Successor]] = {
    "prediction": Prediction,
    "reactive": Reactive,
    "successor": Successor,
}


def make_bonus(config: Config, shape: EpisodeShape) -> Bonus | None:
    """The intrinsic reward that the config names; None where the task's reward is all."""
    kind = config.intrinsic.kind
    return None if kind == "none" else _KINDS[kind](config, shape)
