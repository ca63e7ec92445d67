"""Tasks whose robot MuJoCo simulates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from hess.envs.floorplan import FloorPlan
from hess.envs.options import TaskOptions
from hess.envs.physics import mujoco
from hess.envs.task import Array, GoalTask, Info, Observation, Point

if TYPE_CHECKING:
    from hess.envs.scene import Camera, Scene


class SimulatedTask(GoalTask):
    """One compiled model, one `mj_step` call per action, no work that analysis could do later."""

    standing: Array
    """The robot's own positions before the reset noise."""
    velocities: int
    """How many velocities of the model are the robot's own."""

    def __init__(
        self,
        *,
        model: mujoco.MjModel,
        substeps: int,
        floor_plan: FloorPlan,
        camera: Camera,
        observation_size: int,
        options: TaskOptions,
    ) -> None:
        super().__init__(
            floor_plan=floor_plan,
            observation_size=observation_size,
            action_size=model.nu,
            options=options,
        )
        # Left on, MuJoCo would answer a numerical failure by silently going back to the start.
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        # Looking for parts that do not touch each other costs more than one robot can gain by it.
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
        self.model = model
        self.data = mujoco.MjData(model)
        self.substeps = substeps
        self.camera = camera
        # Views into MuJoCo's memory, looked up once.
        self._qpos, self._qvel, self._ctrl = self.data.qpos, self.data.qvel, self.data.ctrl
        self._action_scale = float(model.actuator_ctrlrange[0, 1])

    def step(self, action: NDArray[Any]) -> tuple[Observation, float, bool, bool, Info]:
        """Hold the motors' torques for one control step; actions in [-1, 1]."""
        self._ctrl[:] = self._checked_action(action)  # MuJoCo clips to the actuator range itself
        if self._action_scale != 1.0:
            self._ctrl *= self._action_scale
        mujoco.mj_step(self.model, self.data, self.substeps)
        return self._outcome()

    def _place(self, start: Point, exact: bool) -> None:
        """Noise on the robot's own coordinates, the first ones of the model; a block stays put."""
        mujoco.mj_resetData(self.model, self.data)
        positions = len(self.standing)
        noise, velocity = self._reset_noise(positions, self.velocities, exact)
        self._qpos[:positions] = self.standing + noise
        self._qpos[:2] += start
        self._qvel[: self.velocities] = velocity
        self._settle()
        mujoco.mj_forward(self.model, self.data)

    def _settle(self) -> None:
        """What a robot has to put right after the noise."""

    def _new_scene(self) -> Scene:
        from hess.envs.scene import Scene

        return Scene(self.model, self.camera, self.data)
