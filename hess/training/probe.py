"""A look at a run's environment before anything is written: what cannot work, what is unusual."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from math import prod

import jax
import numpy as np

from hess.agents.methods import method
from hess.config import Config
from hess.envs.adapter import Task
from hess.envs.check import Check
from hess.envs.success import KEYS
from hess.errors import HessError
from hess.machine import machine_memory
from hess.replay.episode import EpisodeShape, empty_episode
from hess.training.validation import validate

_MOST_MEMORY = 0.8  # of what the machine has, for the replay


def probe(config: Config) -> list[str]:
    """Open the task, and play at random until it has said what success is.

    Returns what a user should know about the environment as HESS sees it.
    """
    with closing(Task(config)) as task:
        _refuse(config, task)
        return _notes(config, task)


def check_start(config: Config) -> Check:
    """Whether a training with this config would start, as a line of `hess check-env`."""
    try:
        with closing(Task(config)) as task:
            _refuse(config, task)
            size = _replay_bytes(config, task.shape(config))
    except HessError as error:
        return Check("training", False, str(error))
    return Check("training", True, f"would start; its replay takes {size / 1e9:.1f} GB when full")


def _refuse(config: Config, task: Task) -> None:
    """Raise what would stop a training on the task."""
    validate(config, task.horizon)
    _refuse_giant_replay(config, task.shape(config))
    _play_until_settled(task)
    if method(config.method).has_representation:
        _refuse_short_episodes(config, task)


def _play_until_settled(task: Task) -> None:
    """At most one episode: of most environments, the first step tells where success is found."""
    for _ in _random_steps(task, seed=0):
        if task.success.is_settled:
            break
    task.end_episode()


def _random_steps(task: Task, seed: int) -> Iterator[int]:
    """The numbers, from 1 on, of the steps of an episode, each after it was taken."""
    rng = np.random.default_rng(seed)
    task.reset(seed)
    for step in range(task.horizon):
        action = rng.uniform(-1.0, 1.0, task.action_dim).astype(np.float32)
        outcome = task.step(action, step)
        yield step + 1
        if outcome.terminated or outcome.truncated:
            break


def _refuse_short_episodes(config: Config, task: Task) -> None:
    """φ is learned from states that are c steps apart, the first time after some episodes."""
    longest, tried = 0, config.representation.first_update
    for seed in range(tried):
        for length in _random_steps(task, seed):
            longest = max(longest, length)
            if length >= config.subgoal_interval:
                return
    raise HessError(
        f"HESS cannot train on {task.name!r} with subgoal_interval={config.subgoal_interval}: of "
        f"{tried} random episodes the longest had {longest} steps; it may be 1 to {longest}"
    )


def _notes(config: Config, task: Task) -> list[str]:
    """What differs from a goal env with `is_success`; such a one needs no words."""
    notes = []
    if task.success.key != KEYS[0]:
        notes.append(f"success is {task.success.description}")
    if task.observer.keys not in ((), ("observation",)):
        notes.append(f"the agent sees {task.observer.description}")
    if left := task.horizon % config.subgoal_interval:
        notes.append(
            f"c = {config.subgoal_interval} does not divide the {task.horizon} steps of an "
            f"episode: its last segment has {left}"
        )
    return notes


def _episode_bytes(shape: EpisodeShape) -> int:
    leaves = jax.tree.leaves(empty_episode(shape))
    return sum(prod(leaf.shape) * leaf.dtype.itemsize for leaf in leaves)


def _replay_bytes(config: Config, shape: EpisodeShape) -> int:
    return config.capacity // shape.horizon * _episode_bytes(shape)


def _refuse_giant_replay(config: Config, shape: EpisodeShape) -> None:
    """Pictures as observations can ask for more memory than there is."""
    needed, most = _replay_bytes(config, shape), _MOST_MEMORY * machine_memory()
    if needed > most:
        fitting = int(most) // _episode_bytes(shape) * shape.horizon
        raise HessError(
            f"a replay of capacity={config.capacity:,} steps with {shape.observation_dim:,} "
            f"numbers each needs {needed / 1e9:.0f} GB, this machine has "
            f"{machine_memory() / 1e9:.0f}; capacity may be {shape.horizon:,} to {fitting:,}"
        )
