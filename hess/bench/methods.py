"""What a step of training costs the hierarchical methods, against HESS."""

from __future__ import annotations

import statistics

import numpy as np

from hess.agents.methods import method
from hess.bench.rows import Goal, Row
from hess.bench.sizes import Size
from hess.bench.synthetic import noise_replay
from hess.bench.timing import Measurement, fitting_seconds, in_turns, median_ratio
from hess.config import Config, override
from hess.envs.adapter import Task
from hess.replay import empty_episode
from hess.training.collector import run_episode

VARIANTS = ("lesson", "hess-reactive", "h-icm", "h-sr")
_TIMES_HESS = 1.3
_FIRST_UPDATE = 2  # random episodes before φ
_MICROSECONDS = 1e6


def rows(size: Size, task: str = "AntMaze") -> list[Row]:
    """A row for each method; they and HESS take turns."""
    steps = [_step(name, size, task) for name in ("hess", *VARIANTS)]
    hess, *others = in_turns(*steps, repetitions=size.method_repetitions)
    return [_row(name, own, hess) for name, own in zip(VARIANTS, others, strict=True)]


def _row(name: str, own: list[float], hess: list[float]) -> Row:
    return Row(
        group="methods",
        name=f"a step of {name}",
        measured=statistics.median(own),
        unit="µs",
        reference=statistics.median(hess),
        reference_name="a step of HESS",
        ratio=median_ratio(own, hess),
        ratio_name="measured / reference",
        goal=Goal("at most", _TIMES_HESS),
    )


def _step(name: str, size: Size, task_name: str) -> Measurement:
    """Microseconds per step of collecting an episode and learning from it, φ updates apart.

    They cost every method the same, and would bring the ratios closer to 1.
    """
    task = Task(task_name)
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
    return lambda: fitting_seconds(work) / agent.shape.horizon * _MICROSECONDS


def _config(name: str, size: Size, task: Task) -> Config:
    """HESS as it is from the first success on: both levels learn, and subgoals are selected."""
    config: Config = override(
        method(name).apply(Config(task=task.name)),
        {
            "high.warmup": "policy",
            "capacity": size.stored * task.horizon,
            "representation.first_update": _FIRST_UPDATE,
            "representation.interval": 1_000_000,
            "representation.minibatches": 100,
        },
    )
    return config
