"""A task that costs nothing, for runs that are killed a hundred times, and ways to misbehave.

Programs under test find it as `tiny_tasks:HessFaults/Tiny-v0`, with this folder on the path.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Observation = dict[str, Any]

HORIZON = 12
TINY = "HessFaults/Tiny-v0"
FAULTY = "HessFaults/Faulty-v0"
ENDLESS = "HessFaults/Endless-v0"


class Tiny(gymnasium.Env[Observation, Floats]):
    """A point on a square that should go to a corner."""

    def __init__(self) -> None:
        box = spaces.Box(-10.0, 10.0, (2,), np.float32)
        self.observation_space = spaces.Dict(
            {"observation": box, "achieved_goal": box, "desired_goal": box}
        )
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self._position = np.zeros(2, np.float32)
        self._goal = np.ones(2, np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self._position = self.np_random.uniform(-1, 1, 2).astype(np.float32)
        return self._observe(), {}

    def step(self, action: Floats) -> Any:
        self._position = np.clip(self._position + 0.3 * action, -3.0, 3.0).astype(np.float32)
        distance = float(np.linalg.norm(self._position - self._goal))
        return self._observe(), -distance, False, False, {"is_success": distance < 0.7}

    def _observe(self) -> Observation:
        return {
            "observation": self._position.copy(),
            "achieved_goal": self._position.copy(),
            "desired_goal": self._goal.copy(),
        }


class Faulty(Tiny):
    """Well-behaved until `fault` names a way to misbehave; then from step `due` of its life on."""

    fault = ""
    due = 0

    def __init__(self) -> None:
        super().__init__()
        self._lived = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        observation, info = super().reset(seed=seed)
        if self._now("exception in reset"):
            raise RuntimeError("the simulator is gone")
        if self._now("no goal in reset"):
            del observation["desired_goal"]
        return observation, info

    def step(self, action: Floats) -> Any:
        self._lived += 1
        observation, reward, terminated, truncated, info = super().step(action)
        if self._now("exception in step"):
            raise RuntimeError("the simulator is gone")
        if self._now("short reply"):
            return observation, reward
        for fault, values in _OBSERVATIONS.items():
            if self._now(fault):
                observation["observation"] = values
        if self._now("no observation"):
            del observation["observation"]
        if self._now("nan goal"):
            observation["desired_goal"] = np.full(2, np.nan)
        if self._now("nan position"):
            info["xy"] = np.array([0.0, np.nan])
        reward = float("nan") if self._now("nan reward") else reward
        reward = None if self._now("no reward") else reward
        return observation, reward, terminated, truncated, None if self._now("no info") else info

    def _now(self, fault: str) -> bool:
        return self.fault == fault and self._lived >= self.due


_OBSERVATIONS: dict[str, Any] = {
    "nan observation": np.array([np.nan, 0.0]),
    "infinite observation": np.array([np.inf, 0.0]),
    "overflowing observation": np.array([1e300, 0.0]),
    "changed observation size": np.zeros(5),
    "observation of words": ["here", "there"],
}
FAULTS = (
    *_OBSERVATIONS,
    "exception in reset",
    "no goal in reset",
    "exception in step",
    "short reply",
    "no observation",
    "nan goal",
    "nan position",
    "nan reward",
    "no reward",
    "no info",
)


class Unending(gymnasium.Wrapper[Observation, Floats, Observation, Floats]):
    """Hides the end of every episode."""

    def step(self, action: Floats) -> Any:
        observation, reward, _, _, info = self.env.step(action)
        return observation, reward, False, False, info


def register() -> None:
    """Make the tasks known to Gymnasium; this happens at import."""
    hide_ends = gymnasium.envs.registration.WrapperSpec("Unending", f"{__name__}:Unending", {})
    for name, entry_point, wrappers in (
        (TINY, "Tiny", ()),
        (FAULTY, "Faulty", ()),
        (ENDLESS, "Tiny", (hide_ends,)),
    ):
        gymnasium.register(
            name,
            entry_point=f"{__name__}:{entry_point}",
            max_episode_steps=HORIZON,
            disable_env_checker=True,
            order_enforce=False,
            additional_wrappers=wrappers,
        )


if TINY not in gymnasium.registry:
    register()
