"""An agent that learns nothing but remembers everything, and a display that can stop a run."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hess.agents.agent import Progress
from hess.agents.methods import METHODS, Method
from hess.arrays import Arrays, Floats
from hess.config import Config, override
from hess.replay.episode import Episode, EpisodeShape
from hess.replay.ring import empty_replay, insert
from hess.runs.folder import RunFolder
from hess.training.trainer import Trainer
from tests.agents.tiny import FIELDS
from tests.training.toy_tasks import FIELD, HORIZON

METHOD = Method("stub", "remembers", "none", {}, "tests.training.stub:Stub")


class StubRollout:
    """Acts at random and signs each episode with what its agent had learned by then."""

    def __init__(self, episode: Episode, rng: np.random.Generator, learned: int, progress: float):
        self._episode, self._rng = episode, rng
        episode.high_actions[0] = learned, progress

    def act(self, step: int) -> Floats:
        return self._rng.uniform(-1, 1, self._episode.actions.shape[1])

    def finish(self, length: int) -> None:
        self._episode.embedded[...] = True


class StubPolicy(NamedTuple):
    """Knows how many episodes its agent had learned from."""

    learned: int
    progress: float

    def start(self, episode: Episode, rng: np.random.Generator) -> StubRollout:
        return StubRollout(episode, rng, *self)

    def start_evaluation(self, episode: Episode) -> StubRollout:
        return StubRollout(episode, np.random.default_rng(self.learned), *self)


class Stub:
    """Counts episodes; its metric can be made to go wrong."""

    poison: tuple[int, float] = (-1, 0.0)  # after so many episodes, this value

    def __init__(self, config: Config, shape: EpisodeShape):
        self.config, self.shape = config, shape
        self.replay = empty_replay(shape, config.capacity)
        self.replay_revision = 0
        self.episodes = 0
        self.total = 0.0

    def policy(self, progress: float) -> StubPolicy:
        return StubPolicy(self.episodes, progress)

    def evaluation_policy(self) -> StubPolicy:
        return StubPolicy(self.episodes, 1.0)

    def learn(self, episodes: Sequence[Episode], report: Progress) -> dict[str, float]:
        signatures = [episode.high_actions[0].tolist() for episode in episodes]
        before = self.episodes
        for episode in episodes:
            self.replay = insert(self.replay, episode)
            self.episodes += 1
            self.total += float(episode.actions.sum())
        report("counting", 1.0)
        wrong, value = self.poison
        return {
            "stub/lag": before - signatures[0][0],
            "stub/progress": signatures[0][1],
            "stub/total": self.total,
            "stub/loss": value if self.episodes == wrong else 0.5,
        }

    def recent_success(self) -> float:
        return 0.25

    def embed(self, observations: Floats) -> Floats:
        return observations[:, :2]

    def state(self) -> Arrays:
        return {"episodes": np.asarray(self.episodes), "total": np.asarray(self.total)}

    def restore(self, arrays: Arrays) -> None:
        self.episodes, self.total = int(arrays["episodes"]), float(arrays["total"])

    def snapshot(self) -> Arrays:
        return {"episodes": np.asarray([self.episodes])}


@contextmanager
def registered() -> Iterator[None]:
    """While this lasts, "stub" is a method like any other."""
    METHODS[METHOD.name] = METHOD
    try:
        yield
    finally:
        del METHODS[METHOD.name]


class Watcher:
    """Keeps what a run reports, and asks it to stop at a step as Ctrl-C would."""

    def __init__(self, stop_at: int | None = None):
        self.stop_at = stop_at
        self.rounds: list[tuple[int, dict[str, float]]] = []
        self.evaluations: list[dict[str, float]] = []
        self.messages: list[str] = []
        self.activities: list[str] = []

    def update(self, step: int, metrics: dict[str, float]) -> None:
        self.rounds.append((step, metrics))
        if self.stop_at is not None and step >= self.stop_at:
            self.stop_at = None
            signal.raise_signal(signal.SIGINT)

    def evaluation(self, values: dict[str, float], seconds: float) -> None:
        self.evaluations.append(values)

    def progress(self, what: str, share: float) -> None:
        self.activities.append(what)

    def message(self, text: str) -> None:
        self.messages.append(text)

    def lasting(self) -> list[tuple[int, dict[str, float]]]:
        """What was reported, but for the clock."""
        return [
            (step, {name: value for name, value in values.items() if not name.startswith("time/")})
            for step, values in self.rounds
        ]


TINY: dict[str, Any] = FIELDS | {
    "task": FIELD,
    "method": "stub",
    "steps": 8 * HORIZON,
    "evaluation.interval": 3 * HORIZON,
    "evaluation.episodes": 3,
    "record.tensorboard": False,
}


def tiny_run(**fields: Any) -> Config:
    """A config of a few short episodes; `low__hindsight=0.5` sets `low.hindsight`."""
    values = {name.replace("__", "."): value for name, value in fields.items()}
    config: Config = override(Config(), TINY | values)
    return config


def train(config: Config, path: Path, stop_at: int | None = None) -> tuple[Trainer, Watcher]:
    """Run, or resume, in a folder."""
    watcher = Watcher(stop_at)
    trainer = Trainer(config, RunFolder(path), watcher)
    trainer.run()
    return trainer, watcher
