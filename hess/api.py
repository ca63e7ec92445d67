"""The Python interface: train a run, load its agent, evaluate it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hess import runtime
from hess.agents.agent import Agent
from hess.agents.methods import method as find_method
from hess.agents.trees import prefixed, select
from hess.config import Config, fill, override
from hess.errors import HessError
from hess.presets import preset as find_preset
from hess.replay import Episode, empty_episode
from hess.training.checkpoint import AGENT, CheckpointFolder, Expected
from hess.training.collector import Collector
from hess.training.display import Display, LiveDisplay, PlainDisplay
from hess.training.folder import RunFolder, run_path
from hess.training.manifest import newest_manifest, refuse_other_config
from hess.training.task import Task
from hess.training.trainer import Result, Trainer
from hess.training.trust import refuse_foreign_code, refuse_giants
from hess.validation import validate

Floats = NDArray[np.floating[Any]]

_MOST_ENVS = 4096  # that a stranger's checkpoint can have pending episodes of


class Run(NamedTuple):
    """A run that has ended, or was stopped."""

    path: Path
    result: Result


class Evaluation(NamedTuple):
    """Deterministic episodes."""

    success_rate: float
    mean_return: float
    episodes: list[Episode]


def make_config(task: str, method: str = "hess", preset: str = "default", **fields: Any) -> Config:
    """A config: the preset, then the method's row, then fields such as `low__hindsight=0.5`."""
    values = {name.replace("__", "."): value for name, value in fields.items()}
    return fill(find_method(method).apply(find_preset(preset)), {"task": task, **values})


def train(
    task: str,
    method: str = "hess",
    *,
    preset: str = "default",
    runs: str | Path = "runs",
    name: str | None = None,
    **fields: Any,
) -> Run:
    """Train, or resume, a run in `runs`/task/method/name; the name is the seed by default."""
    return train_config(make_config(task, method, preset, **fields), Path(runs), name)


def train_config(config: Config, runs: Path, name: str | None = None) -> Run:
    """Train, or resume, the run of a complete config."""
    runtime.configure()
    _refuse_impossible(config)
    folder = RunFolder(run_path(config, runs, name))
    folder.lock()
    try:
        refuse_other_config(config, folder)
        with _display(config) as display:
            result = Trainer(config, folder, display).run()
        return Run(folder.path, result)
    finally:
        folder.unlock()


def _refuse_impossible(config: Config) -> None:
    """Before anything is written."""
    task = Task(config.task)
    try:
        validate(config, task.horizon)
    finally:
        task.close()


@contextmanager
def _display(config: Config) -> Iterator[Display]:
    """A live table where a person watches, plain lines where not."""
    if not sys.stdout.isatty():
        yield PlainDisplay(config.steps)
        return
    title = f"{config.method} on {config.task}, seed {config.seed}"
    with LiveDisplay(config.steps, title) as display:
        yield display


class LoadedAgent:
    """A trained agent: acts, embeds and evaluates; it does not learn."""

    def __init__(self, config: Config, agent: Agent, step: int):
        self.config, self.step = config, step
        self._agent = agent
        self._policy = agent.evaluation_policy()
        self._rollout = self._policy.start_evaluation(empty_episode(agent.shape))
        self._episode = empty_episode(agent.shape)
        self._time = 0
        self.reset()

    def reset(self) -> None:
        """Begin an episode: the next `act` sets a new subgoal."""
        self._episode = empty_episode(self._agent.shape)
        self._rollout = self._policy.start_evaluation(self._episode)
        self._time = 0

    def act(
        self, observation: Floats, goal: Floats | None = None, position: Floats | None = None
    ) -> Floats:
        """The action in [-1, 1] for the next step of the episode; only planning needs x, y."""
        if self._time >= self._agent.shape.horizon:
            raise HessError(
                f"the episode is over after {self._agent.shape.horizon} steps; call reset() first"
            )
        self._episode.observations[self._time] = observation
        if goal is not None:
            self._episode.goals[self._time] = goal
        self._episode.positions[self._time] = np.nan if position is None else position
        action = self._rollout.act(self._time)
        self._time += 1
        return action

    @property
    def subgoal(self) -> Floats:
        """The subgoal that is being pursued, in φ-space. [d]."""
        segment = max(self._time - 1, 0) // self.config.subgoal_interval
        return self._episode.subgoals[segment]

    def embed(self, observations: Floats) -> Floats:
        """φ of observations. [n, obs] -> [n, d]."""
        return self._agent.embed(np.asarray(observations, np.float32))

    def evaluate(self, episodes: int = 10, seed: int = 0) -> Evaluation:
        """Deterministic episodes of the run's task."""
        evaluator = Collector([Task(self.config.task)], self._agent.shape, seed)
        try:
            collected = evaluator.evaluate(self._policy, self.step, episodes)
        finally:
            evaluator.close()
        played = [each.episode for each in collected]
        return Evaluation(
            success_rate=float(np.mean([each.successes.any() for each in played])),
            mean_return=float(np.mean([each.rewards.sum() for each in played])),
            episodes=played,
        )


def load(
    path: str | Path, warn: Callable[[str], None] = print, *, task: str | None = None
) -> LoadedAgent:
    """The agent of a run, as of its newest usable checkpoint.

    A run on `module:Env-v0` names a module that would be imported, and whoever wrote the run
    folder chose it; give the same name as `task` to agree.
    """
    runtime.configure()
    manifest = newest_manifest(Path(path))
    if manifest is None:
        RunFolder(Path(path)).read_config()  # says so if this is no run folder at all
        raise HessError(f"the run {str(path)!r} has no usable checkpoint yet")
    config = manifest.config
    refuse_foreign_code(config.task, task)
    agent = _small_agent(config, manifest.state.size)
    expected = Expected(
        prefixed(agent.state(), AGENT),
        empty_episode(agent.shape),
        slots=1,
        rounds=min(config.num_envs, _MOST_ENVS),
    )
    checkpoint = CheckpointFolder(Path(path)).load(expected, warn, episodes=False)
    if checkpoint is None:
        raise HessError(f"the checkpoints of {str(path)!r} were removed just now; try again")
    agent.restore(select(checkpoint.state, AGENT))
    return LoadedAgent(config, agent, checkpoint.manifest.step)


def _small_agent(config: Config, size: int) -> Agent:
    """An agent for a state of `size` bytes.

    Nothing is stored or learned any more: a ring of one episode saves the memory of a million.
    """
    task = Task(config.task)
    try:
        validate(config, task.horizon)
        refuse_giants(config, task.observation_dim + task.goal_dim, size)
        shape = task.shape(config)
    finally:
        task.close()
    small: Config = override(config, {"capacity": shape.horizon})
    return find_method(config.method).build(small, shape)


def evaluate(
    path: str | Path, episodes: int = 10, seed: int = 0, *, task: str | None = None
) -> Evaluation:
    """Evaluate the agent of a run; `task` as in `load`."""
    return load(path, task=task).evaluate(episodes, seed)
