"""Training as a whole: against its slower half, the authors' released code, the default; memory.

The rates of the config hold, but in cycles of a few episodes instead of a hundred: φ minibatches,
evaluations and so on per step are as in a long run, so a short one contains everything.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hess.agents.agent import BaseAgent
from hess.agents.hess.agent import Hess
from hess.bench.components import ANT_MAZE, finished, noise_episode
from hess.bench.measuring import MEGABYTE, BenchRow, Goal, Size, compared, seconds
from hess.bench.updates import core_speed
from hess.config import Config, override
from hess.config.presets import preset
from hess.envs import TASKS
from hess.native.cores import busy_core
from hess.replay.episode import Episode
from hess.replay.ring import insert
from hess.runs.folder import RunFolder
from hess.training.collector import Collector
from hess.training.trainer import Trainer

_SHARE_OF_SLOWER_HALF = 0.80
_AUTHORS_SPEED = 70.0
"""Environment steps/s of the released code, measured once on a machine of two AVX2 cores."""
_THEN = 85.0
"""Billions of operations per second of one of its cores in a large matrix product."""
_TIMES_AUTHORS = 8.0
_FIRST_UPDATE = 5  # random episodes before φ
_GROWTH, _RESIDENT = 20.0, 1500.0  # goals in MB
_FEW_UPDATES = {"low.updates_per_decision": 0.01, "representation.minibatches": 100}


class TrainingSpeeds(NamedTuple):
    """Environment steps/s, measured one after the other."""

    training: float
    environment: float
    learner: float
    learner_on_one_core: float
    authors: float  # of the released code, scaled to matmuls right before and after training


def speed(size: Size, task: str = "AntMaze") -> list[BenchRow]:
    """Both comparisons, from the same runs."""
    measured = [_measure(size, task) for _ in range(size.training_repetitions)]
    training = [each.training for each in measured]
    slower = [min(each.environment, each.learner) for each in measured]
    halves = [
        (name, statistics.median(getattr(each, name) for each in measured))
        for name in ("environment", "learner", "learner_on_one_core")
    ]
    alone = ", ".join(f"{name.replace('_', ' ')} {speed:.0f}" for name, speed in halves)
    return [
        compared(
            "training",
            f"{task}, 0.4 low-level updates a step",
            "steps/s",
            (training, slower),
            "the slower of environment and learner alone",
            goal=Goal("at least", _SHARE_OF_SLOWER_HALF),
            note=f"alone: {alone}",
        ),
        compared(
            "training",
            f"{task}, against the authors' code",
            "steps/s",
            (training, [each.authors for each in measured]),
            "the authors' released code, at the speed of this machine's cores",
            goal=Goal("at least", _TIMES_AUTHORS),
            note=f"measured once: {_AUTHORS_SPEED:.0f} steps/s on cores of {_THEN:.0f} GFLOPS",
        ),
        # What who trains without flags gets.
        compared(
            "training",
            f"{task}, the default",
            "steps/s",
            ([_default_speed(size, task) for _ in measured], training),
            "the paper's networks at 0.4 low-level updates a step",
        ),
    ]


def _default_speed(size: Size, task: str) -> float:
    watch = Watch()
    train_watched(bench_config(size, task, preset("default")), watch)
    return _training_speed(watch, size)


def bench_config(size: Size, task: str, start: Config | None = None) -> Config:
    """A config in cycles of some episodes.

    By default the paper's, with as many low-level updates a step as the default makes.
    """
    given = start or override(preset("paper"), {"low.updates_per_decision": 0.4})
    horizon = TASKS[task].horizon
    cycle_steps = size.cycle * horizon
    evaluated = max(1, round(given.evaluation.episodes * cycle_steps / given.evaluation.interval))
    share = size.cycle / given.representation.interval
    return override(
        given,
        {
            "task": task,
            "steps": (_FIRST_UPDATE + (1 + size.cycles) * size.cycle) * horizon,
            "representation.first_update": _FIRST_UPDATE,
            "representation.interval": size.cycle,
            "representation.growth": 0.0,
            "representation.minibatches": round(share * given.representation.minibatches),
            "evaluation.episodes": evaluated,
            "evaluation.interval": cycle_steps,
            "record.checkpoint_interval": size.cycles * cycle_steps,
            "record.snapshot_interval": 2 * cycle_steps,
        },
    )


def _measure(size: Size, task_name: str) -> TrainingSpeeds:
    config = bench_config(size, task_name)
    watch = Watch()
    before = core_speed(size)
    agent = train_watched(config, watch)
    speed = (before + core_speed(size)) / 2
    collector = Collector(override(config, {"seed": 1}), 1)
    episodes: list[Episode] = []

    def collect() -> None:
        for number in range(size.cycle):  # with a policy that is made anew, as in training
            future = collector.submit(agent.policy(0.0), number)[0]
            episodes.append(future.result().episode)

    environment = seconds(collect)
    collector.close()
    learner = seconds(lambda: _learn(agent, episodes))
    with busy_core():
        learner_on_one_core = seconds(lambda: _learn(agent, episodes))
    steps = sum(int(episode.length) for episode in episodes)
    return TrainingSpeeds(
        training=_training_speed(watch, size),
        environment=steps / environment,
        learner=steps / learner,
        learner_on_one_core=steps / learner_on_one_core,
        authors=_AUTHORS_SPEED * speed / _THEN,
    )


def _training_speed(watch: Watch, size: Size) -> float:
    """Over whole cycles at the end: by then everything is compiled."""
    last = watch.rounds[-1]
    first = watch.rounds[-1 - size.cycles * size.cycle]
    return (last.step - first.step) / (last.seconds - first.seconds)


def _learn(agent: BaseAgent, episodes: list[Episode]) -> None:
    for episode in episodes:
        agent.learn([episode], lambda what, share: None)


# --- runs that are watched from outside, in a temporary folder, silently ------------------------


class Round(NamedTuple):
    """Right after a round was learned from."""

    step: int
    seconds: float
    value: float


class Watch:
    """A display that shows nothing and notes time, and a value, after every round."""

    def __init__(self, value: Callable[[], float] = lambda: 0.0):
        self.rounds: list[Round] = []
        self._value = value

    def update(self, step: int, metrics: dict[str, float]) -> None:
        """A round has been learned from."""
        self.rounds.append(Round(step, time.perf_counter(), self._value()))

    def evaluation(self, values: dict[str, float], seconds: float) -> None: ...

    def progress(self, what: str, share: float) -> None: ...

    def message(self, text: str) -> None: ...


def train_watched(config: Config, watch: Watch) -> BaseAgent:
    """Train from the start to the end; the agent as it is then."""
    with tempfile.TemporaryDirectory(prefix="hess-bench-") as folder:
        trainer = Trainer(config, RunFolder(Path(folder) / "run"), watch)
        trainer.run()
        return trainer.agent


# --- memory: flat over a run, and small with a full replay of a million steps ---------------------


def memory(size: Size) -> list[BenchRow]:
    """Growth over a run first: a peak in this process would hide it."""
    return [_growth_row(size), _resident_row(size)]


def resident() -> float:
    """Memory of this process that is in use right now, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


