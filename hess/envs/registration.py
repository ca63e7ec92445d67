"""The table of tasks, and how Gymnasium gets to know them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

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


class _Maze(NamedTuple):
    """One row of the table of mazes; each is a task, and another one with images."""

    name: str
    layout: str
    robot: str = "ant"
    cell: float = 4.0
    horizon: int = 500
    map: str = "own map"

    def task(self, images: bool) -> TaskInfo:
        """The map is read and checked here."""
        if self.robot not in ROBOTS:
            raise unknown("robot", self.robot, ROBOTS)
        layout = Layout.parse(self.layout, self.cell)
        if self.robot == "point":
            layout.check_point()
        entry_point, observation = ROBOTS[self.robot]
        return TaskInfo(
            name=f"{self.name}Images" if images else self.name,
            robot=self.robot,
            map=self.map,
            goal=layout.goal,
            horizon=self.horizon,
            observation=observation + (VIEW_SIZE if images else 0),
            entry_point=entry_point,
            images=images,
            kwargs={"layout": str(layout), "cell": layout.cell, "images": images},
        )


_MAZES = (
    _Maze("PointMaze", layouts.U_MAZE, "point", map="12x12 m U-turn"),
    _Maze("AntMaze", layouts.U_MAZE, map="12x12 m U-turn"),
    _Maze("AntPush", layouts.PUSH, map="12x12 m with block"),
    _Maze("AntFourRooms", layouts.FOUR_ROOMS, cell=2.0, horizon=1000, map="18x18 m, 4 rooms"),
)


def _cheetah(name: str, map_name: str, goal: tuple[float, float]) -> TaskInfo:
    entry_point = f"hess.envs.cheetah:{name}"
    return TaskInfo(name, "half-cheetah", map_name, goal, 1000, 19, entry_point)


TASKS = {
    task.name: task
    for task in (
        *(maze.task(images=False) for maze in _MAZES),
        *(maze.task(images=True) for maze in _MAZES),
        _cheetah("CheetahHurdle", "hurdle 0.35 m high", (3.2, 0.0)),
        _cheetah("CheetahAscending", "20 degree ramp", (4.25, 1.0)),
    )
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
    if not (horizon >= 1 and horizon % 1 == 0):
        raise HessError(f"the horizon must be a positive number of steps, not {horizon!r}")
    task = _Maze(name, layout, robot, cell, horizon).task(images)
    if TASKS.setdefault(task.name, task) != task:
        raise HessError(f"the task {task.name!r} exists already with another map; rename yours")
    _register(task)
    return task.id
