"""The training loop: collect a round of episodes, learn from it, and again.

With `pipeline`, round i+1 is collected while the agent learns from round i; it acts with what was
learned from rounds up to i-1. The lag is always exactly one round, so timing changes nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from hess.agents.agent import BaseAgent
from hess.agents.methods import method
from hess.arrays import Arrays
from hess.config import Config
from hess.errors import HessError
from hess.learning.trees import prefixed, select
from hess.replay.episode import empty_episode
from hess.runs.checkpoint import AGENT, Checkpoint, CheckpointFolder, Expected, TrainingState
from hess.runs.folder import RunFolder
from hess.runs.manifest import changes
from hess.runs.records import Records, refuse_orphans
from hess.runs.snapshots import drop_later_snapshots, write_snapshot
from hess.runs.stored_episodes import refill
from hess.runtime import available_cores
from hess.training.collector import Collected, Collector, means
from hess.training.coverage import Coverage
from hess.training.display import Display
from hess.training.interrupts import StopOnSignal


class Result(NamedTuple):
    """How a call of `Trainer.run` ended."""

    step: int
    finished: bool
    success_rate: float | None  # of the last evaluation, None before the first
    signal: int | None = None  # what asked it to stop


class Trainer:
    """One run, from wherever its folder left off to the end of its steps."""

    def __init__(self, config: Config, folder: RunFolder, display: Display):
        self.config, self._folder, self._display = config, folder, display
        self._collector = Collector(config, config.num_envs)
        task = self._collector.task
        evaluators = min(config.evaluation.episodes, len(available_cores()))
        self._evaluator = Collector(config, evaluators, like=task)
        self.agent: BaseAgent = method(config.method).build(config, self._collector.shape)
        self._coverage = Coverage(getattr(task.env.unwrapped, "floor_plan", None))
        self._records = Records(folder, config.record.tensorboard)
        self._checkpoints = CheckpointFolder(folder.path)
        self.step = 0
        self._round = 0  # rounds whose collection has been started
        self._pending: list[Future[Collected]] | list[Collected] = []
        self._success_rate: float | None = None
        self._evaluated = -1  # step of the last evaluation
        self._pictured = 0  # step of the last snapshot
        self._saved = 0  # step of the last checkpoint
        self._changed = False  # since the last checkpoint

    def run(self) -> Result:
        """Train to the end, or until a signal asks to stop; everything is saved either way."""
        at_once = False
        try:
            with StopOnSignal() as stop:
                self._begin()
                if stop.advice is not None and not self._finished:
                    self._display.message(stop.advice)
                self._loop(stop)
            return Result(self.step, self._finished, self._success_rate, stop.signal)
        except KeyboardInterrupt:
            at_once = True
            raise
        finally:
            for collector in (self._collector, self._evaluator):
                collector.close(wait=not at_once)
            self._records.close()

    @property
    def _finished(self) -> bool:
        return self.step >= self.config.steps and self._evaluated == self.step

    def _begin(self) -> None:
        shape, replay = self.agent.shape, self.agent.replay
        expected = Expected(self._state(), empty_episode(shape), replay.slots, self.config.num_envs)
        checkpoint = self._checkpoints.load(expected, self._display.message)
        if checkpoint is None:
            refuse_orphans(self._folder, self.config.record.checkpoint_interval)
        else:
            self._resume(checkpoint)
        self._checkpoints.tidy(self._display.message)
        drop_later_snapshots(self._folder, self.step)
        self._folder.write_config(self.config)
        if checkpoint is None:
            self._records.start()
        else:
            self._records.resume(checkpoint.manifest.records, self.step, self._display.message)
        if self._finished:
            self._display.message(f"the run has done its {self.config.steps:,} steps already")
        else:
            self._folder.write_metadata(resumed=checkpoint is not None)

    def _resume(self, checkpoint: Checkpoint) -> None:
        manifest = checkpoint.manifest
        if manifest.step >= self.config.steps and self.config.steps < manifest.config.steps:
            raise HessError(
                f"the run has done {manifest.step:,} steps already, steps={self.config.steps:,} "
                "asks for fewer; give it more steps, or another --name"
            )
        self._restore(checkpoint)
        if self.agent.episodes != (manifest.episodes[-1].last if manifest.episodes else 0):
            raise HessError("the checkpoint's replay and its number of episodes do not agree")
        self.agent.replay = refill(self.agent.replay, self.agent.episodes, checkpoint.episodes)
        self._saved = self.step
        self._display.message(f"resumed at step {self.step:,}")
        if differing := changes(manifest.origin):
            self._display.message(f"not bit for bit as before, it was written by {differing}")

    def _loop(self, stop: StopOnSignal) -> None:
        while not stop.requested:
            self._keep_records()
            if self.step >= self.config.steps:
                break
            self._train()
        if self._changed:
            self._save()

    def _train(self) -> None:
        with self._saved_on_failure():
            collected = self._next_round()
        self._changed = True
        self.step += sum(int(each.episode.length) for each in collected)
        metrics = self._learn(collected)
        self._records.metrics(self.step, metrics)
        self._display.update(self.step, metrics)

    def _keep_records(self) -> None:
        """Evaluate, picture and save what is due, in that order; also what a stop left owing."""
        if self._due(self._evaluated, self.config.evaluation.interval):
            self._evaluate()
        if self._due(self._pictured, self.config.record.snapshot_interval):
            write_snapshot(self._folder, self.step, self.agent)
            self._pictured = self.step
        if self._due(self._saved, self.config.record.checkpoint_interval):
            self._save()

    def _due(self, last: int, interval: int) -> bool:
        passed = self.step // interval > last // interval
        return self.step > last and (passed or self.step >= self.config.steps)

    @contextmanager
    def _saved_on_failure(self) -> Iterator[None]:
        """A misbehaving environment must not cost what was learned."""
        try:
            yield
        except HessError as error:
            self._save()
            raise HessError(f"{error}; {self._what_is_saved()}") from error

    def _what_is_saved(self) -> str:
        return f"what was learned in {self.step:,} steps is saved"

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
        try:
            metrics = self.agent.learn(episodes, self._display.progress)
        except HessError as error:
            raise HessError(f"learning on {self.config.task!r} stopped: {error}") from error
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
        share, mean = self._coverage.share(), means(episodes)
        values = {
            "train/success": mean["success_rate"],
            "train/success_at_end": mean["success_at_end"],
            "train/return": mean["mean_return"],
            "train/flipped_share": 1.0 - float(np.mean([each.healthy_share for each in collected])),
            "train/visited_squares": float(self._coverage.count()),
            "time/collection": float(np.max([each.seconds for each in collected])),
        }
        return values if share is None else values | {"train/coverage": share}

    def _evaluate(self) -> None:
        """Deterministic episodes; success is reaching the goal at any step, or being there last."""
        start = time.perf_counter()
        policy = self.agent.evaluation_policy()
        with self._saved_on_failure():
            collected = self._evaluator.evaluate(policy, self.step, self.config.evaluation.episodes)
        episodes = [each.episode for each in collected]
        values = means(episodes) | {
            "step": float(self.step),
            "episodes": float(len(episodes)),
            "train_success": self.agent.recent_success(),
        }
        self._success_rate = values["success_rate"]
        self._records.evaluation(values)
        self._evaluated, self._changed = self.step, True
        self._display.evaluation(values, time.perf_counter() - start)

    def _save(self) -> None:
        """A checkpoint between rounds; a round that is being collected becomes part of it."""
        failure: HessError | None = None
        try:
            self._pending = _results(self._pending)
        except HessError as error:
            failure, self._pending = error, []  # given up; the next start collects another one
        self._folder.require_lock()
        training = TrainingState(
            self.step,
            self.config,
            self._state(),
            [each.episode for each in _results(self._pending)],
            self.agent.replay,
            self.agent.replay_revision,
            self._records.position(),
        )
        self._checkpoints.save(training)
        self._saved, self._changed = self.step, False
        if failure is not None:
            raise HessError(f"{failure}; {self._what_is_saved()}") from failure

    def _state(self) -> Arrays:
        analysis = np.array(
            [(each.healthy_share, each.seconds) for each in _results(self._pending)]
        ).reshape(-1, 2)
        rate = np.nan if self._success_rate is None else self._success_rate
        trainer = {
            "trainer.step": np.asarray(self.step),
            "trainer.round": np.asarray(self._round),
            "trainer.success_rate": np.asarray(rate),
            "trainer.coverage": self._coverage.state(),
            "trainer.evaluated": np.asarray(self._evaluated + 1),
            "trainer.pictured": np.asarray(self._pictured),
            "trainer.pending_analysis": analysis,
        }
        return prefixed(self.agent.state(), AGENT) | trainer

    def _restore(self, checkpoint: Checkpoint) -> None:
        state, analysis = checkpoint.state, checkpoint.state["trainer.pending_analysis"]
        if int(state["trainer.step"]) != checkpoint.manifest.step:
            raise HessError("the checkpoint's state and its manifest are of different steps")
        if len(analysis) != len(checkpoint.pending):
            raise HessError("the checkpoint's pending episodes are incomplete")
        self.agent.restore(select(state, AGENT))
        self.step = int(state["trainer.step"])
        self._round = int(state["trainer.round"])
        self._evaluated = int(state["trainer.evaluated"]) - 1
        self._pictured = int(state["trainer.pictured"])
        rate = float(state["trainer.success_rate"])
        self._success_rate = None if math.isnan(rate) else rate
        self._coverage.restore(state["trainer.coverage"])
        self._pending = [
            Collected(episode, float(healthy), float(seconds))
            for episode, (healthy, seconds) in zip(checkpoint.pending, analysis, strict=True)
        ]


def _results(pending: Sequence[Any]) -> list[Collected]:
    return [each.result() if isinstance(each, Future) else each for each in pending]
