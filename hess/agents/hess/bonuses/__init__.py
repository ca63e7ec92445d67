"""Intrinsic rewards of the high level: what the baselines explore by, one file each."""

from __future__ import annotations

from hess.agents.by_name import Registry
from hess.agents.hess.bonuses.bonus import Bonus
from hess.agents.hess.bonuses.prediction import Prediction
from hess.agents.hess.bonuses.reactive import Reactive
from hess.agents.hess.bonuses.successor import Successor
from hess.config.baselines import NO_BONUS

BONUSES: Registry[type[Bonus] | None] = Registry(
    "intrinsic reward",
    {NO_BONUS: None, "reactive": Reactive, "prediction": Prediction, "successor": Successor},
)

# Makes one of your own known: `intrinsic.kind` may then have its name.
register_bonus = BONUSES.register
