"""Two environments that the package does not know: one with a goal dict, one with plain arrays."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

Floats = NDArray[np.float32]

HORIZON = 20
FIELD = "HessTests/Field-v0"
SLOPE = "HessTests/Slope-v0"
FRAGILE = "HessTests/Fragile-v0"
LOUD = "HessTests/Loud-v0"


class Field(gymnasium.Env[dict[str, Floats], Floats]):
    """A point on a square that is rewarded at a goal; it runs on until its horizon."""

    def __init__(self) -> None:
        box = spaces.Box(-10.0, 10.0, (2,), np.float32)
        parts: dict[str, spaces.Space[Any]] = {
            "observation": spaces.Box(-10.0, 10.0, (4,), np.float32),
            "achieved_goal": box,
            "desired_goal": box,
        }
        self.observation_space = spaces.Dict(parts)  # type: ignore[assignment]
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self._position = np.zeros(2, np.float32)
        self._speed = np.zeros(2, np.float32)
        self._goal = np.array([1.5, 0.5], np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Floats], dict[str, Any]]:
        super().reset(seed=seed)
        self._position = self.np_random.uniform(-0.1, 0.1, 2).astype(np.float32)
        self._speed = np.zeros(2, np.float32)
        return self._observe(), {}

    def step(self, action: Floats) -> tuple[dict[str, Floats], float, bool, bool, dict[str, Any]]:
        self._speed = np.asarray(action, np.float32)
        self._position = np.clip(self._position + 0.25 * self._speed, -4.0, 4.0)
        reached = bool(np.linalg.norm(self._position - self._goal) < 1.0)
        return self._observe(), float(reached), False, False, {"is_success": reached}

    def _observe(self) -> dict[str, Floats]:
        return {
            "observation": np.concatenate([self._position, self._speed]),
            "achieved_goal": self._position.copy(),
            "desired_goal": self._goal.copy(),
        }


class Slope(gymnasium.Env[Floats, Floats]):
    """A ball that ends its episode where it leaves the slope; actions lie in [0, 2]."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-10.0, 10.0, (3,), np.float32)
        self.action_space = spaces.Box(0.0, 2.0, (1,), np.float32)
        self._state = np.zeros(3, np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        super().reset(seed=seed)
        self._state = self.np_random.uniform(-0.2, 0.2, 3).astype(np.float32)
        return self._state.copy(), {}

    def step(self, action: Floats) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        push = float(np.ravel(action)[0]) - 1.0
        x, speed, _ = self._state
        speed = np.float32(np.clip(0.9 * speed + 0.2 * push, -1.0, 1.0))
        x = np.float32(x + 0.3 * speed)
        self._state = np.array([x, speed, push], np.float32)
        left, reached = bool(abs(x) > 0.8), bool(x > 0.8)
        return self._state.copy(), float(reached), left, False, {"is_success": reached}


class Fragile(Field):
    """Like the field, but it breaks in the middle of its third episode."""

    def __init__(self) -> None:
        super().__init__()
        self._resets = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Floats], dict[str, Any]]:
        self._resets += 1
        return super().reset(seed=seed, options=options)

    def step(self, action: Floats) -> tuple[dict[str, Floats], float, bool, bool, dict[str, Any]]:
        if self._resets == 3:
            raise RuntimeError("the motor is broken")
        return super().step(action)


class Loud(Fragile):
    """Like the field, but from its third episode on the square of a reward is infinite."""

    def step(self, action: Floats) -> tuple[dict[str, Floats], float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = Field.step(self, action)
        loud = 1e30 if self._resets >= 3 else reward
        return observation, loud, terminated, truncated, info


for _name in (FIELD, SLOPE, FRAGILE, LOUD):
    if _name not in gymnasium.registry:
        _class = _name.removeprefix("HessTests/").removesuffix("-v0")
        gymnasium.register(_name, entry_point=f"{__name__}:{_class}", max_episode_steps=HORIZON)
