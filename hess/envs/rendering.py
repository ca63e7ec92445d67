"""Pictures of tasks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hess.envs.layouts import Layout

if TYPE_CHECKING:
    import mujoco


@dataclass(frozen=True)
class Camera:
    """A free camera: looks at a point from a distance; angles in degrees."""

    lookat: tuple[float, float, float]
    distance: float
    azimuth: float = 90.0
    elevation: float = -60.0
    slack: float = math.inf
    """The camera follows the robot along x when it is farther than this from the middle."""


def maze_camera(layout: Layout) -> Camera:
    """High above the south side, the whole map in view, north at the top."""
    xmin, ymin, xmax, ymax = layout.extent
    size = max(xmax - xmin, ymax - ymin)
    return Camera(((xmin + xmax) / 2, (ymin + ymax) / 2, 0.0), distance=1.35 * size)


class Scene:
    """A renderer for one model; frees its GL context on close."""

    def __init__(
        self,
        model: mujoco.MjModel,
        camera: Camera,
        data: mujoco.MjData | None = None,
        size: tuple[int, int] = (480, 480),
    ) -> None:
        import mujoco

        self.model = model
        self.data = mujoco.MjData(model) if data is None else data
        self._camera = mujoco.MjvCamera()
        self._camera.lookat[:] = camera.lookat
        self._camera.distance, self._camera.azimuth = camera.distance, camera.azimuth
        self._camera.elevation = camera.elevation
        self._renderer = mujoco.Renderer(model, *size)

    def draw(self, goal: NDArray[np.float64]) -> NDArray[np.uint8]:
        """The picture of the present state, with the goal mark at `goal`."""
        import mujoco

        self.data.mocap_pos[0, :2] = goal
        mujoco.mj_kinematics(self.model, self.data)
        self._renderer.update_scene(self.data, self._camera)
        return self._renderer.render()

    def close(self) -> None:
        """Free the GL context."""
        self._renderer.close()
