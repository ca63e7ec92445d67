"""Any Gymnasium environment as the trainer sees it: plain arrays in, plain arrays out."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from hess import envs
from hess.config import Config
from hess.errors import HessError
from hess.replay import EpisodeShape

Floats = NDArray[np.floating[Any]]

_LARGEST = 1e76  # squared length of what a float32 can still hold


class State(NamedTuple):
    """What an agent may see of a state, and the position: for analysis and x-y priors only."""

    observation: Floats
    goal: Floats
    position: Floats


class Outcome(NamedTuple):
    """What a step led to."""

    state: State
    reward: float
    success: bool
    healthy: bool
    terminated: bool
    truncated: bool


class Task:
    """One open environment. A misbehaving one is named in the error, with the step."""

    def __init__(self, name: str):
        self.name = name
        self.env: gymnasium.Env[Any, Any] = envs.make(name)
        space = self.env.observation_space
        self._has_goal = isinstance(space, spaces.Dict)
        observed = space["observation"] if isinstance(space, spaces.Dict) else space
        goal_space = space["desired_goal"] if isinstance(space, spaces.Dict) else None
        action_space = self.env.action_space
        if not isinstance(observed, spaces.Box) or not isinstance(action_space, spaces.Box):
            raise HessError(
                f"HESS cannot train on {name!r}: observations and actions must be Box spaces; "
                f"`hess check-env {name}` says what is missing"
            )
        self.observation_dim = math.prod(observed.shape)
        self.goal_dim = math.prod(goal_space.shape or ()) if goal_space is not None else 0
        self.action_dim = math.prod(action_space.shape)
        self._middle = (action_space.high + action_space.low) / 2.0
        self._half_range = (action_space.high - action_space.low) / 2.0
        self.horizon = self._horizon()

    def _horizon(self) -> int:
        spec = self.env.spec
        if spec is None or spec.max_episode_steps is None:
            raise HessError(
                f"HESS cannot train on {self.name!r}: its horizon is unknown; "
                "register it with max_episode_steps"
            )
        return int(spec.max_episode_steps)

    def shape(self, config: Config) -> EpisodeShape:
        """The sizes of an episode of this task under a config."""
        return EpisodeShape(
            horizon=self.horizon,
            observation_dim=self.observation_dim,
            goal_dim=self.goal_dim,
            action_dim=self.action_dim,
            subgoal_dim=config.representation.dim,
            segments=self.horizon // config.subgoal_interval,
        )

    def reset(self, seed: int) -> State:
        """Start an episode that depends on the seed alone."""
        try:
            raw, info = self.env.reset(seed=seed)
            return self._state(raw, info, 0)
        except HessError:
            raise
        except Exception as error:
            raise self._fault("reset raised", 0, error) from error

    def step(self, action: Floats, number: int) -> Outcome:
        """Take an action from [-1, 1]; `number` is the step of the episode, for messages."""
        try:
            raw, reward, terminated, truncated, info = self.env.step(
                self._middle + self._half_range * action
            )
            state = self._state(raw, info, number)
            value = float(reward)
            success = bool(info.get("is_success", False))
            healthy = bool(info.get("is_healthy", True))
        except HessError:
            raise
        except Exception as error:
            raise self._fault("step raised", number, error) from error
        if not math.isfinite(value):
            raise self._fault(f"gave the reward {value}", number)
        return Outcome(state, value, success, healthy, bool(terminated), bool(truncated))

    def close(self) -> None:
        """Free the simulator."""
        self.env.close()

    def _state(self, raw: Any, info: dict[str, Any], number: int) -> State:
        if self._has_goal:
            observation, goal = np.ravel(raw["observation"]), np.ravel(raw["desired_goal"])
            position = info.get("xy", raw["achieved_goal"])
        else:
            observation, goal = np.ravel(raw), np.zeros(0)
            position = info.get("xy", observation)
        if observation.shape != (self.observation_dim,) or goal.shape != (self.goal_dim,):
            raise self._fault(
                f"gave an observation of {observation.size} numbers and a goal of {goal.size} "
                f"instead of {self.observation_dim} and {self.goal_dim}",
                number,
            )
        place = _first_two(position)
        checked = (("an observation", observation), ("a goal", goal), ("a position", place))
        for name, values in checked:
            if not float(np.dot(values, values)) < _LARGEST:  # also false for NaN
                raise self._fault(f"gave {name} that is not finite", number)
        return State(observation, goal, place)

    def _fault(self, what: str, number: int, error: Exception | None = None) -> HessError:
        reason = f" {type(error).__name__}: {error}" if error is not None else ""
        return HessError(
            f"the environment {self.name!r} {what}{reason} at step {number} of an episode"
        )


def _first_two(position: Any) -> Floats:
    """A position in the plane: the first two numbers, or one number and 0."""
    flat = np.ravel(position)[:2]
    return flat if flat.size == 2 else np.append(flat, np.zeros(2 - flat.size))
