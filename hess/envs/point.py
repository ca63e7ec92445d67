"""The point robot in a maze: plain floats, no physics engine."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hess.envs.floorplan import FloorPlan
from hess.envs.layouts import POINT_STRIDE, WALL, Layout, random_free_point
from hess.envs.options import MazeOptions
from hess.envs.scene import maze_camera
from hess.envs.task import Array, GoalTask, Info, Observation, Point
from hess.envs.topdown import SIZE, TopDownView

if TYPE_CHECKING:
    from hess.envs.scene import Scene

ROTATION = 0.25  # radians per step at full action
OBSERVATION_SIZE = 7  # x, y, cos, sin, vx, vy, turning rate; the angle itself grows without bound
CLEARANCE = 0.5  # random starts and goals keep this far from a cell's edge


class PointMaze(GoalTask):
    """Turn, then move forward; a move that would end in a wall does not happen. No inertia."""

    def __init__(self, **options: Any) -> None:
        parsed = MazeOptions.parse(type(self).__name__, options)
        self.layout = Layout.parse(parsed.layout, parsed.cell)
        self.layout.check_point()
        self._view = TopDownView(self.layout) if parsed.images else None
        super().__init__(
            floor_plan=FloorPlan.of_layout(self.layout),
            observation_size=OBSERVATION_SIZE + (SIZE if parsed.images else 0),
            action_size=2,
            options=parsed,
        )
        self.camera = maze_camera(self.layout)
        self._west, self._south, _, _ = self.layout.extent
        self._width = len(self.layout.rows[0])
        self._solid = [c == WALL for row in reversed(self.layout.rows) for c in row]
        self._x = self._y = self._heading = self._vx = self._vy = self._turn = 0.0

    def step(self, action: NDArray[Any]) -> tuple[Observation, float, bool, bool, Info]:
        """Turn and move; actions in [-1, 1]: forward, rotation."""
        forward, turn = self._checked_action(action).tolist()
        self._turn = ROTATION * min(max(turn, -1.0), 1.0)
        self._heading += self._turn
        forward = POINT_STRIDE * min(max(forward, -1.0), 1.0)
        x = self._x + forward * math.cos(self._heading)
        y = self._y + forward * math.sin(self._heading)
        if self._in_wall(x, y):
            self._vx = self._vy = 0.0
        else:
            self._vx, self._vy = x - self._x, y - self._y
            self._x, self._y = x, y
        return self._outcome()

    def _in_wall(self, x: float, y: float) -> bool:
        column = int((x - self._west) / self.layout.cell)
        row = int((y - self._south) / self.layout.cell)
        return self._solid[row * self._width + column]

    def _observe(self) -> tuple[Array, float, float, Info]:
        x, y = self._x, self._y
        motion = (math.cos(self._heading), math.sin(self._heading), self._vx, self._vy, self._turn)
        if self._view is None:
            values = np.array((x, y, *motion))
        else:
            values = np.concatenate(((0.0, 0.0, *motion), self._view(x, y).ravel()))
        return values, x, y, {"xy": (x, y), "is_healthy": True}

    def _place(self, start: Point, exact: bool) -> None:
        noise, velocity = self._reset_noise(3, 3, exact)
        dx, dy, self._heading = noise.tolist()
        self._x, self._y = start[0] + dx, start[1] + dy
        self._vx, self._vy, self._turn = velocity.tolist()

    def _random_start(self) -> Point:
        return random_free_point(self.layout, self.np_random, CLEARANCE)

    _random_goal = _random_start

    def _new_scene(self) -> Scene:
        from hess.envs.models import maze_model
        from hess.envs.scene import Scene

        return Scene(maze_model(self.layout, "point"), self.camera)

    def _pose(self, scene: Scene) -> None:
        scene.data.qpos[:] = self._x, self._y, self._heading
