from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import gymnasium
import pytest

from hess.envs import TASKS, make, register_maze
from hess.errors import HessError
from hess.runs.run import task_plan

LOOP = """
######
#S..G#
#.##.#
#....#
######
"""


def test_all_tasks_of_the_specification_are_there() -> None:
    mazes = {"PointMaze", "AntMaze", "AntPush", "AntFourRooms"}
    expected = mazes | {f"{name}Images" for name in mazes} | {"CheetahHurdle", "CheetahAscending"}
    assert expected <= set(TASKS)


@pytest.mark.parametrize("name", TASKS)
def test_the_table_agrees_with_the_environment(name: str, build: Any) -> None:
    task, env = TASKS[name], build(name)
    assert env.spec.id == task.id == f"hess/{name}-v0"
    assert env.spec.max_episode_steps == task.horizon
    assert env.observation_space["observation"].shape == (task.observation,)
    assert env.unwrapped.floor_plan.goal == pytest.approx(task.goal, abs=0.01)
    assert env.unwrapped.floor_plan.is_free(env.unwrapped.floor_plan.goal)


def test_importing_the_table_loads_nothing_heavy() -> None:
    program = (
        "import sys, hess.envs; print({'numpy', 'gymnasium', 'mujoco', 'jax'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "set()", done.stderr


@pytest.mark.parametrize(
    "program",
    [
        "import gymnasium; env = gymnasium.make('hess.envs:hess/PointMaze-v0')",
        "import gymnasium, hess.envs; env = gymnasium.make('hess/PointMaze-v0')",
        "import hess.envs; hess.envs.register_all(); import gymnasium;"
        "env = gymnasium.make('hess/PointMaze-v0')",
    ],
)
def test_plain_gymnasium_builds_a_task(program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{program}; print(env.spec.id)"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "hess/PointMaze-v0", done.stderr


@pytest.mark.parametrize("task", ["PointMaze", "hess/PointMaze-v0", "hess.envs:hess/PointMaze-v0"])
def test_a_task_has_several_names(task: str, build: Any) -> None:
    assert build(task).spec.id == "hess/PointMaze-v0"


def test_any_gymnasium_id_can_be_made(build: Any) -> None:
    assert build("Pendulum-v1").spec.id == "Pendulum-v1"


@pytest.mark.parametrize(
    ("task", "hint"),
    [
        ("antmaze", "unknown task 'antmaze'; did you mean 'AntMaze'?"),
        ("hess/AntPusch-v0", "did you mean 'AntPush'?"),
        ("AntMaze-v0", "did you mean 'AntMaze'?"),
        ("hess/AntMaze-v7", "AntMaze"),
        ("nowhere:Env-v0", "cannot load the task 'nowhere:Env-v0'"),
        ("Point Maze", "unknown task 'Point Maze'; did you mean 'PointMaze'?"),
        ("not an id!", "unknown task 'not an id!'; tasks: "),
        ("", "unknown task ''; tasks: "),
    ],
)
def test_an_unknown_task_is_named(task: str, hint: str) -> None:
    with pytest.raises(HessError, match=hint.replace("?", r"\?")):
        make(task)


@pytest.mark.parametrize("name", ["PointMaze", "AntMaze", "CheetahHurdle"])
@pytest.mark.parametrize(
    ("keywords", "sentence"),
    [
        ({"sucess_radius": 1.0}, "did you mean 'success_radius'"),
        ({"success_radius": -1.0}, "success_radius must be positive"),
        ({"success_radius": "far"}, "success_radius must be a number"),
        (
            {"reward": "shaped"},
            "unknown reward option 'shaped'.* options: dense, negative, sparse",
        ),
        ({"random_goal": 1}, "random_goal must be True or False, not 1"),
    ],
)
def test_a_bad_keyword_is_named(name: str, keywords: dict[str, Any], sentence: str) -> None:
    with pytest.raises(HessError, match=sentence):
        make(name, **keywords)
    with pytest.raises(HessError, match=sentence):
        gymnasium.make(f"hess/{name}-v0", **keywords)


@pytest.mark.parametrize(
    ("name", "keywords", "sentence"),
    [
        (
            "CheetahHurdle",
            {"track": "round"},
            "unknown track option 'round'; .*options: closed, open",
        ),
        ("CheetahHurdle", {"pitch": "sin"}, "pitch option 'sin'; .*pitch options: angle, cos_sin"),
        ("CheetahAscending", {"trac": "open"}, "did you mean 'track'"),
        ("AntMaze", {"track": "open"}, "unknown AntMaze option 'track'.* options: "),
        ("PointMaze", {"cel": 3}, "did you mean 'cell'"),
        ("AntMaze", {"images": "no"}, "images must be True or False, not 'no'"),
        ("AntMaze", {"layout": [[1, 0]]}, r"layout must be text, not \[\[1, 0\]\]"),
        ("AntMaze", {"cell": "wide"}, "cell must be a number of metres, not 'wide'"),
        ("AntPush", {"goal_posts": True}, "did you mean 'goal_post'"),
        ("AntPush", {"observe_block": 1}, "observe_block must be True or False, not 1"),
        ("AntMaze", {"goal_post": True}, "unknown AntMaze option 'goal_post'.* options: "),
        ("PointMaze", {"observe_block": True}, "unknown PointMaze option.* options: cell, images"),
        ("CheetahHurdle", {"observe_block": True}, "unknown CheetahHurdle option.* track"),
    ],
)
def test_options_of_some_tasks(name: str, keywords: dict[str, Any], sentence: str) -> None:
    with pytest.raises(HessError, match=sentence):
        make(name, **keywords)


def test_a_bad_keyword_of_a_users_env_is_named() -> None:
    with pytest.raises(HessError, match="unknown Pendulum-v1 argument 'colour'; Pendul"):
        make("Pendulum-v1", colour="red")


@pytest.mark.parametrize("robot", ["point", "ant"])
@pytest.mark.parametrize("images", [False, True])
def test_a_text_map_becomes_a_task(robot: str, images: bool, build: Any) -> None:
    task = register_maze(f"Loop{robot}", LOOP, robot, horizon=7, images=images)
    assert task == f"hess/Loop{robot}{'Images' if images else ''}-v0"
    env = build(task)
    env.reset(seed=0)
    for step in range(7):
        _, _, _, truncated, _ = env.step(env.action_space.sample())
        assert truncated == (step == 6)
    assert register_maze(f"Loop{robot}", LOOP, robot, horizon=7, images=images) == task


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"robot": "snake"}, "unknown robot 'snake'; robots: ant, point"),
        ({"name": "my maze"}, "name must be letters and digits"),
        ({"name": "AntMaze"}, "exists already"),
        ({"horizon": 0}, "horizon must be a positive number"),
        ({"horizon": math.inf}, "horizon must be a positive number of steps, not inf"),
        ({"layout": "####\n#S.#\n####"}, "the map has no goal"),
        ({"cell": -2.0}, "cell size must be a positive number"),
        ({"robot": "point", "cell": 0.5}, "too small for the point"),
        ({"robot": "point", "layout": "#####\n#SBG#\n#####"}, "the point cannot push"),
    ],
)
def test_a_bad_maze_is_named(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(HessError, match=sentence):
        register_maze(**({"name": "Bad", "layout": LOOP} | changes))
    assert "Bad" not in TASKS


def test_floor_plan_of_a_task() -> None:
    plan = task_plan("AntMaze")
    assert plan is not None
    assert plan.bounds == (-2.0, -2.0, 10.0, 10.0)
    assert task_plan("Pendulum-v1") is None
