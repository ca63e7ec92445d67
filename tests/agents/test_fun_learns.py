"""FeUdal Networks learn a maze in which the reward is near, well above what chance gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hess
from hess.envs import register_maze
from hess.runs.folder import RunFolder
from hess.runs.logs import read_metrics

CORRIDOR = """
#####
#S.G#
#####
"""


@pytest.mark.slow
def test_it_learns_to_reach_a_goal_nearby(tmp_path: Path) -> None:
    task = register_maze("FunCorridor", CORRIDOR, "point", horizon=100)
    run = hess.train(
        task,
        "fun",
        runs=tmp_path,
        steps=48_000,
        evaluation__interval=48_000,
        record__checkpoint_interval=1_000_000,
    )
    lines = read_metrics(RunFolder(run.path))
    returns = np.array([line["train/return"] for line in lines])
    success = np.array([line["train/success"] for line in lines])
    cosines = np.array([line["high/cosine"] for line in lines])
    assert success[:5].mean() < 0.3, "the goal is found by chance"
    assert success[-10:].mean() > 0.7
    assert returns[-10:].mean() > 5.0
    assert cosines[-10:].mean() > 0.1 > cosines[:5].mean()
    assert run.result.success_rate is not None
    assert run.result.success_rate >= 0.8
