"""Environment steps against the bare physics of the same model under the same actions."""

from __future__ import annotations

import statistics
from contextlib import closing
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from hess.bench.measuring import MICROSECONDS, BenchRow, Goal, Size, compared, cpu_seconds, in_turns
from hess.envs import TASKS, make
from hess.envs.physics import mujoco
from hess.envs.simulated import SimulatedTask
from hess.errors import HessError

_POINT_FACTOR = 40  # a point step takes about this many times less than an ant step
_LIMIT, _LIMIT_WITH_IMAGES, _POINT_SPEED = 1.10, 1.5, 50_000

Env = gymnasium.Env[Any, Any]


def rows(size: Size) -> list[BenchRow]:
    """One row for every registered task."""
    found = []
    for task in TASKS:
        with closing(make(task)) as env:
            simulated = isinstance(env.unwrapped, SimulatedTask)
            found.append((_simulated_row if simulated else _point_row)(task, env, size))
    return found


def _simulated_row(task: str, env: Env, size: Size) -> BenchRow:
    pair = _Lockstep(env, size.env_steps, TASKS[task].horizon)
    ours, bare = in_turns(pair.step_env, pair.step_bare, repetitions=size.env_chunks)
    pair.check()
    what = "mj_step of the same model and actions"
    return compared("envs", f"{task} step", "µs", (ours, bare), what, goal=_goal(task))


def _goal(task: str) -> Goal | None:
    """None for the cheetahs: their physics takes a sixteenth of an ant's, Python takes the same."""
    if TASKS[task].robot == "half-cheetah":
        return None
    return Goal("at most", _LIMIT_WITH_IMAGES if TASKS[task].images else _LIMIT)


class _Lockstep:
    """An environment and a bare copy of its physics that live through the same episodes.

    Whichever goes first draws the next actions (and resets) for both, so the contacts, which
    decide what a step costs, are the same.
    """

    def __init__(self, env: Env, steps: int, horizon: int):
        self._env, self._steps, self._horizon = env, steps, horizon
        self._simulated: SimulatedTask = env.unwrapped  # type: ignore[assignment]
        self._data = mujoco.MjData(self._simulated.model)
        self._rng = np.random.default_rng(0)
        self._taken = horizon  # of the episode: the first turn resets
        self._waiting: NDArray[np.float32] | None = None
        self._scale = float(self._simulated.model.actuator_ctrlrange[0, 1])

    def step_env(self) -> float:
        """Microseconds per step of the environment."""
        return _stepping_seconds(self._env, self._actions()) / self._steps * MICROSECONDS

    def step_bare(self) -> float:
        """Microseconds per `mj_step`, with the assignment of the controls."""
        controls = self._actions().astype(np.float64) * self._scale
        model, data, substeps = self._simulated.model, self._data, self._simulated.substeps
        control, step = data.ctrl, mujoco.mj_step

        def work() -> None:
            for values in controls:
                control[:] = values
                step(model, data, substeps)

        return cpu_seconds(work) / self._steps * MICROSECONDS

    def _actions(self) -> NDArray[np.float32]:
        if self._waiting is not None:
            actions, self._waiting = self._waiting, None
            return actions
        if self._taken + self._steps >= self._horizon:
            self._env.reset(seed=int(self._rng.integers(2**31)))
            mujoco.mj_copyData(self._data, self._simulated.model, self._simulated.data)
            self._taken = 0
        self._taken += self._steps
        shape = (self._steps, self._simulated.model.nu)
        self._waiting = self._rng.uniform(-1.0, 1.0, shape).astype(np.float32)
        return self._waiting

    def check(self) -> None:
        """Both must have ended in the same state, or the comparison means nothing."""
        if not np.array_equal(self._data.qpos, self._simulated.data.qpos):
            raise HessError("the environment and the bare physics went different ways")


def _point_row(task: str, env: Env, size: Size) -> BenchRow:
    rng = np.random.default_rng(0)
    steps = min(_POINT_FACTOR * size.env_steps, TASKS[task].horizon - 1)
    actions = rng.uniform(-1.0, 1.0, (steps, 2)).astype(np.float32)
    speeds = []
    for _ in range(size.env_chunks):
        env.reset(seed=0)
        speeds.append(steps / _stepping_seconds(env, actions))
    goal = None if TASKS[task].images else Goal("at least", _POINT_SPEED, of="measured")
    return BenchRow("envs", f"{task} steps", statistics.median(speeds), "steps/s", goal=goal)


def _stepping_seconds(env: Env, actions: NDArray[np.float32]) -> float:
    step = env.step

    def work() -> None:
        for action in actions:
            step(action)

    return cpu_seconds(work)
