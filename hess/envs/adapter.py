"""Any Gymnasium environment as the trainer sees it: plain arrays in, plain arrays out."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from hess.arrays import Floats
from hess.config import Config
from hess.envs.arguments import make_keywords
from hess.envs.making import FAILURES, close, make, raised
from hess.envs.spaces import (
    ActionScale,
    Observed,
    Observer,
    is_goal_space,
    observed_keys,
    real_numbers,
)
from hess.envs.success import SuccessSignal
from hess.errors import HessError
from hess.replay.episode import EpisodeShape, segment_counts

_LARGEST = 1e76  # squared length of what a float32 can still hold


class State(NamedTuple):
    """What an agent may see of a state, and the position: for analysis and x-y priors only."""

    observation: Floats
    goal: Floats
    position: Floats


class StepOutcome(NamedTuple):
    """What a step led to."""

    state: State
    reward: float
    success: bool
    healthy: bool
    terminated: bool
    truncated: bool


class Task:
    """One open environment. A misbehaving one is named in the error, with the step."""

    def __init__(self, config: Config, like: Task | None = None, render_mode: str | None = None):
        """The task of a config; `like` an open one, whose observations need not be probed again."""
        self.name = config.task
        self.success = SuccessSignal(config.success)
        self._keywords = make_keywords(config.env, config.horizon)
        drawn = {} if render_mode is None else {"render_mode": render_mode}
        self.env: gymnasium.Env[Any, Any] = make(self.name, **self._keywords, **drawn)
        try:
            keys = config.observe or (self._keys() if like is None else like.observer.keys)
            self.observer: Observer = Observer(self.env.observation_space, keys)
            self.actions = ActionScale(self.env.action_space, config.action_share)
            self.horizon = self._horizon()
        except FAILURES as error:
            self.close()
            why = str(error) if isinstance(error, HessError) else f"it raised {raised(error)}"
            raise HessError(f"HESS cannot train on {self.name!r}: {why}") from error
        self.observation_dim, self.goal_dim = self.observer.observation_dim, self.observer.goal_dim
        self.action_dim = self.actions.dim

    def _keys(self) -> tuple[str, ...]:
        """Of a goal env, found out by playing another copy: this one is still to be reset."""
        if not is_goal_space(self.env.observation_space):
            return ()
        if hasattr(self.env.unwrapped, "observation_keys"):
            return observed_keys(self.env)
        copy = make(self.name, **self._keywords)
        try:
            return observed_keys(copy)
        except HessError:
            raise
        except FAILURES as error:
            raise HessError(f"a few random steps raised {raised(error)}") from error
        finally:
            close(copy, self.name)

    def _horizon(self) -> int:
        spec = self.env.spec
        if spec is None or spec.max_episode_steps is None:
            raise HessError(
                "its horizon is unknown; give --horizon STEPS (horizon= in Python), or register it "
                "with max_episode_steps"
            )
        return int(spec.max_episode_steps)

    def shape(self, config: Config) -> EpisodeShape:
        """The sizes of an episode of this task under a config."""
        return EpisodeShape(
            horizon=self.horizon,
            observation_dim=self.observation_dim,
            goal_dim=self.goal_dim,
            action_dim=self.action_dim,
            subgoal_dim=config.representation.dimensions(self.observation_dim),
            segments=segment_counts(self.horizon, config.subgoal_interval),
        )

    def reset(self, seed: int) -> State:
        """Start an episode that depends on the seed alone."""
        try:
            raw, info = self.env.reset(seed=seed)
            return self._state(raw, info, 0)
        except HessError:
            raise
        except FAILURES as error:
            raise self._fault("reset raised", 0, error) from error

    def step(self, action: Floats, number: int) -> StepOutcome:
        """Take an action from [-1, 1]; `number` is the step of the episode, for messages."""
        try:
            raw, reward, terminated, truncated, info = self.env.step(self.actions(action))
            state = self._state(raw, info, number)
            value = float(reward)
            success = self._success(value, bool(terminated), info, number)
            healthy = bool(info.get("is_healthy", True))
        except HessError:
            raise
        except FAILURES as error:
            raise self._fault("step raised", number, error) from error
        if not math.isfinite(value):
            raise self._fault(f"gave the reward {value}", number)
        return StepOutcome(state, value, success, healthy, bool(terminated), bool(truncated))

    def end_episode(self) -> None:
        """Refuse an environment that has said nothing about success in a whole episode."""
        missing = self.success.missing()
        if missing is not None:
            raise HessError(f"the environment {self.name!r} {missing}")

    def close(self) -> None:
        close(self.env, self.name)

    def _success(self, reward: float, terminated: bool, info: dict[str, Any], number: int) -> bool:
        try:
            return self.success(reward, terminated, info)
        except HessError as error:
            raise self._fault(f"gave a success that is none ({error})", number) from error

    def _state(self, raw: Any, info: dict[str, Any], number: int) -> State:
        observed = self.observer(raw)
        observation, goal = real_numbers(observed.observation), real_numbers(observed.goal)
        if observation.shape != (self.observation_dim,) or goal.shape != (self.goal_dim,):
            raise self._fault(
                f"gave an observation of {observation.size} numbers and a goal of {goal.size} "
                f"instead of {self.observation_dim} and {self.goal_dim}",
                number,
            )
        place = position_of(observed, info)
        checked = (("an observation", observation), ("a goal", goal), ("a position", place))
        for name, values in checked:
            if not float(np.dot(values, values)) < _LARGEST:  # also false for NaN
                raise self._fault(f"gave {name} that is not finite", number)
        return State(observation, goal, place)

    def _fault(self, what: str, number: int, error: BaseException | None = None) -> HessError:
        cause = f" {raised(error)}" if error is not None else ""
        return HessError(
            f"the environment {self.name!r} {what}{cause} at step {number} of an episode"
        )


def position_of(observed: Observed, info: dict[str, Any]) -> Floats:
    """A place in the plane for maps: the environment's own x, y, or the nearest thing to it."""
    seen = observed.observation if observed.achieved is None else observed.achieved
    flat = real_numbers(np.ravel(info.get("xy", seen))[:2])
    return flat if flat.size == 2 else np.append(flat, np.zeros(2 - flat.size))
