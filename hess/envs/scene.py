"""Pictures of one moment of a task."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hess import runtime
from hess.arrays import Picture
from hess.envs.layouts import Layout
from hess.errors import HessError

if TYPE_CHECKING:
    from hess.envs.physics import mujoco


@dataclass(frozen=True)
class Camera:
    """Looks at a point from a distance; angles in degrees, picture size in pixels."""

    lookat: tuple[float, float, float]
    distance: float
    azimuth: float = 90.0
    elevation: float = -66.0
    height: int = 480
    width: int = 480
    slack: float = math.inf
    """The camera follows the robot along x when it is farther than this from the middle."""


def maze_camera(layout: Layout) -> Camera:
    """High above the south side, the whole map in view, north at the top."""
    xmin, ymin, xmax, ymax = layout.interior
    size = max(xmax - xmin, ymax - ymin) + layout.cell / 2
    return Camera(((xmin + xmax) / 2, (ymin + ymax) / 2 - 0.025 * size, 0.0), distance=1.38 * size)


class Scene:
    """A renderer for one model; holds a GL context until it is closed."""

    def __init__(
        self, model: mujoco.MjModel, camera: Camera, data: mujoco.MjData | None = None
    ) -> None:
        from hess.envs.physics import mujoco

        self.model = model
        self.data = mujoco.MjData(model) if data is None else data
        self._slack = camera.slack
        self._camera = mujoco.MjvCamera()
        self._camera.lookat[:] = camera.lookat
        self._camera.distance, self._camera.azimuth = camera.distance, camera.azimuth
        self._camera.elevation = camera.elevation
        self._renderer = open_renderer(model, camera.height, camera.width)

    def draw(self, goal: tuple[float, float, float]) -> Picture:
        """The picture of the present state, with the goal mark at `goal`."""
        from hess.envs.physics import mujoco

        self.data.mocap_pos[0] = goal
        # Positions only: a full mj_forward would change the solver's warm start, and with it the
        # trajectory of an episode that somebody looks at.
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)
        robot, middle = float(self.data.qpos[0]), self._camera.lookat
        middle[0] = min(max(middle[0], robot - self._slack), robot + self._slack)
        self._renderer.update_scene(self.data, self._camera)
        picture: Picture = self._renderer.render()
        return picture

    def close(self) -> None:
        self._renderer.close()


def open_renderer(model: mujoco.MjModel, height: int, width: int) -> Any:
    """MuJoCo's renderer, or a sentence about why it cannot draw here."""
    from hess.envs.physics import mujoco

    try:
        return mujoco.Renderer(model, height, width)
    except Exception as error:  # every GL backend has errors of its own
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise HessError(f"cannot draw here ({reason}): {runtime.rendering_advice()}") from error
