"""A small FeUdal network and episodes for its tests."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from hess.agents.fun.agent import Fun
from hess.agents.fun.learner import FunLearner, FunState
from hess.agents.fun.normalisation import Moments
from hess.config import Config, FunConfig
from hess.replay import Episode, EpisodeShape
from tests.agents.tiny import INTERVAL, SHAPE, play, tiny_config

DIM = 6
FUN_SHAPE: EpisodeShape = SHAPE._replace(subgoal_dim=DIM)
SMALL = FunConfig(perception=(8,), worker_units=7, goal_embedding=3, random_goals=0.4)


def small_config(**fields: Any) -> Config:
    """A config of the agent with that network."""
    return tiny_config(
        method="fun", representation__dim=DIM, num_envs=2, pipeline=False, fun=SMALL, **fields
    )


def small_state(seed: int = 0) -> FunState:
    """Fresh networks that are used to numbers with other means and scales."""
    state = FunLearner(SMALL, FUN_SHAPE, INTERVAL).init(jax.random.key(seed))
    seen = np.random.default_rng(seed).normal(0.4, 2.0, (30, 2, 6))
    moments = Moments(6).updated(jax.numpy.asarray(seen, np.float32), np.ones((30, 2), np.bool_))
    return FunState(state.network, state.optimiser, moments)


def round_of(agent: Fun, seed: int, *, success_at: int | None = None) -> list[Episode]:
    """Two episodes of its present policy; the second one ends early."""
    policy = agent.policy(0.0)
    return [
        play(policy, seed, FUN_SHAPE, success_at=success_at),
        play(policy, seed + 1, FUN_SHAPE, length=13),
    ]