def growth(values: Sequence[float]) -> float:
    """From the second quarter, when all has been compiled, to the last."""
    quarter = len(values) // 4
    return statistics.median(values[-quarter:]) - statistics.median(values[quarter : 2 * quarter])


def _growth_row(size: Size) -> BenchRow:
    watch = Watch(resident)
    train_watched(_eventful_config(size.memory_steps), watch)
    values = [each.value for each in watch.rounds]
    name = f"growth over {size.memory_steps:,} PointMaze steps"
    goal = Goal("at most", _GROWTH, of="measured")
    note = f"resident at the end: {values[-1]:.0f} MB"
    return BenchRow("memory", name, growth(values), "MB", goal=goal, note=note)


def _eventful_config(steps: int) -> Config:
    """Everything that a run does, often, with few gradient steps: they allocate the same."""
    tenth = steps // 10
    return override(
        preset("default"),
        {
            "task": "PointMaze",
            "steps": steps,
            **_FEW_UPDATES,
            "high.updates_per_decision": 0.5,
            "representation.first_update": 3,
            "representation.interval": 10,
            "evaluation.interval": tenth,
            "evaluation.episodes": 2,
            "record.checkpoint_interval": tenth,
            "record.snapshot_interval": tenth,
        },
    )


def _resident_row(size: Size) -> BenchRow:
    """AntMaze with a full replay, right after both levels and φ have learned from it."""
    config: Config = override(
        preset("default"),
        {
            "capacity": size.capacity,
            **_FEW_UPDATES,
            "representation.first_update": 1,
            "representation.interval": 1,
        },
    )
    shape = ANT_MAZE._replace(
        subgoal_dim=config.representation.dimensions(ANT_MAZE.observation_dim)
    )
    agent = Hess(config, shape)
    episode = noise_episode(shape, np.random.default_rng(0))
    for _ in range(agent.replay.slots):
        agent.replay = insert(agent.replay, episode)
    for _ in range(2):
        agent.learn([episode], lambda what, share: None)
    finished(agent.replay)
    name = f"AntMaze, full replay of {size.capacity:,} steps"
    goal = Goal("at most", _RESIDENT, of="measured")
    return BenchRow("memory", name, resident(), "MB", goal=goal)
