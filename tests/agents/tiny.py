"""Small configs, networks and episodes for the tests of agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from hess.agents.agent import Policy
from hess.arrays import Floats
from hess.config import Config, override
from hess.learning.networks import MLP
from hess.replay.episode import Episode, EpisodeShape, empty_episode
from hess.replay.ring import Replay

INTERVAL = 5
# As of the goal environment in tests/training: what is compiled for one serves the other.
SHAPE = EpisodeShape(
    horizon=20, observation_dim=4, goal_dim=2, action_dim=2, subgoal_dim=2, segments=4
)

FIELDS: dict[str, Any] = {
    "capacity": 8 * SHAPE.horizon,
    "subgoal_interval": INTERVAL,
    "subgoal_radius": 2.0,
    "low.hidden": (16,),
    "low.batch_size": 8,
    "high.hidden": (16,),
    "high.batch_size": 8,
    "high.observation_input": True,
    "representation.dim": SHAPE.subgoal_dim,
    "representation.hidden": (16,),
    "representation.batch_size": 8,
    "representation.minibatches": 20,
    "representation.refresh": 12,
    "representation.interval": 4,
    "representation.first_update": 2,
    "representation.growth": 0.0,
    "intrinsic.hidden": (16,),
    "dads.hidden": (16,),
    "dads.batch_size": 8,
    "dads.other_skills": 3,
    "exploration.reach": 1.0,
    "exploration.least_cells": 0,
    "exploration.least_weight": 1.0,
    "exploration.greedy_share": 0.0,
    "exploration.pool": 50,
    "exploration.candidates": 20,
    "exploration.novelty_interval": 2,
}


def tiny_config(**fields: Any) -> Config:
    """A config that learns in milliseconds; `low__hindsight=0.5` sets `low.hindsight`."""
    values = {name.replace("__", "."): value for name, value in fields.items()}
    config: Config = override(Config(), FIELDS | values)
    return config


def network(
    sizes: Sequence[int], seed: int = 0, *, twins: bool = False, layer_norm: bool = False
) -> MLP:
    """Random weights, filled in from NumPy: initialising in JAX compiles a lot of small things."""
    rng = np.random.default_rng(seed)
    shapes = eqx.filter_eval_shape(lambda: MLP(sizes, jax.random.key(0), layer_norm))
    leading = (2,) if twins else ()
    made: MLP = jax.tree.map(
        lambda leaf: jnp.asarray(rng.uniform(-0.6, 0.6, leading + leaf.shape), leaf.dtype), shapes
    )
    return made


def linear(weight: ArrayLike, bias: ArrayLike) -> MLP:
    """A network of one layer: inputs @ weight + bias. A leading axis of 2 makes it a twin."""
    weights, biases = np.asarray(weight, np.float32), np.asarray(bias, np.float32)
    template = network([weights.shape[-2], weights.shape[-1]])
    made: MLP = eqx.tree_at(
        lambda module: (module.weights, module.biases),
        template,
        ([jnp.asarray(weights)], [jnp.asarray(biases)]),
    )
    return made


def first_coordinates(observation_dim: int, dim: int = 2) -> MLP:
    """φ(s) = the first `dim` numbers of s."""
    return linear(np.eye(observation_dim, dim), np.zeros(dim))


def play(
    policy: Policy,
    seed: int,
    shape: EpisodeShape = SHAPE,
    *,
    length: int | None = None,
    success_at: int | None = None,
) -> Episode:
    """An episode of a world in which the actions move the first two coordinates."""
    rng = np.random.default_rng(seed)
    episode = empty_episode(shape)
    rollout = policy.start(episode, rng)
    steps = shape.horizon if length is None else length
    episode.observations[0] = rng.normal(0, 0.1, shape.observation_dim)
    episode.goals[:] = 1.0
    for step in range(steps):
        action = rollout.act(step)
        episode.actions[step] = action
        move = np.zeros(shape.observation_dim)
        move[:2] = 0.3 * action
        episode.observations[step + 1] = episode.observations[step] + move
        if step == success_at:
            episode.successes[step], episode.rewards[step] = True, 1.0
    episode.positions[:] = episode.observations[:, :2]
    episode.length[...] = steps
    episode.terminated[...] = steps < shape.horizon
    rollout.finish(steps)
    return episode


def stack(episodes: Sequence[Episode], slots: int | None = None) -> Replay:
    """A ring that holds these episodes, built without the code under test."""
    missing = (slots or len(episodes)) - len(episodes)
    padded = [*episodes, *[jax.tree.map(np.zeros_like, episodes[0])] * missing]
    stacked = jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves)), *padded)
    return Replay(stacked, jnp.asarray(len(episodes), jnp.int32))


def chi_square_probability(observed: Floats, expected: Floats) -> float:
    """How likely counts at least this far from the expected ones are. [n], [n] -> [0, 1]."""
    possible = expected > 0
    assert not observed[~possible].any(), "something impossible was drawn"
    statistic = ((observed - expected)[possible] ** 2 / expected[possible]).sum()
    freedom = possible.sum() - 1
    return float(jax.scipy.special.gammaincc(freedom / 2, statistic / 2))
