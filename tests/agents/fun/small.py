"""A small FeUdal network and episodes for its tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from hess.agents.fun.agent import Fun
from hess.config import Config
from hess.learning.inputs import Scaling
from hess.replay.episode import Episode, EpisodeShape
from tests.agents.tiny import SHAPE, play, tiny_config

DIM = 6
FUN_SHAPE: EpisodeShape = SHAPE._replace(subgoal_dim=DIM)


def small_config(**fields: Any) -> Config:
    """A config of the agent with a small network."""
    return tiny_config(
        method="fun",
        representation__dim=DIM,
        num_envs=2,
        pipeline=False,
        fun__perception=(8,),
        fun__worker_units=7,
        fun__goal_embedding=3,
        fun__random_goals=0.4,
        **fields,
    )


SMALL = small_config().fun
SCALING = Scaling(
    np.linspace(-0.5, 0.5, 6, dtype=np.float32), np.linspace(0.5, 2.0, 6, dtype=np.float32)
)


def round_of(agent: Fun, seed: int, *, success_at: int | None = None) -> list[Episode]:
    """Two episodes of its present policy; the second one ends early."""
    policy = agent.policy(0.0)
    return [
        play(policy, seed, FUN_SHAPE, success_at=success_at),
        play(policy, seed + 1, FUN_SHAPE, length=13),
    ]
