"""The SAC update against the arithmetic that it needs at least, and against Stable-Baselines3.

JAX, NumPy and PyTorch each bring a pool of threads whose size is fixed when the library starts,
and idle threads of one pool would disturb the others; so each has a process of its own, which
times its kind of work whenever it is asked to.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from hess.bench.measuring import (
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
from hess.bench.processes import Worker

OBSERVATION, ACTION, HIDDEN, BATCH = 33, 8, (256, 256), 128  # AntMaze's low level, as published
SIDE = 1024
_SHARE_OF_LIMIT = {1: 0.75, 2: 0.60}  # by cores
_TIMES_FASTER = 2.5
_COUNTS = {1: "one core", 2: "two cores"}


def limit_rows(size: Size, cores: Sequence[int]) -> list[BenchRow]:
    """An update against its arithmetic at the speed of a 1024³ single-precision product."""
    return _rows("sac", "matmul", "its arithmetic at sgemm speed", size, cores)


def baseline_rows(size: Size, cores: Sequence[int]) -> list[BenchRow]:
    """An update against one by Stable-Baselines3's `SAC.train()`."""
    return _rows("baseline", "stable_baselines", "Stable-Baselines3", size, cores)


def _rows(
    group: str, other: str, other_name: str, size: Size, cores: Sequence[int]
) -> list[BenchRow]:
    count = len(cores)
    with (
        closing(Worker("hess.bench.updates:update", size, cores)) as ours,
        closing(Worker(f"hess.bench.updates:{other}", size, cores, blas_threads=count)) as theirs,
    ):
        ours.listen()
        theirs.listen()
        mine, reference = in_turns(ours.measure, theirs.measure, repetitions=size.repetitions)
    goal = Goal("at least", _SHARE_OF_LIMIT[count] if group == "sac" else _TIMES_FASTER)
    name = f"SAC update, {_COUNTS[count]}"
    pair = (mine, reference)
    return [compared(group, name, "ms", pair, other_name, goal=goal, times_faster=True)]


# --- what the processes time ------------------------------------------------------------------


def update(size: Size) -> Measurement:
    """Milliseconds of one of our SAC updates, inside of the compiled loop that samples as well."""
    import jax
    import jax.numpy as jnp

    from hess.bench.components import ANT_MAZE, finished, noise_replay
    from hess.config.presets import preset
    from hess.learning.inputs import no_scaling
    from hess.learning.sac import SAC
    from hess.learning.subgoal_box import SubgoalBox
    from hess.learning.transitions import LowView, low_batch
    from hess.replay.ring import Replay
    from hess.replay.sampling import uniform_index

    config = preset("paper")
    assert (config.low.hidden, config.low.batch_size) == (HIDDEN, BATCH)
    learner = SAC(config.low, OBSERVATION, ACTION)
    replay = noise_replay(ANT_MAZE, size.stored)
    view = LowView(no_scaling(ANT_MAZE.observation_dim), SubgoalBox(config.subgoal_radius))

    @partial(jax.jit, donate_argnums=0)
    def learn(state: Any, replay: Replay, key: Any, updates: Any) -> Any:
        cumulative = jnp.cumsum(replay.episodes.length)

        def sample(key: Any) -> Any:
            index_key, subgoal_key = jax.random.split(key)
            index = uniform_index(cumulative, index_key, BATCH)
            return low_batch(
                replay.episodes,
                index,
                config.low,
                config.subgoal_interval,
                view=view,
                key=subgoal_key,
            )

        return learner.learn(state, sample, key, updates)

    state, _ = learn(learner.init(jax.random.key(0)), replay, jax.random.key(1), 2)

    def measure() -> float:
        def work() -> None:
            nonlocal state
            state, _ = finished(learn(state, replay, jax.random.key(2), size.updates))

        return fitting_seconds(work) / size.updates * MILLISECONDS

    return measure


def matmul(size: Size) -> Measurement:
    """Milliseconds that an update's arithmetic takes at the speed of a large matmul."""
    multiply = _large_matmul()
    share = sac_update(OBSERVATION, ACTION, HIDDEN, BATCH) / (2 * SIDE**3 * size.matmuls)

    def work() -> None:
        for _ in range(size.matmuls):
            multiply()

    work()
    return lambda: fitting_seconds(work) * share * MILLISECONDS


def core_speed(size: Size) -> float:
    """Billions of operations per second of one core in such a matmul, now."""
    multiply = _large_matmul()
    taken = [cpu_seconds(multiply) for _ in range(size.matmuls)]
    return 2e-9 * SIDE**3 / statistics.median(taken)


def _large_matmul() -> Callable[[], object]:
    left, right = np.random.default_rng(0).standard_normal((2, SIDE, SIDE)).astype(np.float32)
    return partial(np.matmul, left, right, out=np.empty_like(left))


def stable_baselines(size: Size) -> Measurement:
    """Milliseconds of one update by Stable-Baselines3, same networks and batch."""
    import torch
    from gymnasium import Env, spaces
    from stable_baselines3 import SAC
    from stable_baselines3.common.logger import Logger

    class Shapes(Env[Any, Any]):
        """Never stepped: only its spaces are read."""

        observation_space = spaces.Box(-np.inf, np.inf, (OBSERVATION,), np.float32)
        action_space = spaces.Box(-1.0, 1.0, (ACTION,), np.float32)

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    stored = size.stored * 500
    model = SAC(
        "MlpPolicy",
        Shapes(),
        learning_rate=2e-4,
        buffer_size=stored,
        batch_size=BATCH,
        policy_kwargs={"net_arch": list(HIDDEN)},
        device="cpu",
        seed=0,
    )
    model.set_logger(Logger(None, []))
    _fill(model.replay_buffer, stored)
    model.train(gradient_steps=2, batch_size=BATCH)

    def work() -> None:
        model.train(gradient_steps=size.updates, batch_size=BATCH)

    return lambda: fitting_seconds(work) / size.updates * MILLISECONDS


def _fill(buffer: Any, stored: int) -> None:
    """Noise in a Stable-Baselines3 buffer."""
    rng = np.random.default_rng(0)
    for array in (buffer.observations, buffer.next_observations, buffer.rewards):
        array[:stored] = rng.standard_normal(array[:stored].shape)
    buffer.actions[:stored] = rng.uniform(-1.0, 1.0, buffer.actions[:stored].shape)
    buffer.pos, buffer.full = 0, True


# --- the least arithmetic, counted from the sizes of the layers --------------------------------


def multiplications(sizes: Sequence[int]) -> int:
    """Multiplications of one input passing through a network."""
    return sum(fan_in * fan_out for fan_in, fan_out in pairwise(sizes))


def sac_update(observation: int, action: int, hidden: Sequence[int], batch: int) -> int:
    """Floating-point operations of all matmuls in one update with twin critics.

    A backward pass costs the weights' gradient (as much as a forward pass) and the inputs', which
    stops before the data: after the first layer.
    """
    actor = [observation, *hidden, 2 * action]
    critic = [observation + action, *hidden, 1]
    targets = multiplications(actor) + 2 * multiplications(critic)
    critics = 2 * (2 * multiplications(critic) + multiplications(critic[1:]))
    # The actor's gradient comes through the critics' inputs but needs no gradient of theirs.
    through_critics = 2 * (2 * multiplications(critic))
    actors = 2 * multiplications(actor) + multiplications(actor[1:])
    return 2 * batch * (targets + critics + through_critics + actors)
