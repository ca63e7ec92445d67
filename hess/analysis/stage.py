"""The task on film: two cameras, the robot's trail, and the subgoal as a mark in the scene."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hess.arrays import Picture
from hess.envs.adapter import State
from hess.envs.cheetah import Cheetah
from hess.envs.models import maze_model
from hess.envs.physics import mujoco
from hess.envs.point import PointMaze
from hess.envs.rendering import picture_of
from hess.envs.scene import open_renderer
from hess.envs.task import GoalTask

Point = tuple[float, float]

SIZE = 480  # pixels of a camera's square picture
SUBGOAL_COLOUR = (0.90, 0.62, 0.0, 0.9)
_TRAIL_COLOUR = (0.0, 0.45, 0.70, 0.55)
_FIELD_OF_VIEW = math.radians(45.0)  # MuJoCo's free camera, vertical
_TRACKING_DISTANCE = 7.0  # metres; close enough to see legs, far enough to see walls


class Stage:
    """Draws the present moment of a task: of a user's environment, what it draws itself."""

    def __init__(self, env: Any, name: str):
        self._env, self._name = env, name

    def draw(self, state: State, trail: Sequence[Point], subgoal: Point | None) -> list[Picture]:
        """One picture per camera; a scene that is not ours cannot be marked from outside."""
        return [picture_of(self._env, self._name)]

    def close(self) -> None:
        """Free the renderer; a user's environment belongs to the caller."""


def open_stage(env: Any, name: str) -> Stage:
    """A stage for one of our tasks, or for a user's environment."""
    task = env.unwrapped
    return MujocoStage(task) if isinstance(task, GoalTask) else Stage(env, name)


class MujocoStage(Stage):
    """Our tasks. It poses a copy of the model: looking at an episode does not change it."""

    def __init__(self, task: Any):
        self._task = task
        self._flat = isinstance(task, Cheetah)  # its plane stands upright: x and z
        self._point = isinstance(task, PointMaze)
        self._model = maze_model(task.layout, "point") if self._point else copy.copy(task.model)
        # The tasks' own pictures are large and finely shadowed; software rendering pays for both.
        self._model.vis.global_.offwidth = self._model.vis.global_.offheight = SIZE
        self._model.vis.quality.shadowsize = 2048
        self._data = mujoco.MjData(self._model)
        self._renderer = open_renderer(self._model, SIZE, SIZE)
        self._overview_camera, self._tracking_camera = self._overview(), self._tracking()

    def draw(self, state: State, trail: Sequence[Point], subgoal: Point | None) -> list[Picture]:
        """The whole task, and the robot from nearby."""
        self._pose(state)
        self._tracking_camera.lookat[0] = self._data.qpos[0]
        if not self._flat:
            self._tracking_camera.lookat[1] = self._data.qpos[1]
        return [
            self._shoot(self._overview_camera, trail, subgoal, shadows=False),
            self._shoot(self._tracking_camera, trail, subgoal, shadows=True),
        ]

    def close(self) -> None:
        """Free the GL context."""
        self._renderer.close()

    def _pose(self, state: State) -> None:
        if self._point:
            cosine, sine = state.observation[2:4]
            self._data.qpos[:] = *state.position, math.atan2(sine, cosine)
        else:
            self._data.qpos[:] = self._task.data.qpos
        self._data.mocap_pos[0] = self._place(tuple(state.goal), 0.0)
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)

    def _place(self, point: Point, height: float) -> tuple[float, float, float]:
        """A point of the goals' plane in the world."""
        first, second = point
        return (first, 0.0, second + height) if self._flat else (first, second, height)

    def _shoot(
        self, camera: Any, trail: Sequence[Point], subgoal: Point | None, *, shadows: bool
    ) -> Picture:
        self._renderer.update_scene(self._data, camera)
        self._renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = shadows
        cylinder, sphere = mujoco.mjtGeom.mjGEOM_CYLINDER, mujoco.mjtGeom.mjGEOM_SPHERE
        for point in trail:
            self._mark(sphere, (0.07, 0.0, 0.0), point, 0.07, _TRAIL_COLOUR)
        if subgoal is not None:
            self._mark(cylinder, (0.6, 0.02, 0.0), subgoal, 0.03, (*SUBGOAL_COLOUR[:3], 0.5))
            self._mark(cylinder, (0.05, 0.45, 0.0), subgoal, 0.45, SUBGOAL_COLOUR)
            self._mark(sphere, (0.27, 0.0, 0.0), subgoal, 0.95, SUBGOAL_COLOUR)
        return self._renderer.render()

    def _mark(
        self,
        shape: int,
        size: tuple[float, float, float],
        point: Point,
        height: float,
        colour: tuple[float, float, float, float],
    ) -> None:
        """Add a decoration to the scene; it exists in no model and touches nothing."""
        scene = self._renderer.scene
        if scene.ngeom >= scene.maxgeom:
            return
        mujoco.mjv_initGeom(
            scene.geoms[scene.ngeom],
            shape,
            np.array(size),
            np.array(self._place(point, height)),
            np.eye(3).ravel(),
            np.array(colour, np.float32),
        )
        scene.ngeom += 1

    def _overview(self) -> Any:
        """Straight down on the whole map; for the cheetah, from the side on the whole course."""
        left, low, right, high = self._task.floor_plan.bounds
        camera = mujoco.MjvCamera()
        camera.azimuth = 90.0
        if self._flat:
            camera.lookat[:] = (left + right) / 2, 0.0, (low + high) / 2
            camera.elevation, size = -18.0, right - left
        else:
            camera.lookat[:] = (left + right) / 2, (low + high) / 2, 0.0
            camera.elevation, size = -90.0, max(right - left, high - low) + 1.5
        camera.distance = size / 2 / math.tan(_FIELD_OF_VIEW / 2) * 1.02
        return camera

    def _tracking(self) -> Any:
        camera = mujoco.MjvCamera()
        camera.lookat[2] = 0.5
        camera.azimuth, camera.elevation = (90.0, -12.0) if self._flat else (100.0, -50.0)
        camera.distance = 4.0 if self._flat else _TRACKING_DISTANCE
        return camera
