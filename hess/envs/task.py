"""What all tasks share: goals, rewards, resets, errors; the robots fill in the motion."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from hess.envs.floorplan import FloorPlan
from hess.envs.options import TaskOptions
from hess.errors import HessError, unknown

if TYPE_CHECKING:
    from hess.arrays import Picture
    from hess.envs.scene import Camera, Scene


Array = NDArray[np.float64]
Point = tuple[float, float]
Observation = dict[str, Array]
Info = dict[str, Any]

RESET_POSITION_NOISE = 0.1  # uniform, on the robot's own coordinates
RESET_VELOCITY_NOISE = 0.1  # standard deviation
DIVERGED = 1e6  # metres; no robot gets there while the physics is sound


class GoalTask(gymnasium.Env[Any, NDArray[Any]]):
    """A goal-reaching task in the Gymnasium goal-env convention."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}
    reset_options: ClassVar[tuple[str, ...]] = ("start", "goal")
    # x and y are in it, and where a view takes their place no agent may see them.
    observation_keys: ClassVar[tuple[str, ...]] = ("observation",)

    def __init__(
        self,
        *,
        floor_plan: FloorPlan,
        observation_size: int,
        action_size: int,
        options: TaskOptions,
    ) -> None:
        self.floor_plan = floor_plan
        self.options = options
        self.render_mode = options.render_mode
        sizes = {"observation": observation_size, "achieved_goal": 2, "desired_goal": 2}
        self.observation_space = spaces.Dict(
            {name: spaces.Box(-np.inf, np.inf, (n,), np.float64) for name, n in sizes.items()}
        )
        self.action_space = spaces.Box(-1.0, 1.0, (action_size,), np.float32)
        self._action_shape = (action_size,)
        self._radius = float(options.success_radius)
        self._sparse_offset = {"sparse": 0.0, "negative": -1.0}.get(options.reward)
        self._terminates = options.terminate_on_success
        self._ready = False
        self._set_goal(floor_plan.goal)

    # -- the robot's part ---------------------------------------------------------------------

    @abstractmethod
    def _place(self, start: Point, exact: bool) -> None:
        """Put the robot at the start, with the reset noise; `exact`: none on its x and y."""

    @abstractmethod
    def _observe(self) -> tuple[Array, float, float, Info]:
        """A new observation array, the achieved goal and the info dictionary."""

    @abstractmethod
    def _random_start(self) -> Point: ...

    @abstractmethod
    def _random_goal(self) -> Point: ...

    # -- Gymnasium ----------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Start an episode; `options` may hold a "start" and a "goal" of this episode."""
        super().reset(seed=seed)
        chosen = dict(options or {})
        for name in chosen:
            if name not in self.reset_options:
                raise unknown("reset option", name, self.reset_options)
        start, goal = self.floor_plan.start, self.floor_plan.goal
        if "start" in chosen:
            start = self._free_point("start", chosen["start"])
        elif self.options.random_start:
            start = self._random_start()
        if "goal" in chosen:
            goal = self._free_point("goal", chosen["goal"])
        elif self.options.random_goal:
            goal = self._random_goal()
        self._set_goal(goal)
        self._place(start, exact="start" in chosen)
        self._ready = True
        observation, _, _, _, info = self._outcome()
        return observation, info

    def _outcome(self) -> tuple[Observation, float, bool, bool, Info]:
        values, x, y, info = self._observe()
        dx, dy = x - self._goal_x, y - self._goal_y
        distance = math.sqrt(dx * dx + dy * dy)
        if not distance < DIVERGED:
            self._ready = False
            raise HessError(f"the simulation of {type(self).__name__} diverged; reset it to go on")
        success = distance <= self._radius
        info["is_success"] = info["success"] = success  # libraries look for either
        offset = self._sparse_offset
        reward = -distance if offset is None else success + offset
        observation = {
            "observation": values,
            "achieved_goal": np.array((x, y)),
            "desired_goal": self._goal.copy(),
        }
        return observation, reward, success and self._terminates, False, info

    def _reset_noise(self, positions: int, velocities: int, exact: bool) -> tuple[Array, Array]:
        """For so many of the robot's own positions, x and y first, and velocities."""
        position = self.np_random.uniform(-RESET_POSITION_NOISE, RESET_POSITION_NOISE, positions)
        velocity = RESET_VELOCITY_NOISE * self.np_random.standard_normal(velocities)
        if exact:
            position[:2] = 0.0
        return position, velocity

    # -- drawing ------------------------------------------------------------------------------

    camera: Camera
    """Where pictures are taken from; replace it before the first picture."""

    @abstractmethod
    def _new_scene(self) -> Scene:
        """Open a renderer."""

    def _pose(self, scene: Scene) -> None:
        """Put the robot into the picture, where the picture has a state of its own."""

    @cached_property
    def _scene(self) -> Scene:
        return self._new_scene()

    def _goal_mark(self) -> tuple[float, float, float]:
        return self._goal_x, self._goal_y, 0.0

    def render(self) -> Picture | None:
        """A picture of this moment, with `render_mode="rgb_array"`."""
        if self.render_mode is None:
            return None
        if not self._ready:
            raise HessError("render() was called before reset(); reset the environment first")
        self._pose(self._scene)
        return self._scene.draw(self._goal_mark())

    def close(self) -> None:
        if "_scene" in self.__dict__:
            self._scene.close()
            del self._scene

    # -- the goal-env convention, on one goal or a batch of them --------------------------------

    def _distance(self, achieved_goal: ArrayLike, desired_goal: ArrayLike) -> Array:
        difference = np.asarray(achieved_goal, np.float64) - np.asarray(desired_goal, np.float64)
        if difference.ndim == 0 or difference.shape[-1] != 2:
            raise HessError(f"goals must have 2 numbers each, not the shape {difference.shape}")
        dx, dy = difference[..., 0], difference[..., 1]
        return np.asarray(np.sqrt(dx * dx + dy * dy))

    def compute_reward(
        self, achieved_goal: ArrayLike, desired_goal: ArrayLike, info: Any = None
    ) -> float | Array:
        """The reward of being at a goal; goals [2] -> float, [..., 2] -> [...]."""
        distance = self._distance(achieved_goal, desired_goal)
        offset = self._sparse_offset
        reward = np.asarray(-distance if offset is None else (distance <= self._radius) + offset)
        return reward if distance.ndim else float(reward)

    def compute_terminated(
        self, achieved_goal: ArrayLike, desired_goal: ArrayLike, info: Any = None
    ) -> bool | NDArray[np.bool_]:
        """Whether being at a goal ends the episode; goals [2] -> bool, [..., 2] -> [...]."""
        distance = self._distance(achieved_goal, desired_goal)
        terminated = (distance <= self._radius) & self._terminates
        return terminated if distance.ndim else bool(terminated)

    def compute_truncated(
        self, achieved_goal: ArrayLike, desired_goal: ArrayLike, info: Any = None
    ) -> bool | NDArray[np.bool_]:
        """Never: only the horizon truncates, which Gymnasium's TimeLimit counts."""
        distance = self._distance(achieved_goal, desired_goal)
        return np.zeros(distance.shape, np.bool_) if distance.ndim else False

    # -- checks -------------------------------------------------------------------------------

    def _checked_action(self, action: NDArray[Any]) -> NDArray[Any]:
        """The action as a finite array of the right shape; costs half a microsecond."""
        if not self._ready:
            raise HessError("step() was called before reset(); reset the environment first")
        if type(action) is not np.ndarray or action.dtype.kind not in "fiu":
            action = self._as_array(action)
        if action.shape != self._action_shape:
            raise HessError(
                f"the action has the shape {action.shape}, this task takes {self._action_shape}"
            )
        # On a handful of numbers a Python sum is quicker than NumPy's isfinite.
        if not math.isfinite(sum(action.tolist())):
            raise HessError(f"the action {action.tolist()} is not finite")
        return action

    @staticmethod
    def _as_array(value: Any) -> Array:
        try:
            return np.asarray(value, np.float64)
        except (TypeError, ValueError):
            raise HessError(f"expected numbers, got {value!r}") from None

    def _free_point(self, name: str, value: Any) -> Point:
        point = self._as_array(value)
        if point.shape != (2,) or not np.isfinite(point).all():
            raise HessError(f"the {name} must be two finite numbers, not {value!r}")
        # A post may stand on the usual goal.
        usual_goal = name == "goal" and tuple(point) == self.floor_plan.goal
        if not usual_goal and not self.floor_plan.is_free(point):
            raise HessError(f"the {name} {point.tolist()} lies in a wall or outside the map")
        return float(point[0]), float(point[1])

    def _set_goal(self, goal: Point) -> None:
        self._goal = np.array(goal, np.float64)
        self._goal_x, self._goal_y = float(goal[0]), float(goal[1])
