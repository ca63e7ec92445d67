"""HESS: active hierarchical exploration with stable subgoal representation learning.

    import hess
    run = hess.train("PointMaze", steps=150_000)
    agent = hess.load(run.path)
    agent.evaluate(episodes=100).success_rate

Nothing heavy is imported before one of these is used.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hess.agents.agent import BaseAgent
    from hess.agents.hess.bonuses import register_bonus
    from hess.agents.hess.bonuses.bonus import Bonus
    from hess.agents.hess.exploration.novelty import Novelty, register_novelty
    from hess.agents.hess.exploration.potential import Potential, register_potential
    from hess.agents.methods import register_method
    from hess.api import evaluate, load, train
    from hess.envs import make as make_env
    from hess.envs import register_maze

__all__ = [
    "BaseAgent",
    "Bonus",
    "Novelty",
    "Potential",
    "evaluate",
    "load",
    "make_env",
    "register_bonus",
    "register_maze",
    "register_method",
    "register_novelty",
    "register_potential",
    "train",
]

_HOMES = {
    "train": "hess.api:train",
    "load": "hess.api:load",
    "evaluate": "hess.api:evaluate",
    "make_env": "hess.envs:make",
    "register_maze": "hess.envs:register_maze",
    "register_method": "hess.agents.methods:register_method",
    "BaseAgent": "hess.agents.agent:BaseAgent",
    "register_bonus": "hess.agents.hess.bonuses:register_bonus",
    "Bonus": "hess.agents.hess.bonuses.bonus:Bonus",
    "register_novelty": "hess.agents.hess.exploration.novelty:register_novelty",
    "Novelty": "hess.agents.hess.exploration.novelty:Novelty",
    "register_potential": "hess.agents.hess.exploration.potential:register_potential",
    "Potential": "hess.agents.hess.exploration.potential:Potential",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'hess' has no attribute {name!r}")
    # Cores, threads and caches are read by NumPy and JAX once, when they are imported.
    importlib.import_module("hess.runtime").configure()
    return pkgutil.resolve_name(_HOMES[name])


def __dir__() -> list[str]:
    return __all__


# `import gymnasium, hess` and `gymnasium.make("hess:hess/AntMaze-v0")` need no further set-up.
# Without Gymnasium in memory the import stays light; what needs the tasks registers them.
if "gymnasium" in sys.modules:
    importlib.import_module("hess.envs")
