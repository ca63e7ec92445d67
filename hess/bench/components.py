"""What a step is made of: φ minibatches, an action, and a whole step of every method.

What needs no simulator learns from episodes of noise in the shape of AntMaze.
"""

from __future__ import annotations

import statistics
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hess.agents.hess.agent import Hess
from hess.agents.hess.representation import Representation
from hess.agents.methods import method
from hess.bench.measuring import (
    MICROSECONDS,
    MILLISECONDS,
    BenchRow,
    Goal,
    Measurement,
    Size,
    compared,
    cpu_seconds,
    fitting_seconds,
    in_turns,
)
from hess.config import Config, override
from hess.config.presets import preset
from hess.envs import make
from hess.envs.adapter import Task
from hess.replay.episode import Episode, EpisodeShape, empty_episode
from hess.replay.ring import Replay, empty_replay, insert
from hess.training.collector import run_episode

Arrays = TypeVar("Arrays")

ANT_MAZE = EpisodeShape(
    horizon=500, observation_dim=29, goal_dim=2, action_dim=8, subgoal_dim=2, segments=10
)

VARIANTS = ("lesson", "hess-reactive", "h-icm", "h-sr")
_TIMES_HESS = 1.3
_FIRST_UPDATE = 2  # random episodes before φ


def representation(size: Size) -> list[BenchRow]:
    """Milliseconds of a minibatch and the seconds of the published number of them."""
    config = preset("paper")
    learner = Representation(
        config.representation,
        ANT_MAZE.observation_dim,
        ANT_MAZE.subgoal_dim,
        config.subgoal_interval,
    )
    replay = noise_replay(ANT_MAZE, size.stored)
    state = learner.init(jax.random.key(0))
    minibatches = jnp.asarray(size.minibatches)
    anchors, learn = learner.rank(state, replay), jax.jit(learner.chunk)
    state, _ = learn(state, replay, anchors, jax.random.key(1), jnp.asarray(2))

    def work() -> None:
        nonlocal state
        state, _ = finished(learn(state, replay, anchors, jax.random.key(2), minibatches))

    each = statistics.median(
        fitting_seconds(work) / size.minibatches for _ in range(size.repetitions)
    )
    whole = config.representation.minibatches
    chunks = f"priorities renewed every {size.minibatches:,}"
    return [
        BenchRow("representation", "φ minibatch of 100", each * MILLISECONDS, "ms", note=chunks),
        BenchRow("representation", f"φ update of {whole:,} minibatches", each * whole, "s"),
    ]


def acting(size: Size) -> list[BenchRow]:
    """Microseconds for an action, φ and a subgoal at every c-th step included."""
    config: Config = override(preset("paper"), {"capacity": ANT_MAZE.horizon})
    policy = _learned(Hess(config, ANT_MAZE)).evaluation_policy()
    rng = np.random.default_rng(0)
    episode = noise_episode(ANT_MAZE, rng)
    env = make("AntMaze")

    def act() -> float:
        rollout = policy.start(episode, rng)
        duration = cpu_seconds(lambda: [rollout.act(step) for step in range(ANT_MAZE.horizon)])
        return duration / ANT_MAZE.horizon * MICROSECONDS

    def step() -> float:
        env.reset(seed=0)
        actions = episode.actions[: size.env_steps]
        duration = cpu_seconds(lambda: [env.step(action) for action in actions])
        return duration / len(actions) * MICROSECONDS

    acted, stepped = in_turns(act, step, repetitions=size.env_chunks)
    env.close()
    name = "an action, with φ and subgoals"
    return [compared("acting", name, "µs", (acted, stepped), "AntMaze step")]


def _learned(agent: Hess) -> Hess:
    """The agent with its φ declared learned: before that it would act at random."""
    agent.networks = eqx.tree_at(
        lambda networks: networks.representation.updates, agent.networks, jnp.ones((), jnp.int32)
    )
    return agent


def methods(size: Size, task: str = "AntMaze") -> list[BenchRow]:
    """A row for each method; they and HESS take turns."""
    steps = [_step(name, size, task) for name in ("hess", *VARIANTS)]
    hess, *others = in_turns(*steps, repetitions=size.method_repetitions)
    goal = Goal("at most", _TIMES_HESS)
    return [
        compared("methods", f"a step of {name}", "µs", (own, hess), "a step of HESS", goal=goal)
        for name, own in zip(VARIANTS, others, strict=True)
    ]


def _step(name: str, size: Size, task_name: str) -> Measurement:
    """Microseconds per step of collecting an episode and learning from it, φ updates apart.

    They cost every method the same, and would bring the ratios closer to 1.
    """
    task = Task(Config(task=task_name))
    config = _config(name, size, task)
    agent = method(name).build(config, task.shape(config))

    def work() -> None:
        seed, episode = np.random.SeedSequence(agent.episodes), empty_episode(agent.shape)
        rollout = agent.policy(0.0).start(episode, np.random.default_rng(seed))
        run_episode(task, episode, rollout, seed)
        agent.learn([episode], lambda what, share: None)

    for _ in range(_FIRST_UPDATE):
        work()
    agent.replay = noise_replay(agent.shape, size.stored)
    work()  # compiles
    return lambda: fitting_seconds(work) / agent.shape.horizon * MICROSECONDS


def _config(name: str, size: Size, task: Task) -> Config:
    """HESS as it is from the first success on: both levels learn, and subgoals are selected."""
    return override(
        method(name).apply(Config(task=task.name)),
        {
            "high.warmup": "policy",
            "capacity": size.stored * task.horizon,
            "representation.first_update": _FIRST_UPDATE,
            "representation.interval": 1_000_000,
            "representation.minibatches": 100,
        },
    )


# --- noise ------------------------------------------------------------------------------------


def noise_episode(shape: EpisodeShape, rng: np.random.Generator) -> Episode:
    """A full-length episode: noise in all that is a float, False in all that is a flag."""
    episode = empty_episode(shape)
    for array in episode:
        if array.dtype.kind == "f":
            array[...] = 0.5 * rng.standard_normal(array.shape)
    return episode._replace(length=np.asarray(shape.horizon, np.int32))


def noise_replay(shape: EpisodeShape, episodes: int) -> Replay:
    """A full ring."""
    rng = np.random.default_rng(0)
    replay = empty_replay(shape, episodes * shape.horizon)
    for _ in range(episodes):
        replay = insert(replay, noise_episode(shape, rng))
    return finished(replay)


def finished(arrays: Arrays) -> Arrays:
    """The arrays, once they are there: JAX computes in the background."""
    jax.block_until_ready(arrays)  # type: ignore[no-untyped-call]
    return arrays
