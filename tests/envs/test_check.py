from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from hess.config import Config, override
from hess.envs import TASKS
from hess.envs.check import can_train, check_env
from hess.errors import HessError
from hess.training import probe
from hess.training.probe import check_start


class PlainTask(gymnasium.Env[Any, Any]):
    """A user's environment: a row of numbers and a success signal; options break it."""

    def __init__(self, fault: str = "") -> None:
        self.fault = fault
        shape = (2, 2) if fault == "shape" else (3,)
        self.observation_space = spaces.Box(-1, 1, shape, np.float64)
        bound = np.inf if fault == "unbounded" else 2.0
        self.action_space = spaces.Box(-bound, bound, (1,), np.float32)
        if fault == "discrete":
            self.action_space = spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if self.fault == "unseeded":
            self.np_random = np.random.default_rng()
        return self._values(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.fault == "crash":
            raise RuntimeError("the arm fell off")
        success: Any = 0.5 if self.fault == "half" else np.bool_(False)
        info = {} if self.fault == "silent" else {"is_success": success}
        return self._values(), math.nan if self.fault == "reward" else 0.0, False, False, info

    def _values(self) -> Any:
        shape = (4,) if self.fault == "liar" else self.observation_space.shape
        values = self.np_random.uniform(-1, 1, shape)
        return values * np.nan if self.fault == "nan" else values


class GoalTask(PlainTask):
    """A user's goal environment."""

    def __init__(self, fault: str = "") -> None:
        super().__init__(fault)
        box = spaces.Box(-1, 1, (3,), np.float64)
        keys = ["observation", "achieved_goal", "desired_goal"]
        if fault == "no goal":
            keys.pop()
        self.observation_space = spaces.Dict(dict.fromkeys(keys, box))
        if fault == "goal shapes":
            self.observation_space["desired_goal"] = spaces.Box(-1, 1, (2,), np.float64)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.is_over = False
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert not self.is_over, "the episode is over"
        self.is_over = self.fault == "short"
        values, reward, _, _, info = super().step(action)
        return values, reward, self.is_over, False, info

    def _values(self) -> Any:
        return {key: np.zeros(box.shape) for key, box in self.observation_space.items()}  # type: ignore[attr-defined]

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        if self.fault == "single only":
            return 0.0
        return np.zeros(np.shape(achieved_goal)[:-1]) + (self.fault == "other reward")


def plain(**kwargs: Any) -> PlainTask:
    return PlainTask(**kwargs)


def goal(**kwargs: Any) -> GoalTask:
    return GoalTask(**kwargs)


@pytest.fixture(autouse=True)
def users_envs() -> Iterator[None]:
    gymnasium.register("users/Plain-v0", plain, max_episode_steps=30)
    gymnasium.register("users/Endless-v0", plain)
    gymnasium.register("users/Goal-v0", goal, max_episode_steps=30)
    yield
    for name in ("Plain", "Endless", "Goal"):
        del gymnasium.registry[f"users/{name}-v0"]


@pytest.mark.parametrize("name", TASKS)
def test_our_tasks_pass(name: str) -> None:
    checks = check_env(Config(task=name))
    assert [check.name for check in checks if not check.ok] == []
    assert can_train(checks)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("task", ["users/Plain-v0", "users/Goal-v0"])
def test_a_users_env_passes(task: str) -> None:
    assert [check.sentence for check in check_env(Config(task=task)) if not check.ok] == []


def test_an_env_can_be_named_with_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "users_tasks.py").write_text(
        "from hess.envs import register_maze\n"
        "register_maze('FromAModule', '####\\n#SG#\\n####', robot='point')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert can_train(check_env(Config(task="users_tasks:hess/FromAModule-v0")))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("task", "fault", "name", "sentence"),
    [
        ("users/Plain-v0", "discrete", "action bounds", "its actions are a Discrete"),
        ("users/Plain-v0", "unbounded", "action bounds", "no finite bounds"),
        ("users/Endless-v0", "", "horizon", "unknown; give --horizon STEPS, or max_episode"),
        ("users/Plain-v0", "nan", "reset and step", "NaN or infinity"),
        ("users/Plain-v0", "reward", "reset and step", "gave the reward nan"),
        ("users/Plain-v0", "liar", "reset and step", "an observation of 4 numbers, declared are 3"),
        ("users/Plain-v0", "crash", "reset and step", "RuntimeError (test_check.py, line"),
        ("users/Plain-v0", "silent", "success signal", "never said whether it succeeded"),
        ("users/Plain-v0", "half", "success signal", "not True or False"),
    ],
)
def test_what_hess_could_not_train_on_is_named(
    task: str, fault: str, name: str, sentence: str
) -> None:
    checks = check_env(Config(task=task, env=arguments(fault)))
    assert not can_train(checks)
    failed = {check.name: check.sentence for check in checks if not check.ok}
    assert sentence in failed[name]
    assert "\n" not in failed[name]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("task", "fault", "name", "sentence"),
    [
        ("users/Plain-v0", "unseeded", "seeding", "differ"),
        ("users/Goal-v0", "single only", "compute_reward", "on a batch of 4 goals"),
        ("users/Goal-v0", "other reward", "compute_reward", "does not give the rewards"),
    ],
)
def test_what_hess_can_live_with_is_named(task: str, fault: str, name: str, sentence: str) -> None:
    checks = check_env(Config(task=task, env=(f"fault={fault}",)))
    assert can_train(checks)
    assert [sentence in check.sentence for check in checks if not check.ok] == [True]


