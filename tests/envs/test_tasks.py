"""What must hold for every task, over the whole registry."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from hess.envs import TASKS
from hess.errors import HessError

SIMULATED = [name for name, task in TASKS.items() if task.robot != "point"]


def random_run(env: Any, steps: int, seed: int = 0) -> list[dict[str, Any]]:
    """Random actions over several episodes; the outcome of each step in one dictionary."""
    env.action_space.seed(seed)
    outcomes = []
    observation, _ = env.reset(seed=seed)
    for _ in range(steps):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        outcomes.append({**observation, "reward": reward, **info})
        if terminated or truncated:
            env.reset()
    return outcomes


def check_sound(env: Any, steps: int) -> None:
    """No NaN, no MuJoCo warning, no robot centre in a wall or outside the map."""
    task = env.unwrapped
    outcomes = random_run(env, steps)
    assert np.isfinite([each["observation"] for each in outcomes]).all()
    if hasattr(task, "data"):
        assert not task.data.warning.number.any()
    positions = np.array([each["xy"] for each in outcomes])
    if task.floor_plan.axes == ("x", "y"):
        assert task.floor_plan.is_free(positions).all()
    else:  # the cheetah's torso stays between the walls, above the ground, and on this planet
        left, _, right, _ = task.floor_plan.bounds
        assert ((positions[:, 0] > left) & (positions[:, 0] < right)).all()
        assert (positions[:, 1] > -0.7).all()
        assert (positions[:, 1] < 3.0).all()


@pytest.mark.filterwarnings("ignore:.*infinity:UserWarning")
@pytest.mark.parametrize("name", TASKS)
def test_gymnasiums_own_checker_passes(name: str, build: Any) -> None:
    check_env(build(name).unwrapped, skip_render_check=True)


@pytest.mark.filterwarnings("ignore:.*infinity:UserWarning")
@pytest.mark.parametrize(
    ("name", "keywords"),
    [
        ("CheetahHurdle", {"track": "open"}),
        ("CheetahAscending", {"track": "open"}),
        ("CheetahAscending", {"pitch": "angle"}),
        ("AntPush", {"goal_post": True}),
        ("AntPush", {"observe_block": True}),
        ("AntPushImages", {"observe_block": True, "goal_post": True}),
    ],
)
def test_gymnasiums_own_checker_passes_with_options(
    name: str, keywords: dict[str, Any], build: Any
) -> None:
    check_env(build(name, **keywords).unwrapped, skip_render_check=True)


@pytest.mark.filterwarnings("ignore:.*infinity:UserWarning")
@pytest.mark.usefixtures("drawing")
@pytest.mark.parametrize("name", ["PointMaze", "AntPushImages", "CheetahHurdle"])
def test_gymnasiums_own_checker_passes_with_pictures(name: str, build: Any) -> None:
    check_env(build(name, render_mode="rgb_array").unwrapped)


@pytest.mark.parametrize("name", TASKS)
def test_same_seed_same_trajectory(name: str, build: Any) -> None:
    first, second = (random_run(build(name), 60, seed=7) for _ in range(2))
    other = random_run(build(name), 60, seed=8)
    for one, two in zip(first, second, strict=True):
        assert one["observation"].tobytes() == two["observation"].tobytes()
        assert one["reward"] == two["reward"]
    assert first[-1]["observation"].tobytes() != other[-1]["observation"].tobytes()


@pytest.mark.parametrize("name", TASKS)
def test_a_reset_forgets_the_episode_before(name: str, build: Any) -> None:
    env, fresh = build(name), build(name)
    random_run(env, 30, seed=3)
    one, two = random_run(env, 30, seed=7), random_run(fresh, 30, seed=7)
    assert one[-1]["observation"].tobytes() == two[-1]["observation"].tobytes()


@pytest.mark.parametrize("name", TASKS)
def test_random_steps_are_sound(name: str, build: Any) -> None:
    check_sound(build(name), steps=3000 if "Images" not in name else 500)


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_100k_random_steps_are_sound(name: str, build: Any) -> None:
    check_sound(build(name), steps=100_000)


def random_successes(env: Any, episodes: int) -> int:
    steps = env.spec.max_episode_steps
    runs = (random_run(env, steps, seed=seed) for seed in range(episodes))
    return sum(any(each["is_success"] for each in run) for run in runs)


@pytest.mark.parametrize("name", [name for name in SIMULATED if "Images" not in name])
def test_chance_does_not_reach_the_goal(name: str, build: Any) -> None:
    assert random_successes(build(name), episodes=2) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", SIMULATED)
def test_chance_does_not_reach_the_goal_in_20_episodes(name: str, build: Any) -> None:
    assert random_successes(build(name), episodes=20) == 0


@pytest.mark.parametrize("name", TASKS)
def test_the_horizon_truncates_and_nothing_terminates(name: str, build: Any) -> None:
    env = build(name, max_episode_steps=5)
    env.reset(seed=0)
    ends = [env.step(env.action_space.sample())[2:4] for _ in range(5)]
    assert ends == [(False, False)] * 4 + [(False, True)]


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize(("inside", "distance"), [(True, 1.4999), (False, 1.5001)])
def test_success_and_reward_agree_on_both_sides_of_the_radius(
    name: str, inside: bool, distance: float, build: Any
) -> None:
    """Compared at the same hand-placed state: what reset sees, and what compute_* say."""
    for reward, expected in (("sparse", 1.0), ("negative", 0.0), ("dense", None)):
        env = build(name, reward=reward, terminate_on_success=True).unwrapped
        goal = np.array(env.floor_plan.goal)
        # Towards the start of the last leg of the way: free in every task.
        direction = np.array([0.0, -1.0]) if name.startswith("AntPush") else np.array([-1.0, 0.0])
        if name.startswith(("PointMaze", "AntMaze")):
            direction = np.array([1.0, 0.0])
        place = goal + distance * direction
        env.reset(seed=0)
        put(env, place)
        observation, step_reward, terminated, truncated, info = env._outcome()
        achieved = observation["achieved_goal"]
        assert np.allclose(achieved, place)
        assert info["is_success"] is info["success"] is inside
        assert terminated is inside
        assert truncated is False
        value = -distance if expected is None else expected - (not inside)
        assert step_reward == pytest.approx(value)
        computed = env.compute_reward(achieved, goal, info)
        assert isinstance(computed, float)
        assert computed == step_reward
        assert env.compute_terminated(achieved, goal, info) is inside
        assert env.compute_truncated(achieved, goal, info) is False


def put(env: Any, place: Any) -> None:
    """Move the robot without simulating."""
    if hasattr(env, "data"):
        env.data.qpos[:2] = place
    else:
        env._x, env._y = float(place[0]), float(place[1])


@pytest.mark.parametrize("name", TASKS)
def test_rewards_of_a_batch_are_the_rewards_of_its_goals(name: str, build: Any) -> None:
    env = build(name).unwrapped
    generator = np.random.default_rng(0)
    achieved, desired = generator.uniform(-2, 2, (2, 5, 3, 2))
    rewards = env.compute_reward(achieved, desired, {})
    terminated = env.compute_terminated(achieved, desired, {})
    truncated = env.compute_truncated(achieved, desired, {})
    assert rewards.shape == terminated.shape == truncated.shape == (5, 3)
    assert 0 < rewards.mean() < 1
    for index in np.ndindex(5, 3):
        assert rewards[index] == env.compute_reward(achieved[index], desired[index], {})
    assert not terminated.any()
    assert not truncated.any()
    with pytest.raises(HessError, match="goals must have 2 numbers"):
        env.compute_reward(np.zeros(3), np.zeros(3), {})


@pytest.mark.parametrize("name", TASKS)
def test_only_evaluation_ends_at_the_goal(name: str, build: Any) -> None:
    for ends in (False, True):
        env = build(name, terminate_on_success=ends, success_radius=100.0)
        env.reset(seed=0)
        _, reward, terminated, _, info = env.step(np.zeros(env.action_space.shape))
        assert (reward, terminated, info["is_success"]) == (1.0, ends, True)


@pytest.mark.parametrize("name", TASKS)
def test_start_and_goal_are_fixed_unless_asked_for(name: str, build: Any) -> None:
    fixed, random = build(name), build(name, random_goal=True, random_start=True)
    plan = fixed.unwrapped.floor_plan
    for seed in range(10):
        observation, _ = fixed.reset(seed=seed)
        assert observation["desired_goal"].tolist() == list(plan.goal)
        assert np.abs(observation["achieved_goal"] - plan.start).max() <= 0.1
    drawn = [random.reset(seed=seed)[0] for seed in range(40)]
    for key in ("desired_goal", "achieved_goal"):
        places = np.array([each[key] for each in drawn])
        assert places.std(axis=0).max() > 0.25
        if key == "desired_goal" or plan.axes == ("x", "y"):
            assert plan.is_free(places).all()


@pytest.mark.parametrize("name", TASKS)
def test_reset_takes_a_start_and_a_goal(name: str, build: Any) -> None:
    env = build(name)
    start = (0.25, 0.0) if name.startswith("Cheetah") else (-0.5, 0.75)
    goal = (3.0, 0.9) if name.startswith("Cheetah") else (0.5, 0.5)
    observation, _ = env.reset(seed=0, options={"start": start, "goal": goal})
    assert observation["achieved_goal"].tolist() == list(start)
    assert observation["desired_goal"].tolist() == list(goal)
    for options, sentence in (
        ({"begin": start}, "unknown reset option 'begin'"),
        ({"goal": (1.0, 2.0, 3.0)}, "the goal must be two finite numbers"),
        ({"start": (math.nan, 0.0)}, "the start must be two finite numbers"),
        ({"goal": (500.0, 0.0)}, "in a wall or outside the map"),
    ):
        with pytest.raises(HessError, match=sentence):
            env.reset(options=options)


@pytest.mark.parametrize("name", TASKS)
def test_a_bad_action_is_named(name: str, build: Any) -> None:
    env = build(name)
    size = env.action_space.shape[0]
    with pytest.raises(HessError, match=r"step\(\) was called before reset\(\)"):
        env.unwrapped.step(np.zeros(size))
    env.reset(seed=0)
    for action, sentence in (
        (np.zeros(size + 1), rf"the shape \({size + 1},\), this task takes \({size},\)"),
        (np.zeros((1, size)), rf"the shape \(1, {size}\)"),
        (np.float32(0.5), r"the shape \(\)"),
        (np.full(size, np.nan), "is not finite"),
        (np.full(size, np.inf, np.float32), "is not finite"),
        (np.array(["left"] * size), "expected numbers"),
        (["left"] * size, "expected numbers"),
    ):
        with pytest.raises(HessError, match=sentence):
            env.step(action)
    env.step([0] * size)
    env.step(np.zeros(size, np.int64))


@pytest.mark.parametrize("name", TASKS)
def test_actions_beyond_the_bounds_are_clipped(name: str, build: Any) -> None:
    results = []
    for size in (1.0, 50.0):
        env = build(name)
        env.reset(seed=0)
        action = np.where(np.arange(env.action_space.shape[0]) % 2, size, -size)
        results.append(env.step(action)[0]["observation"].tobytes())
    assert results[0] == results[1]


@pytest.mark.parametrize("name", TASKS)
def test_what_analysis_needs_is_in_info(name: str, build: Any) -> None:
    env = build(name)
    observation, info = env.reset(seed=0)
    assert {"xy", "is_healthy", "is_success", "success"} <= set(info)
    assert tuple(observation["achieved_goal"]) == info["xy"]
    assert info["is_healthy"] is True
    assert ("block" in info) == name.startswith("AntPush")
    stepped = env.step(np.zeros(env.action_space.shape))[4]
    assert set(stepped) == set(info)


@pytest.mark.parametrize("name", ["AntMaze", "CheetahHurdle"])
def test_a_robot_on_its_back_is_not_healthy(name: str, build: Any) -> None:
    env = build(name).unwrapped
    env.reset(seed=0)
    if name == "AntMaze":
        env.data.qpos[3:7] = 0.0, 1.0, 0.0, 0.0
    else:
        env.data.qpos[2] = np.pi
    assert env._outcome()[4]["is_healthy"] is False


def test_a_broken_simulation_is_an_error_not_a_restart(
    build: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warning to MUJOCO_LOG.TXT where it runs
    env = build("AntMaze").unwrapped
    env.reset(seed=0)
    env.data.qvel[:] = 1e12
    with pytest.raises(HessError, match="the simulation of AntMaze diverged"):
        env.step(np.zeros(8))
    with pytest.raises(HessError, match="before reset"):
        env.step(np.zeros(8))
    env.reset(seed=0)
    env.step(np.zeros(8))
