"""Gymnasium-Robotics as its users have it: fixed starts and goals, arguments, agents elsewhere."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hess
from hess.api import make_config
from hess.cli import main
from hess.config import Config
from hess.envs.adapter import Task
from hess.envs.check import can_train, check_env
from hess.errors import HessError
from hess.runs.command import train_command
from hess.training.probe import probe
from tests.others.survey import FIELDS

pytest.importorskip("gymnasium_robotics")
pytestmark = [pytest.mark.envs, pytest.mark.filterwarnings("ignore")]

POINT, ANT = (f"gymnasium_robotics:{name}" for name in ("PointMaze_UMaze-v3", "AntMaze_UMaze-v5"))
U_MAZE: list[list[Any]] = [
    [1, 1, 1, 1, 1],
    [1, "r", 0, 0, 1],
    [1, 1, 1, 0, 1],
    [1, "g", 0, 0, 1],
    [1, 1, 1, 1, 1],
]


def test_a_maze_says_success_and_fits() -> None:
    checks = check_env(Config(task=POINT))
    assert can_train(checks)
    assert {check.name: check.sentence for check in checks}["success signal"] == "info['success']"


@pytest.mark.parametrize("arguments", [{"continuing_task": False}, {"maze_map": U_MAZE}])
def test_the_commands_of_the_documentation_train(arguments: dict[str, Any], tmp_path: Path) -> None:
    _, *command = shlex.split(train_command(make_config(POINT, env=arguments, **FIELDS)))
    assert main([*command, "--runs", str(tmp_path)]) == 0
    (evaluations,) = tmp_path.glob("*/hess/*/eval.csv")
    assert len(evaluations.read_text().splitlines()) == 3  # a title, the start and the end


def test_a_map_as_argument_fixes_start_and_goal() -> None:
    task = Task(make_config(POINT, env={"maze_map": U_MAZE}, **FIELDS))
    states = [task.reset(seed) for seed in range(10)]
    task.close()
    for state in states:  # within the noise of 0.25 about the middles of their cells
        assert np.abs(state.position - [-1.0, 1.0]).max() <= 0.25
        assert np.abs(state.goal - [-1.0, -1.0]).max() <= 0.25


def test_an_argument_of_a_parent_that_is_not_passed_on_is_not_suggested() -> None:
    with pytest.raises(HessError, match=r"unknown .* argument 'position_noise_range'; (?!did you)"):
        check_env(Config(task=POINT, env=("position_noise_range=0.0",)))


def test_the_ant_is_told_where_it_is() -> None:
    config = make_config(ANT, **FIELDS)
    assert "observation + achieved_goal, 107 numbers" in " ".join(probe(config))
    task = Task(config)
    state = task.reset(0)
    np.testing.assert_allclose(state.observation[-2:], state.position)
    task.close()


def test_an_unknown_argument_is_answered_with_the_closest() -> None:
    with pytest.raises(HessError, match="did you mean 'continuing_task'"):
        check_env(Config(task=POINT, env=("continuing_tsk=False",)))


def test_an_environment_that_cannot_be_made_is_a_sentence() -> None:
    """FetchReach-v4 fails with the MuJoCo of our lock."""
    expected = (
        r"cannot build the task 'gymnasium_robotics:FetchReach-v4': .* \(\w+.py, line \d+\): "
    )
    with pytest.raises(HessError, match=expected):
        check_env(Config(task="gymnasium_robotics:FetchReach-v4"))


def test_stable_baselines3_evaluates_an_agent_of_a_maze(tmp_path: Path) -> None:
    evaluation = pytest.importorskip("stable_baselines3.common.evaluation")
    from stable_baselines3.common.env_util import make_vec_env

    run = hess.train(POINT, runs=tmp_path, **FIELDS)
    several = make_vec_env("PointMaze_UMaze-v3", n_envs=2)
    _, lengths = evaluation.evaluate_policy(
        hess.load(run.path), several, 2, return_episode_rewards=True
    )
    assert lengths == [300, 300]
