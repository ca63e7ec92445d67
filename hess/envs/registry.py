"""The table of tasks; `making.py` makes environments of their names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hess.envs import layouts
from hess.envs.layouts import Layout
from hess.errors import HessError, unknown

ROBOTS = {
    "point": ("hess.envs.point:PointMaze", 7),
    "ant": ("hess.envs.ant:AntMaze", 29),
}
VIEW_SIZE = 75


@dataclass(frozen=True)
class TaskInfo:
    """One row of the table of tasks."""

    name: str
    robot: str
    map: str
    start: tuple[float, ...]
    goal: tuple[float, ...]
    horizon: int
    observation: int
    summary: str
    entry_point: str
    images: bool = False
    kwargs: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"hess/{self.name}-v0"


TASKS: dict[str, TaskInfo] = {}


def maze_task(
    name: str,
    layout: str,
    robot: str = "ant",
    *,
    cell: float = 4.0,
    horizon: int = 500,
    images: bool = False,
    map_name: str = "own map",
    summary: str = "",
) -> TaskInfo:
    """Describe a maze task; the map is read and checked here."""
    if robot not in ROBOTS:
        raise unknown("robot", robot, ROBOTS)
    parsed = Layout.parse(layout, cell)
    if robot == "point":
        parsed.check_point()
    entry_point, observation = ROBOTS[robot]
    kwargs: dict[str, Any] = {"layout": str(parsed), "cell": parsed.cell}
    if images:
        kwargs["images"] = True
        summary = f"{summary}; sees a 5x5x3 view from above instead of x, y".lstrip("; ")
    return TaskInfo(
        name=f"{name}Images" if images else name,
        robot=robot,
        map=map_name,
        start=parsed.start,
        goal=parsed.goal,
        horizon=horizon,
        observation=observation + (VIEW_SIZE if images else 0),
        summary=summary,
        entry_point=entry_point,
        images=images,
        kwargs=kwargs,
    )


def _declare(*tasks: TaskInfo) -> None:
    TASKS.update({task.name: task for task in tasks})


for _images in (False, True):
    _declare(
        maze_task(
            "PointMaze",
            layouts.U_MAZE,
            "point",
            images=_images,
            map_name="12x12 m U-turn",
            summary="turn and roll around the corridor",
        ),
        maze_task(
            "AntMaze",
            layouts.U_MAZE,
            images=_images,
            map_name="12x12 m U-turn",
            summary="walk around the corridor",
        ),
        maze_task(
            "AntPush",
            layouts.PUSH,
            images=_images,
            map_name="12x12 m with block",
            summary="go left, push the block to the right, walk on to the goal behind it",
        ),
        maze_task(
            "AntFourRooms",
            layouts.FOUR_ROOMS,
            cell=2.0,
            horizon=1000,
            images=_images,
            map_name="18x18 m, 4 rooms",
            summary="walk through two doors to the opposite room",
        ),
    )


def _cheetah_task(name: str, map_name: str, goal: tuple[float, float], summary: str) -> TaskInfo:
    return TaskInfo(
        name=name,
        robot="half-cheetah",
        map=map_name,
        start=(0.0, 0.0),
        goal=goal,
        horizon=1000,
        observation=19,
        summary=summary,
        entry_point=f"hess.envs.cheetah:{name}",
    )


_declare(
    _cheetah_task(
        "CheetahHurdle",
        "hurdle 0.35 m high",
        (3.2, 0.0),
        "stride over a hurdle to a goal 3.2 m ahead",
    ),
    _cheetah_task(
        "CheetahAscending", "20 degree ramp", (4.25, 1.0), "climb to where the slope is 1 m high"
    ),
)


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
    summary: str = "",
) -> str:
    """Turn a text map into a task `hess/<name>-v0` and return that id.

    With `images=True` the name gets the ending `Images` and the robot sees a view from above.
    """
    if not name.isidentifier():
        raise HessError(f"a task's name must be letters and digits, like 'MyMaze', not {name!r}")
    if horizon < 1 or int(horizon) != horizon:
        raise HessError(f"the horizon must be a positive number of steps, not {horizon!r}")
    task = maze_task(
        name, layout, robot, cell=cell, horizon=horizon, images=images, summary=summary
    )
    if TASKS.get(task.name, task) != task:
        raise HessError(f"the task {task.name!r} exists already with another map; rename yours")
    _declare(task)
    _register(task)
    return task.id
