"""Runs on somebody else's environment can be drawn without importing it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from hess.analysis.maps import draw_plan
from hess.errors import HessError
from hess.runs.run import Run, task_plan

FOREIGN = "a_module_that_nobody_has:Maze-v0"


def run_on(task: str, path: Path) -> Run:
    about = {"task": task, "method": "hess", "seed": 0, "steps": 1}
    (path / "config.json").write_text(json.dumps(about))
    return Run(path)


def test_figures_run_nobody_s_code_for_the_sake_of_walls(tmp_path: Path) -> None:
    assert run_on(FOREIGN, tmp_path).plan is None
    assert "a_module_that_nobody_has" not in sys.modules
    with pytest.raises(HessError, match="would import the module 'a_module_that_nobody_has'"):
        task_plan(FOREIGN)


def test_walls_of_a_module_that_is_imported_are_drawn(tmp_path: Path) -> None:
    plan = run_on("hess.envs:hess/PointMaze-v0", tmp_path).plan
    assert plan is not None
    assert plan.bounds == (-2.0, -2.0, 10.0, 10.0)


def test_without_walls_a_map_shows_where_the_robot_was() -> None:
    figure = Figure()
    axes = figure.add_subplot()
    draw_plan(axes, None, np.array([[-3.0, 1.0], [5.0, 9.0]]))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x", "y")
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    assert (left < -3, right > 5, low < 1, high > 9) == (True, True, True, True)


def test_settings_that_came_later_do_not_tell_old_runs_from_new_ones(tmp_path: Path) -> None:
    fields = run_on("PointMaze", tmp_path).config.fields
    assert (fields["success"], fields["env"]) == ("auto", ())
