"""Work that is compared across processes: each runs one kind and says how long a unit took.

JAX, NumPy and PyTorch each bring a pool of threads whose size is fixed when the library starts,
and idle threads of one pool would disturb the others; so each has a process of its own.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from hess.bench.flops import sac_update
from hess.bench.sizes import Size
from hess.bench.timing import Measurement, cpu_seconds, fitting_seconds

OBSERVATION, ACTION, HIDDEN, BATCH = 33, 8, (256, 256), 128  # AntMaze's low level, as published
SIDE = 1024
_MILLISECONDS = 1e3


def update(size: Size) -> Measurement:
    """Milliseconds of one of our SAC updates, inside of the compiled loop that samples as well."""
    import jax
    import jax.numpy as jnp

    from hess.agents.inputs import no_scaling
    from hess.agents.sac import SAC
    from hess.agents.transitions import low_batch
    from hess.bench.synthetic import ANT_MAZE, finished, noise_replay
    from hess.presets import preset
    from hess.replay import Replay, uniform_index

    config = preset("paper")
    assert (config.low.hidden, config.low.batch_size) == (HIDDEN, BATCH)
    learner = SAC(config.low, OBSERVATION, ACTION)
    replay = noise_replay(ANT_MAZE, size.stored)

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
                radius=config.subgoal_radius,
                scaling=no_scaling(ANT_MAZE.observation_dim),
                key=subgoal_key,
            )

        return learner.learn(state, sample, key, updates)

    state, _ = learn(learner.init(jax.random.key(0)), replay, jax.random.key(1), 2)

    def measure() -> float:
        def work() -> None:
            nonlocal state
            state, _ = finished(learn(state, replay, jax.random.key(2), size.updates))

        return fitting_seconds(work) / size.updates * _MILLISECONDS

    return measure


def product(size: Size) -> Measurement:
    """Milliseconds that an update's arithmetic takes at the speed of a large matrix product."""
    multiply = _large_product()
    share = sac_update(OBSERVATION, ACTION, HIDDEN, BATCH) / (2 * SIDE**3 * size.products)

    def work() -> None:
        for _ in range(size.products):
            multiply()

    work()
    return lambda: fitting_seconds(work) * share * _MILLISECONDS


def core_speed(size: Size) -> float:
    """Billions of operations per second of one core in such a product, now."""
    multiply = _large_product()
    taken = [cpu_seconds(multiply) for _ in range(size.products)]
    return 2e-9 * SIDE**3 / statistics.median(taken)


def _large_product() -> Callable[[], object]:
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

    return lambda: fitting_seconds(work) / size.updates * _MILLISECONDS


def _fill(buffer: Any, stored: int) -> None:
    """Noise in a Stable-Baselines3 buffer."""
    rng = np.random.default_rng(0)
    for array in (buffer.observations, buffer.next_observations, buffer.rewards):
        array[:stored] = rng.standard_normal(array[:stored].shape)
    buffer.actions[:stored] = rng.uniform(-1.0, 1.0, buffer.actions[:stored].shape)
    buffer.pos, buffer.full = 0, True


PACES = {"update": update, "product": product, "stable-baselines3": stable_baselines}
