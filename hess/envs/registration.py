"""The table of tasks, and how Gymnasium gets to know them."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from hess.envs import layouts
from hess.envs.layouts import Layout
from hess.errors import HessError, unknown

ROBOTS = {  # entry point, numbers of an observation
    "point": ("hess.envs.point:PointMaze", 7),
    "ant": ("hess.envs.ant:AntMaze", 29),
}
VIEW_SIZE = 75  # of topdown.py, whose NumPy would make `hess envs` slow


@dataclass(frozen=True)
class TaskInfo:
    """One row of the table of tasks."""

    name: str
    robot: str
    map: str
    goal: tuple[float, ...]
    horizon: int
    observation: int
    entry_point: str
    images: bool = False
    kwargs: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"hess/{self.name}-v0"


def _maze(
    name: str,
    layout: str,
    robot: str = "ant",
    *,
    cell: float = 4.0,
    horizon: int = 500,
    images: bool = False,
    map_name: str = "own map",
) -> TaskInfo:
    """The row of a maze; the map is read and checked here."""
    if robot not in ROBOTS:
        raise unknown("robot", robot, ROBOTS)
    parsed = Layout.parse(layout, cell)
    if robot == "point":
        parsed.check_point()
    entry_point, observation = ROBOTS[robot]
    kwargs: dict[str, Any] = {"layout": str(parsed), "cell": parsed.cell}
    if images:
        name, observation, kwargs["images"] = f"{name}Images", observation + VIEW_SIZE, True
    return TaskInfo(
        name, robot, map_name, parsed.goal, horizon, observation, entry_point, images, kwargs
    )


def _cheetah(name: str, map_name: str, goal: tuple[float, float]) -> TaskInfo:
    entry_point = f"hess.envs.cheetah:{name}"
    return TaskInfo(name, "half-cheetah", map_name, goal, 1000, 19, entry_point)


TASKS: dict[str, TaskInfo] = {
    task.name: task
    for images in (False, True)
    for task in (
        _maze("PointMaze", layouts.U_MAZE, "point", images=images, map_name="12x12 m U-turn"),
        _maze("AntMaze", layouts.U_MAZE, images=images, map_name="12x12 m U-turn"),
        _maze("AntPush", layouts.PUSH, images=images, map_name="12x12 m with block"),
        _maze(
            "AntFourRooms",
            layouts.FOUR_ROOMS,
            cell=2.0,
            horizon=1000,
            images=images,
            map_name="18x18 m, 4 rooms",
        ),
    )
} | {
    "CheetahHurdle": _cheetah("CheetahHurdle", "hurdle 0.35 m high", (3.2, 0.0)),
    "CheetahAscending": _cheetah("CheetahAscending", "20 degree ramp", (4.25, 1.0)),
}


def register_all() -> None:
    """Make all tasks known to Gymnasium; safe to call again."""
    for task in TASKS.values():
        _register(task)


def _register(task: TaskInfo) -> None:
    import gymnasium

    if task.id in gymnasium.registry:
        return
    gymnasium.register(
        task.id,
        entry_point=task.entry_point,
        max_episode_steps=task.horizon,
        # The tasks check the order of calls themselves; both wrappers cost time at every step.
        order_enforce=False,
        disable_env_checker=True,
        kwargs=task.kwargs,
    )


def register_maze(
    name: str,
    layout: str,
    robot: str = "ant",
    *,
    cell: float = 4.0,
    horizon: int = 500,
    images: bool = False,
) -> str:
    """Turn a text map into a task `hess/<name>-v0` and return that id.

    With `images=True` the name gets the ending `Images` and the robot sees a view from above.
    """
    if not name.isidentifier():
        raise HessError(f"a task's name must be letters and digits, like 'MyMaze', not {name!r}")
    if not (isinstance(horizon, Real) and horizon >= 1 and horizon % 1 == 0):
        raise HessError(f"the horizon must be a positive number of steps, not {horizon!r}")
    task = _maze(name, layout, robot, cell=cell, horizon=horizon, images=images)
    if TASKS.setdefault(task.name, task) != task:
        raise HessError(f"the task {task.name!r} exists already with another map; rename yours")
    _register(task)
    return task.id
