"""The Python interface: train a run, load its agent, evaluate it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hess import runtime
from hess.agents.agent import BaseAgent
from hess.agents.methods import import_method
from hess.agents.playing import Playing, State, check_state, split_batch, started
from hess.arrays import Floats
from hess.config import Config, override
from hess.config.budgets import budget
from hess.config.presets import preset as find_preset
from hess.envs.adapter import Task, position_of
from hess.envs.arguments import collected as with_arguments
from hess.envs.arguments import merged
from hess.envs.spaces import ActionScale, Observer
from hess.errors import HessError, require_at_least
from hess.learning.trees import prefixed, select
from hess.replay.episode import Episode, empty_episode
from hess.runs.checkpoint import AGENT, CheckpointFolder, Expected
from hess.runs.folder import RunFolder, run_path
from hess.runs.manifest import (
    checkpoint_folders,
    newest_manifest,
    read_manifest,
    refuse_other_config,
)
from hess.runs.untrusted import refuse_foreign_code, refuse_giants
from hess.training.collector import Collector, means
from hess.training.display import display
from hess.training.probe import probe
from hess.training.trainer import Result, Trainer
from hess.training.validation import validate

_MOST_ENVS = 4096  # that a stranger's checkpoint can have pending episodes of


class TrainedRun(NamedTuple):
    """A run that has ended, or was stopped."""

    path: Path
    result: Result


class Evaluation(NamedTuple):
    """Deterministic episodes."""

    success_rate: float
    """At any step of an episode."""
    mean_return: float
    episodes: list[Episode]
    success_at_end: float
    """At its last step."""


def make_config(task: str, method: str = "hess", preset: str = "default", **fields: Any) -> Config:
    """A config: the preset, then the method's row, then fields such as `low__hindsight=0.5`."""
    values = with_arguments({name.replace("__", "."): value for name, value in fields.items()})
    return override(import_method(method).apply(find_preset(preset)), {"task": task, **values})


def train(
    task: str,
    method: str = "hess",
    *,
    preset: str = "default",
    runs: str | Path = "runs",
    name: str | None = None,
    **fields: Any,
) -> TrainedRun:
    """Train, or resume, a run in `runs`/task/method/name.

    The name is the environment's arguments and the seed by default. Arguments of the environment
    are a dictionary: `env={"random_goal": True}`. Without `steps` a new run has the budget of its
    task, another one goes on to the steps that it was made for.
    """
    config = make_config(task, method, preset, **fields)
    if "steps" not in fields:
        config = with_usual_steps(config, Path(runs), name)
    return train_config(config, Path(runs), name)


def with_usual_steps(config: Config, runs: Path, name: str | None) -> Config:
    """The config of who names no steps: as many as the run was made for, or its task's budget."""
    manifest = newest_manifest(run_path(config, runs, name))
    steps = budget(config.task) if manifest is None else manifest.config.steps
    return config if steps is None else override(config, {"steps": steps})


def train_config(config: Config, runs: Path, name: str | None = None) -> TrainedRun:
    """Train, or resume, the run of a complete config."""
    runtime.configure()
    notes = probe(config)
    folder = RunFolder(run_path(config, runs, name))
    folder.lock()
    try:
        refuse_other_config(config, folder)
        with display(config) as shown:
            for note in notes:
                shown.message(note)
            result = Trainer(config, folder, shown).run()
        return TrainedRun(folder.path, result)
    finally:
        folder.unlock()


