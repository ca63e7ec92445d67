"""The ant in a maze."""

from __future__ import annotations

from typing import Any

import numpy as np

from hess.envs.floorplan import FloorPlan
from hess.envs.layouts import BLOCK, GOAL, U_MAZE, Layout, random_free_point
from hess.envs.models import maze_model, post
from hess.envs.options import MazeOptions, PushOptions
from hess.envs.scene import maze_camera
from hess.envs.simulated import SimulatedTask
from hess.envs.task import Array, Info, Point
from hess.envs.topdown import SIZE, TopDownView

SUBSTEPS = 10  # of 0.02 s: 0.2 s per action
POSITIONS, VELOCITIES = 15, 14  # of the ant alone; a block's coordinates come after them
CLEARANCE = 1.0  # random starts and goals keep this far from a cell's edge
STANDING = (0.0, 0.0, 0.75, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0)


class AntMaze(SimulatedTask):
    """Walk to the goal; with a block on the map, push it out of the way."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 5}
    standing = np.array(STANDING)
    velocities = VELOCITIES

    def __init__(self, **options: Any) -> None:
        has_block = BLOCK in str(options.get("layout", U_MAZE))
        parsed = (PushOptions if has_block else MazeOptions).parse(type(self).__name__, options)
        self.layout = Layout.parse(parsed.layout, parsed.cell)
        self._view = TopDownView(self.layout) if parsed.images else None
        self._block_start = self.layout.block
        goal_post = isinstance(parsed, PushOptions) and parsed.goal_post
        self._observes_block = isinstance(parsed, PushOptions) and parsed.observe_block
        self._taken = BLOCK + GOAL if goal_post else BLOCK
        extra = (SIZE if parsed.images else 0) + (2 if self._observes_block else 0)
        super().__init__(
            model=maze_model(self.layout, "ant", goal_post),
            substeps=SUBSTEPS,
            floor_plan=FloorPlan.of_layout(self.layout, (post(self.layout),) if goal_post else ()),
            camera=maze_camera(self.layout),
            observation_size=POSITIONS + VELOCITIES + extra,
            options=parsed,
        )
        self._own_qpos, self._own_qvel = self._qpos[:POSITIONS], self._qvel[:VELOCITIES]

    @property
    def block(self) -> Point | None:
        """Where the centre of the movable block is."""
        if self._block_start is None:
            return None
        x, y = self._block_start
        return x + self._qpos.item(POSITIONS), y + self._qpos.item(POSITIONS + 1)

    def _observe(self) -> tuple[Array, float, float, Info]:
        qpos = self._qpos
        x, y = qpos.item(0), qpos.item(1)
        roll, pitch = qpos.item(4), qpos.item(5)
        # The torso's own up axis points up: z component of the rotated axis, from the quaternion.
        info: Info = {"xy": (x, y), "is_healthy": roll * roll + pitch * pitch < 0.5}
        block = self.block
        if block is not None:
            info["block"] = block
        parts: tuple[Any, ...] = (self._own_qpos, self._own_qvel)
        if self._view is not None:
            parts = (*parts, self._view(x, y, block).ravel())
        if self._observes_block:
            parts = (*parts, block)
        values = np.concatenate(parts)
        if self._view is not None:
            values[:2] = 0.0
        return values, x, y, info

    def _settle(self) -> None:
        self._qpos[3:7] /= np.linalg.norm(self._qpos[3:7])

    def _random_start(self) -> Point:
        return random_free_point(self.layout, self.np_random, CLEARANCE, self._taken)

    _random_goal = _random_start