def test_an_unknown_env_is_an_error() -> None:
    with pytest.raises(HessError, match="did you mean 'AntMaze'"):
        check_env(Config(task="AntMace"))


def arguments(fault: str) -> tuple[str, ...]:
    return ("disable_env_checker=True", *((f"fault={fault}",) if fault else ()))


def sentences(task: str, fault: str = "", **fields: Any) -> dict[str, str]:
    config: Config = override(Config(task=task, env=arguments(fault)), fields)
    checks = check_env(config)
    assert can_train(checks), [check for check in checks if not check.ok]
    return {check.name: check.sentence for check in checks}


def test_a_box_of_several_axes_is_flattened() -> None:
    said = sentences("users/Plain-v0", "shape")
    assert said["observation"] == "a Box, 4 numbers; no goal is observed; flattened from (2, 2)"


def test_a_dict_without_a_goal_is_read_key_by_key() -> None:
    said = sentences("users/Goal-v0", "no goal")
    assert said["observation"].startswith("a Dict: observation + achieved_goal, 6 numbers; no goal")


def test_what_success_is_and_how_long_an_episode_is_can_be_given() -> None:
    said = sentences("users/Plain-v0", "silent", success="reward>=2")
    assert said["success signal"] == "a step with a reward of 2 or more"
    said = sentences("users/Endless-v0", horizon=12)
    assert said["horizon"] == "12 steps"


def test_arguments_are_handed_on() -> None:
    assert not can_train(check_env(Config(task="users/Plain-v0", env=arguments("discrete"))))
    said = sentences("PointMaze", env=("success_radius=100.0", "reward=negative"))
    assert said["success signal"] == "info['is_success']"


def test_keys_can_be_chosen() -> None:
    said = sentences("users/Goal-v0", observe=("achieved_goal",))
    assert said["observation"].startswith("a goal env: achieved_goal, 3 numbers; goal 3 numbers")
    assert "observation will not be used" in said["observation"]


def test_episodes_of_one_step_are_no_fault_of_the_rewards() -> None:
    said = sentences("users/Goal-v0", "short")
    assert said["compute_reward"] == "agrees with step(), on single goals and on batches"


def test_the_size_of_the_subgoal_space_is_said() -> None:
    assert sentences("PointMaze")["subgoals"].startswith("φ will have 4 dimensions;")
    assert sentences("CheetahHurdle")["subgoals"].startswith("φ will have 8 dimensions;")
    one: dict[str, Any] = {"representation.dim": 1}
    assert sentences("PointMaze", **one)["subgoals"].startswith("φ will have 1 dimension;")


def test_the_memory_of_a_replay_is_said_and_more_than_there_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = Config(task="users/Plain-v0", env=arguments(""), subgoal_interval=10)
    assert check_start(config).sentence == "would start; its replay takes 0.0 GB when full"
    monkeypatch.setattr(probe, "machine_memory", lambda: 1_000_000)
    start = check_start(config)
    assert (start.ok, start.required) == (False, True)
    assert "this machine has 0; capacity may be 30 to " in start.sentence
