"""dads solves a room that chance does not: it learns skills, then which one leads to the goal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hess
from hess.envs import register_maze
from hess.runs.folder import RunFolder
from hess.runs.logs import read_evaluations, read_metrics

ROOM = """
#####
#..G#
#...#
#S..#
#####
"""
RANDOM = 20  # episodes of uniform actions at the start

SMALL: dict[str, Any] = {
    "steps": 30_000,
    "capacity": 30_000,
    "subgoal_interval": 10,
    "low__hidden": (64, 64),
    "low__batch_size": 128,
    "high__hidden": (64, 64),
    "dads__space": "positions",
    "dads__hidden": (64, 64),
    "dads__batch_size": 128,
    "dads__other_skills": 8,
    "representation__first_update": RANDOM,
    "evaluation__interval": 10_000,
    "evaluation__episodes": 20,
    "record__tensorboard": False,
}


@pytest.mark.slow
def test_dads_learns_to_reach_a_near_goal_with_its_skills(tmp_path: Path) -> None:
    task = register_maze("SkillRoom", ROOM, "point", horizon=100)
    run = hess.train(task, "dads", runs=tmp_path, seed=0, **SMALL)
    lines = read_metrics(RunFolder(run.path))
    chance = np.mean([line["train/success"] for line in lines[:RANDOM]])
    rates = read_evaluations(RunFolder(run.path))["success_rate"]
    assert chance <= 0.2
    assert rates[-1] >= 0.8
    learning = [line for line in lines if "dads/reward" in line]
    first, last = (
        np.mean([line["dads/reward"] for line in part]) for part in (learning[:10], learning[-10:])
    )
    assert last > first + 0.2, "skills did not become more distinct"
