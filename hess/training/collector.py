"""Episodes of the task, collected side by side in threads; MuJoCo releases the GIL.

An environment is made, played and closed in one and the same thread: one that draws what it
observes holds an OpenGL context, which belongs to the thread that made it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from hess.agents.agent import Policy, Rollout
from hess.config import Config
from hess.envs.adapter import Task
from hess.errors import HessError
from hess.native.cores import busy_core
from hess.replay.episode import Episode, empty_episode

_TRAINING, _EVALUATION = 0, 1  # first numbers of the seed streams


class Collected(NamedTuple):
    """An episode and what only analysis needs of it."""

    episode: Episode
    healthy_share: float
    seconds: float


def seed_stream(seed: int, purpose: int, *numbers: int) -> np.random.SeedSequence:
    """Independent streams for every environment, round and purpose, from one seed."""
    return np.random.SeedSequence(seed, spawn_key=(purpose, *numbers))


class Collector:
    """Owns environments of a run; the same seed and round give the same episodes."""

    def __init__(self, config: Config, count: int, like: Task | None = None):
        """Open `count` of them; `like` an open one, whose observations need not be probed again."""
        self._seed = config.seed
        self._threads: list[ThreadPoolExecutor] = []
        self._tasks: list[Task] = []
        for _ in range(count):
            self._threads.append(ThreadPoolExecutor(1, thread_name_prefix="collect"))
            like = self._threads[-1].submit(Task, config, like).result()
            self._tasks.append(like)
        self.task = self._tasks[0]  # for what is the same in all
        self.shape = self.task.shape(config)

    def submit(self, policy: Policy, number: int) -> list[Future[Collected]]:
        """Start one training episode per environment, for round `number`."""
        return [
            thread.submit(self._train, index, policy, number)
            for index, thread in enumerate(self._threads)
        ]

    def evaluate(self, policy: Policy, number: int, episodes: int) -> list[Collected]:
        """Deterministic episodes, spread over the environments; wait for all of them."""
        count = len(self._tasks)
        futures = [
            thread.submit(self._evaluate, index, policy, number, range(index, episodes, count))
            for index, thread in enumerate(self._threads)
        ]
        return [collected for future in futures for collected in future.result()]

    def close(self, wait: bool = True) -> None:
        """End the threads and free the simulators; without `wait`, episodes play on to their end.

        A simulator must not be freed under a thread that is stepping it.
        """
        for thread, task in zip(self._threads, self._tasks, strict=True):
            if wait:
                thread.submit(task.close).result()
            thread.shutdown(wait=wait, cancel_futures=True)

    def _train(self, index: int, policy: Policy, number: int) -> Collected:
        env_seed, rng_seed = seed_stream(self._seed, _TRAINING, index, number).spawn(2)
        episode = empty_episode(self.shape)
        rollout = policy.start(episode, np.random.default_rng(rng_seed))
        return run_episode(self._tasks[index], episode, rollout, env_seed)

    def _evaluate(self, index: int, policy: Policy, number: int, mine: range) -> list[Collected]:
        collected = []
        for each in mine:
            episode = empty_episode(self.shape)
            env_seed = seed_stream(self._seed, _EVALUATION, number, each)
            rollout = policy.start_evaluation(episode)
            collected.append(run_episode(self._tasks[index], episode, rollout, env_seed))
        return collected


def run_episode(
    task: Task, episode: Episode, rollout: Rollout, seed: np.random.SeedSequence
) -> Collected:
    """Play one episode into the given arrays."""
    start = time.perf_counter()
    with busy_core():
        length, healthy = _play(task, episode, rollout, seed)
    return Collected(episode, healthy / length, time.perf_counter() - start)


def _play(
    task: Task, episode: Episode, rollout: Rollout, seed: np.random.SeedSequence
) -> tuple[int, int]:
    """The length of the episode, and how many of its steps were healthy."""
    horizon = len(episode.actions)
    observations, goals, positions = episode.observations, episode.goals, episode.positions
    observations[0], goals[0], positions[0] = task.reset(int(seed.generate_state(1)[0]))
    length, healthy = 0, 0
    for step in range(horizon):
        action = rollout.act(step)
        outcome = task.step(action, step)
        length = step + 1
        observations[length], goals[length], positions[length] = outcome.state
        episode.actions[step] = action
        episode.rewards[step] = outcome.reward
        episode.successes[step] = outcome.success
        healthy += outcome.healthy
        if outcome.terminated or outcome.truncated:
            episode.terminated[...] = outcome.terminated
            break
    else:
        raise HessError(
            f"the environment {task.name!r} neither terminated nor truncated at its horizon, "
            f"step {horizon}"
        )
    task.end_episode()
    episode.length[...] = length
    rollout.finish(length)
    return length, healthy


def means(episodes: Sequence[Episode]) -> dict[str, float]:
    """Success at any step of an episode, at its last one, and the return."""
    at_end = [each.successes[int(each.length) - 1] for each in episodes]
    return {
        "success_rate": float(np.mean([each.successes.any() for each in episodes])),
        "success_at_end": float(np.mean(at_end)),
        "mean_return": float(np.mean([each.rewards.sum() for each in episodes])),
    }
