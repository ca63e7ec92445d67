"""Environments as others write them: odd shapes, odd bounds, odd ends, odd words for success."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

RICH = "HessTests/Rich-v0"
FALLING = "HessTests/Falling-v0"
ENDLESS = "HessTests/Unlimited-v0"
SILENT = "HessTests/Silent-v0"

RICH_HORIZON = 23  # a prime number: nothing divides it
FALL = 13  # step at which an episode of Falling ends


class Rich(gymnasium.Env[Any, Any]):
    """A goal env with two more keys, pictures of whole numbers, and wide bounds of actions.

    Its `observation` lacks where it is. It says `success`.
    """

    def __init__(self, reach: float = 2.0, goal: tuple[float, float] = (3.0, 1.0)) -> None:
        parts: dict[str, spaces.Space[Any]] = {
            "observation": spaces.Box(-10, 10, (2,), np.float32),
            "achieved_goal": spaces.Box(-50, 50, (2,), np.float64),
            "desired_goal": spaces.Box(-50, 50, (2,), np.float64),
            "camera": spaces.Box(0, 255, (2, 2), np.uint8),
            "battery": spaces.Box(0, 1, (1,), np.float16),
        }
        self.observation_space = spaces.Dict(parts)
        bounds = np.array([0.0, -500.0]), np.array([2.0, 100.0])
        self.action_space = spaces.Box(*bounds, dtype=np.float64)
        self._reach, self._goal = float(reach), np.array(goal)
        self._place, self._speed = np.zeros(2), np.zeros(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._place, self._speed = self.np_random.uniform(-0.5, 0.5, 2), np.zeros(2)
        return self._observe(), {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action), action
        self._speed = (np.asarray(action) - [1.0, -200.0]) / [1.0, 300.0]
        self._place = np.clip(self._place + 0.4 * self._speed, -50, 50)
        near = bool(np.linalg.norm(self._place - self._goal) < self._reach)
        return self._observe(), float(near), False, False, {"success": np.float64(near)}

    def _observe(self) -> dict[str, Any]:
        shade = np.clip(np.abs(self._place) * 20, 0, 255).astype(np.uint8)
        return {
            "observation": self._speed.astype(np.float32),
            "achieved_goal": self._place.copy(),
            "desired_goal": self._goal.copy(),
            "camera": np.stack([shade, shade]),
            "battery": np.array([0.5], np.float16),
        }


class Falling(gymnasium.Env[Any, Any]):
    """Falls in the middle of a segment, always at the same step; counts in whole numbers."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-1000, 1000, (3,), np.int32)
        self.action_space = spaces.Box(-1, 1, (1, 2), np.float32)
        self._state = np.zeros(3, np.int32)
        self._time = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._state, self._time = self.np_random.integers(-9, 9, 3, np.int32), 0
        return self._state.copy(), {}

    def step(self, action: Any) -> Any:
        assert action.shape == (1, 2)
        self._time += 1
        self._state[:2] += np.rint(5 * np.ravel(action)).astype(np.int32)
        solved = bool(self._state[0] > 10)
        info = {"goal_achieved": solved}
        return self._state.copy(), float(solved), self._time == FALL, False, info


class Silent(Falling):
    """Says nothing about success."""

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, _ = super().step(action)
        return observation, reward, terminated, truncated, {"speed": 1.0}


_TABLE: tuple[tuple[str, Any, int | None], ...] = (
    (RICH, Rich, RICH_HORIZON),
    (FALLING, Falling, 20),
    (ENDLESS, Rich, None),
    (SILENT, Silent, 20),
)
for _name, _entry, _horizon in _TABLE:
    if _name not in gymnasium.registry:
        gymnasium.register(
            _name, entry_point=_entry, max_episode_steps=_horizon, disable_env_checker=True
        )
