"""How long every task is trained where nothing else is said: the same for all methods and seeds.

Fixed before the runs that are compared, so that none is ended where it looks best.
"""

from __future__ import annotations

# Environment steps. The paper prints no lengths: these are about twice what HESS should need.
BUDGETS = {
    "PointMaze": 150_000,
    "AntMaze": 500_000,
    "AntPush": 800_000,
    "AntFourRooms": 1_500_000,
    "CheetahHurdle": 300_000,
    "CheetahAscending": 500_000,
    "AntMazeImages": 800_000,
    "AntPushImages": 1_000_000,
}


def budget(task: str) -> int | None:
    """Steps on a task, by its name or id; None where somebody else's task has none.

    A variant with images that has no row of its own has that of its plain task.
    """
    name = task.removeprefix("hess/").removesuffix("-v0")
    return BUDGETS.get(name, BUDGETS.get(name.removesuffix("Images")))