class LoadedAgent:
    """A trained agent: acts, embeds and evaluates; it does not learn."""

    def __init__(
        self, config: Config, agent: BaseAgent, step: int, observer: Observer, scale: ActionScale
    ):
        self.config, self.step = config, step
        self._agent, self._observer, self._scale = agent, observer, scale
        self._policy = agent.evaluation_policy()
        self._rng = np.random.default_rng(config.seed)  # for predict(deterministic=False)
        self._playing = self._start()

    def _start(self, deterministic: bool = True) -> Playing:
        return Playing(self._policy, self._agent.shape, None if deterministic else self._rng)

    def reset(self) -> None:
        """Begin an episode: the next `act` sets a new subgoal."""
        self._playing = self._start()

    def act(
        self, observation: Floats, goal: Floats | None = None, position: Floats | None = None
    ) -> Floats:
        """The action in [-1, 1] for the next step of the episode; only planning needs x, y."""
        return self._playing.act(observation, goal, position)

    def predict(
        self,
        observation: Any,
        state: State | None = None,
        episode_start: Any = None,
        deterministic: bool = True,
    ) -> tuple[NDArray[Any], State]:
        """Actions in the environment's own bounds and shape, as in Stable-Baselines3.

        `observation` is what one environment or a vectorised one gives. An agent with subgoals
        remembers: hand the returned state to the next call, and say by `episode_start` which
        environments were reset; without a state, every call begins an episode.
        """
        batch = self._observer.is_batch(observation)
        seen = split_batch(observation) if batch else [observation]
        playing, new = check_state(state, len(seen)), started(episode_start, len(seen))
        following = tuple(
            self._start(deterministic) if each is None or begins else each
            for each, begins in zip(playing, new, strict=True)
        )
        actions = [self._predict(*each) for each in zip(following, seen, strict=True)]
        return np.stack(actions) if batch else actions[0], following

    def _predict(self, playing: Playing, raw: Any) -> NDArray[Any]:
        observed = self._observer(raw)
        action = playing.act(observed.observation, observed.goal, position_of(observed, {}))
        return self._scale(action)

    @property
    def subgoal(self) -> Floats:
        """The subgoal that is being pursued, in φ-space. [d]."""
        segment = max(self._playing.time - 1, 0) // self.config.subgoal_interval
        return self._playing.episode.subgoals[segment]

    def embed(self, observations: Floats) -> Floats:
        """φ of observations. [n, obs] -> [n, d]."""
        return self._agent.embed(np.asarray(observations, np.float32))

    def evaluated_config(
        self, seed: int = 0, env: Mapping[str, Any] | None = None, success: str | None = None
    ) -> Config:
        """The run's config, with what is to be different in an evaluation."""
        return override(
            self.config,
            {
                "env": merged(self.config.env, env),
                "success": success or self.config.success,
                "observe": self._observer.keys,
                "seed": seed,
            },
        )

    def evaluate(
        self,
        episodes: int = 10,
        seed: int = 0,
        *,
        env: Mapping[str, Any] | None = None,
        success: str | None = None,
    ) -> Evaluation:
        """Deterministic episodes of the run's task, also with other arguments than in training."""
        require_at_least("episodes", episodes, 1)
        require_at_least("seed", seed, 0)
        with closing(Collector(self.evaluated_config(seed, env, success), 1)) as evaluator:
            if evaluator.shape != self._agent.shape:
                sizes = f"{evaluator.shape} instead of {self._agent.shape}"
                raise HessError(f"with these arguments episodes have another shape: {sizes}")
            collected = evaluator.evaluate(self._policy, self.step, episodes)
        played = [each.episode for each in collected]
        return Evaluation(episodes=played, **means(played))


def load(
    path: str | Path,
    warn: Callable[[str], None] = print,
    *,
    task: str | None = None,
    method: str | None = None,
) -> LoadedAgent:
    """The agent of a run, as of its newest usable checkpoint.

    A run on `module:Env-v0`, or with the method `module:name`, names a module that would be
    imported, and whoever wrote the run folder chose it; give the same name as `task` or `method`
    to agree.
    """
    runtime.configure()
    manifest = newest_manifest(Path(path))
    if manifest is None:
        RunFolder(Path(path)).read_config()  # says so if this is no run folder at all
        for folder in checkpoint_folders(Path(path)):
            try:
                read_manifest(folder)
            except HessError as error:
                raise HessError(
                    f"the run {str(path)!r} has no usable checkpoint: {error}"
                ) from error
        raise HessError(f"the run {str(path)!r} has no checkpoint yet")
    config = manifest.config
    refuse_foreign_code("task", config.task, task)
    refuse_foreign_code("method", config.method, method)
    with closing(Task(config)) as open_task:
        validate(config, open_task.horizon)
        observer, scale, shape = open_task.observer, open_task.actions, open_task.shape(config)
    # Nothing is stored or learned any more: a ring of one episode saves a lot of memory.
    small = override(config, {"capacity": shape.horizon})
    build = partial(import_method(config.method).build, small, shape)
    refuse_giants(config, build, manifest.state.size)
    agent = build()
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
    return LoadedAgent(config, agent, checkpoint.manifest.step, observer, scale)


def evaluate(
    path: str | Path,
    episodes: int = 10,
    seed: int = 0,
    *,
    task: str | None = None,
    method: str | None = None,
    env: Mapping[str, Any] | None = None,
    success: str | None = None,
) -> Evaluation:
    """Evaluate the agent of a run; `task` and `method` as in `load`, the rest as its `evaluate`."""
    agent = load(path, task=task, method=method)
    return agent.evaluate(episodes, seed, env=env, success=success)
