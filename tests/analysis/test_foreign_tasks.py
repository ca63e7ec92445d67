"""Runs on somebody else's environment can be drawn without importing it."""

from __future__ import annotations

import sys

from hess.analysis.runs import task_plan


def test_figures_run_nobody_s_code_for_the_sake_of_walls() -> None:
    assert task_plan("a_module_that_nobody_has:Maze-v0") is None
    assert "a_module_that_nobody_has" not in sys.modules


def test_walls_of_a_module_that_is_imported_are_drawn() -> None:
    plan = task_plan("hess.envs:hess/PointMaze-v0")
    assert plan is not None
    assert plan.bounds == (-2.0, -2.0, 10.0, 10.0)
