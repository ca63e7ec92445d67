"""The training loop: collect a round of episodes, learn from it, and again.

With `pipeline`, round i+1 is collected while the agent learns from round i; it acts with what was
learned from rounds up to i-1. The lag is always exactly one round, so timing changes nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np

from hess.agents.agent import Agent, Arrays
from hess.agents.methods import method
from hess.config import Config
from hess.errors import HessError
from hess.runtime import available_cores
from hess.training.checkpoint import (
    CheckpointFolder,
    stack_pending,
    unstack_pending,
)
from hess.training.collector import Collected, Collector
from hess.training.coverage import Coverage
from hess.training.display import Display
from hess.training.folder import RunFolder
from hess.training.interrupts import StopOnSignal
from hess.training.records import Records
from hess.training.ring import refill, replay_source
from hess.training.snapshots import write_snapshot
from hess.training.task import Task
from hess.validation import validate


class Result(NamedTuple):
    """How a call of `Trainer.run` ended."""

    step: int
    finished: bool
    success_rate: float | None  # of the last evaluation, None before the first


class Trainer:
    """One run, from wherever its folder left off to the end of its steps."""

    def __init__(self, config: Config, folder: RunFolder, display: Display):
        self.config, self._folder, self._display = config, folder, display
        tasks = [Task(config.task) for _ in range(config.num_envs)]
        validate(config, tasks[0].horizon)
        shape = tasks[0].shape(config)
        self.agent: Agent = method(config.method).build(config, shape)
        self._collector = Collector(tasks, shape, config.seed)
        evaluators = min(config.evaluation.episodes, len(available_cores()))
        self._evaluator = Collector(
            [Task(config.task) for _ in range(evaluators)], shape, config.seed
        )
        self._coverage = Coverage(getattr(tasks[0].env.unwrapped, "floor_plan", None))
        self._records = Records(folder, config.record.tensorboard)
        self._checkpoints = CheckpointFolder(folder.path)
        self.step = 0
        self._round = 0  # rounds whose collection has been started
        self._pending: list[Future[Collected]] | list[Collected] = []
        self._success_rate: float | None = None

    def run(self) -> Result:
        """Train to the end, or until a signal asks to stop; everything is saved either way."""
        try:
            self._begin()
            with StopOnSignal() as stop:
                self._loop(stop)
            return Result(self.step, self.step >= self.config.steps, self._success_rate)
        finally:
            self._records.close()
            self._collector.close()
            self._evaluator.close()

    def _begin(self) -> None:
        checkpoint = self._checkpoints.load(self._display.message)
        if checkpoint is None:
            self._records.start()
            self._evaluate()
            return
        self._restore(checkpoint.state)
        self.agent.replay = refill(self.agent.replay, self.agent.episodes, checkpoint.episodes)
        self._records.resume(checkpoint.extra["records"], checkpoint.step)
        self._display.message(f"resumed at step {self.step:,}")

    def _loop(self, stop: StopOnSignal) -> None:
        while self.step < self.config.steps and not stop.requested:
            before = self.step
            try:
                collected = self._next_round()
            except HessError:
                self._save()  # a misbehaving environment must not cost what was learned
                raise
            self.step += sum(int(each.episode.length) for each in collected)
            metrics = self._learn(collected)
            self._records.metrics(self.step, metrics)
            self._display.update(self.step, metrics)
            if self._crossed(before, self.config.evaluation.interval):
                self._evaluate()
            if self._crossed(before, self.config.record.snapshot_interval):
                write_snapshot(self._folder, self.step, self.agent)
            if self._crossed(before, self.config.record.checkpoint_interval):
                self._save()
        self._save()

    def _crossed(self, before: int, interval: int) -> bool:
        return self.step // interval > before // interval or self.step >= self.config.steps

    def _next_round(self) -> list[Collected]:
        """The episodes to learn from now; with `pipeline`, the next ones are started as well."""
        if not self._pending:
            self._pending = self._submit()
        collected = _results(self._pending)
        self._pending = []
        steps = sum(int(each.episode.length) for each in collected)
        if self.config.pipeline and self.step + steps < self.config.steps:
            self._pending = self._submit()
        return collected

    def _submit(self) -> list[Future[Collected]]:
        policy = self.agent.policy(self.step / self.config.steps)
        futures = self._collector.submit(policy, self._round)
        self._round += 1
        return futures

    def _learn(self, collected: Sequence[Collected]) -> dict[str, float]:
        start = time.perf_counter()
        episodes = [each.episode for each in collected]
        metrics = self.agent.learn(episodes, self._display.progress)
        learning = time.perf_counter() - start
        for name, value in metrics.items():
            if not math.isfinite(value):
                raise HessError(
                    f"{name} became {value} at step {self.step}; training stopped, "
                    "the last checkpoint is intact"
                )
        for episode in episodes:
            self._coverage.add(episode.positions[: int(episode.length) + 1])
        return metrics | self._episode_metrics(collected) | {"time/learning": learning}

    def _episode_metrics(self, collected: Sequence[Collected]) -> dict[str, float]:
        episodes = [each.episode for each in collected]
        share = self._coverage.share()
        values = {
            "train/success": float(np.mean([each.successes.any() for each in episodes])),
            "train/return": float(np.mean([each.rewards.sum() for each in episodes])),
            "train/flipped_share": 1.0 - float(np.mean([each.healthy_share for each in collected])),
            "train/visited_squares": float(self._coverage.count()),
            "time/collection": float(np.max([each.seconds for each in collected])),
        }
        return values if share is None else values | {"train/coverage": share}

    def _evaluate(self) -> None:
        """Deterministic episodes; success is reaching the goal at any step."""
        start = time.perf_counter()
        policy = self.agent.evaluation_policy()
        collected = self._evaluator.evaluate(policy, self.step, self.config.evaluation.episodes)
        episodes = [each.episode for each in collected]
        self._success_rate = float(np.mean([each.successes.any() for each in episodes]))
        values = {
            "step": float(self.step),
            "episodes": float(len(episodes)),
            "success_rate": self._success_rate,
            "mean_return": float(np.mean([each.rewards.sum() for each in episodes])),
            "train_success": self.agent.recent_success(),
        }
        self._records.evaluation(values)
        self._display.evaluation(values, time.perf_counter() - start)

    def _save(self) -> None:
        """A checkpoint between rounds; a round that is being collected becomes part of it."""
        try:
            self._pending = _results(self._pending)
        except HessError as error:
            self._display.message(f"saving without the next round: {error}")
            self._pending = []
        self._checkpoints.save(
            self.step,
            self._state(),
            replay_source(self.agent.replay, self.agent.replay_revision),
            {"records": self._records.positions()},
        )

    def _state(self) -> Arrays:
        agent = {f"agent.{name}": array for name, array in self.agent.state().items()}
        pending = stack_pending([each.episode for each in _results(self._pending)])
        analysis = np.array(
            [(each.healthy_share, each.seconds) for each in _results(self._pending)]
        ).reshape(-1, 2)
        rate = np.nan if self._success_rate is None else self._success_rate
        trainer = {
            "trainer.step": np.asarray(self.step),
            "trainer.round": np.asarray(self._round),
            "trainer.success_rate": np.asarray(rate),
            "trainer.coverage": self._coverage.state(),
            "pending_analysis": analysis,
        }
        return agent | pending | trainer

    def _restore(self, state: Arrays) -> None:
        prefix = "agent."
        self.agent.restore(
            {name[len(prefix) :]: array for name, array in state.items() if name.startswith(prefix)}
        )
        self.step = int(state["trainer.step"])
        self._round = int(state["trainer.round"])
        rate = float(state["trainer.success_rate"])
        self._success_rate = None if math.isnan(rate) else rate
        self._coverage.restore(state["trainer.coverage"])
        self._pending = [
            Collected(episode, float(healthy), float(seconds))
            for episode, (healthy, seconds) in zip(
                unstack_pending(state), state["pending_analysis"], strict=True
            )
        ]


def _results(pending: Sequence[Any]) -> list[Collected]:
    return [each.result() if isinstance(each, Future) else each for each in pending]
