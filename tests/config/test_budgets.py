"""One length per task, wherever runs are planned."""

from __future__ import annotations

import pytest

from hess.config import Config
from hess.config.budgets import BUDGETS, budget
from hess.envs import TASKS
from hess.sweeps.plan import planned_run, product
from hess.sweeps.reproduction import Request, panels, plan_of
from hess.sweeps.suites import SUITES, Suite


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_a_budget_of_whole_episodes(task: str) -> None:
    steps = budget(task)
    assert steps is not None
    assert steps % TASKS[task].horizon == 0
    assert budget(TASKS[task].id) == steps


def test_images_take_the_budget_of_the_plain_task_unless_they_have_their_own() -> None:
    assert budget("AntMazeImages") == 800_000
    assert budget("AntFourRoomsImages") == budget("AntFourRooms") == 1_500_000
    assert budget("PointMazeImages") == budget("PointMaze") == 150_000


def test_the_table_has_no_unknown_task() -> None:
    assert BUDGETS.keys() <= TASKS.keys()


def test_a_sweep_trains_for_the_budget_unless_it_is_told_otherwise() -> None:
    tasks = ["PointMaze", "AntPushImages", "hess/AntMaze-v0"]
    plan = product(["hess", "sac"], tasks, [0])
    lengths = [run.config.steps for run in plan]
    assert lengths == [150_000, 150_000, 1_000_000, 1_000_000, 500_000, 500_000]
    told = product(["hess"], ["PointMaze"], [0], {"steps": (7_000,)})
    assert told[0].config.steps == 7_000


def test_somebody_elses_task_has_the_length_of_hess_train() -> None:
    assert budget("Pendulum-v1") is None
    run = planned_run("sac", "Pendulum-v1", 0, {"success": "reward>=-1"})
    assert run.config.steps == Config().steps


@pytest.mark.parametrize("row", SUITES.values(), ids=lambda row: row.name)
def test_every_run_of_the_paper_has_its_tasks_budget(row: Suite) -> None:
    for run in plan_of(panels(row, Request())):
        assert run.config.steps == budget(run.config.task)
