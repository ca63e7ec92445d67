"""Acting on the host against the environment step that it belongs to."""

from __future__ import annotations

import statistics

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from hess.agents.hess import Hess
from hess.bench.rows import Row
from hess.bench.sizes import Size
from hess.bench.synthetic import ANT_MAZE, noise_episode
from hess.bench.timing import cpu_seconds, in_turns, median_ratio
from hess.config import Config, override
from hess.envs import make
from hess.presets import preset

_MICROSECONDS = 1e6


def rows(size: Size) -> list[Row]:
    """Microseconds for an action, φ and a subgoal at every c-th step included."""
    config: Config = override(preset("paper"), {"capacity": ANT_MAZE.horizon})
    policy = _learned(Hess(config, ANT_MAZE)).evaluation_policy()
    rng = np.random.default_rng(0)
    episode = noise_episode(ANT_MAZE, rng)
    env = make("AntMaze")

    def act() -> float:
        rollout = policy.start(episode, rng)
        duration = cpu_seconds(lambda: [rollout.act(step) for step in range(ANT_MAZE.horizon)])
        return duration / ANT_MAZE.horizon * _MICROSECONDS

    def step() -> float:
        env.reset(seed=0)
        actions = episode.actions[: size.env_steps]
        duration = cpu_seconds(lambda: [env.step(action) for action in actions])
        return duration / len(actions) * _MICROSECONDS

    acting, stepping = in_turns(act, step, repetitions=size.env_chunks)
    env.close()
    return [
        Row(
            group="acting",
            name="an action, with φ and subgoals",
            measured=statistics.median(acting),
            unit="µs",
            reference=statistics.median(stepping),
            reference_name="AntMaze step",
            ratio=median_ratio(acting, stepping),
            ratio_name="measured / reference",
        )
    ]


def _learned(agent: Hess) -> Hess:
    """The agent with its φ declared learned: before that it would act at random."""
    agent.networks = eqx.tree_at(
        lambda networks: networks.representation.updates,
        agent.networks,
        jnp.ones((), jnp.int32),
    )
    return agent
