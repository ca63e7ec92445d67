"""Evaluation beside training: deterministic episodes with the policy as it was when they began."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import NamedTuple

import numpy as np

from hess.agents.agent import Policy
from hess.training.collector import Collected, Collector


class _Running(NamedTuple):
    step: int
    train_success: float
    episodes: Sequence[Future[list[Collected]]]
    start: float


class Evaluator:
    """One evaluation at a time, in threads of its own."""

    def __init__(self, collector: Collector, episodes: int):
        self._collector, self._episodes = collector, episodes
        self._running: _Running | None = None

    @property
    def step(self) -> int | None:
        """The step whose policy is being evaluated, None if none is."""
        return None if self._running is None else self._running.step

    @property
    def is_over(self) -> bool:
        """Whether `result` would not have to wait."""
        running = self._running
        return running is not None and all(each.done() for each in running.episodes)

    def start(self, policy: Policy, step: int, train_success: float) -> None:
        """Begin an evaluation; the one before must have been asked for its result."""
        if self._running is not None:
            raise RuntimeError(f"the evaluation of step {self._running.step} is not over")
        futures = self._collector.submit_evaluation(policy, step, self._episodes)
        self._running = _Running(step, train_success, futures, time.perf_counter())

    def result(self) -> tuple[dict[str, float], float]:
        """A row of eval.csv and the seconds it took; success is reaching the goal at any step."""
        if self._running is None:
            raise RuntimeError("no evaluation has been started")
        running, self._running = self._running, None
        collected = [each for future in running.episodes for each in future.result()]
        episodes = [each.episode for each in collected]
        values = {
            "step": float(running.step),
            "episodes": float(len(episodes)),
            "success_rate": float(np.mean([each.successes.any() for each in episodes])),
            "mean_return": float(np.mean([each.rewards.sum() for each in episodes])),
            "train_success": running.train_success,
        }
        return values, time.perf_counter() - running.start

    def close(self, wait: bool = True) -> None:
        """End the threads; see `Collector.close`."""
        self._collector.close(wait)
