"""Environments as the trainer sees them, and what it says about those that misbehave."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from hess.config import Config, override
from hess.envs.adapter import Task
from hess.errors import HessError
from tests.training.toy_tasks import FIELD, HORIZON, SLOPE, Field, Slope


@pytest.fixture
def broken() -> Any:
    """Registers an environment under a name that goes away again."""
    names: list[str] = []

    def make(kind: Any, horizon: int | None = 5) -> Task:
        names.append("HessTests/Broken-v0")
        gymnasium.register(
            names[-1], entry_point=kind, max_episode_steps=horizon, disable_env_checker=True
        )
        return Task(Config(task=names[-1]))

    yield make
    for name in names:
        del gymnasium.registry[name]


class Spaceless(gymnasium.Env[Any, Any]):
    """Forgot to declare what it gives and takes."""


def test_an_environment_without_spaces_is_a_sentence(broken: Any) -> None:
    expected = r"HESS cannot train on 'HessTests/Broken-v0': it raised AttributeError \(.*\): "
    with pytest.raises(HessError, match=expected):
        broken(Spaceless)


class Leaving(Slope):
    """Ends the whole program."""

    def reset(self, **_: Any) -> Any:
        raise SystemExit(3)


def test_an_environment_that_would_end_the_program_is_named(broken: Any) -> None:
    task = broken(Leaving)
    with pytest.raises(HessError, match=r"'HessTests/Broken-v0' reset raised SystemExit \(.*\): 3"):
        task.reset(0)
    task.close()


def test_a_goal_environment_has_observation_goal_and_position() -> None:
    task = Task(Config(task=FIELD))
    assert (task.observation_dim, task.goal_dim, task.action_dim) == (4, 2, 2)
    state = task.reset(seed=0)
    assert state.goal.tolist() == [1.5, 0.5]
    np.testing.assert_allclose(state.position, state.observation[:2])
    outcome = task.step(np.array([1.0, 0.0]), 0)
    np.testing.assert_allclose(outcome.state.position - state.position, [0.25, 0.0], atol=1e-5)
    assert outcome.healthy
    assert not outcome.terminated
    task.close()


def test_a_plain_environment_has_no_goal_and_its_first_numbers_are_its_position() -> None:
    task = Task(Config(task=SLOPE))
    assert (task.observation_dim, task.goal_dim, task.action_dim) == (3, 0, 1)
    state = task.reset(seed=0)
    assert state.goal.shape == (0,)
    np.testing.assert_allclose(state.position, state.observation[:2])
    task.close()


@pytest.mark.parametrize(("action", "push"), [(-1.0, -1.0), (0.0, 0.0), (1.0, 1.0)])
def test_actions_are_scaled_to_the_action_space(action: float, push: float) -> None:
    task = Task(Config(task=SLOPE))  # its actions lie in [0, 2], of which 1 does nothing
    task.reset(seed=0)
    outcome = task.step(np.array([action]), 0)
    assert outcome.state.observation[2] == pytest.approx(push)
    task.close()


def test_an_episode_depends_on_its_seed_alone() -> None:
    task = Task(Config(task=FIELD))
    first, other, again = (task.reset(seed).observation for seed in (3, 4, 3))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    task.close()


def test_success_is_what_the_environment_says() -> None:
    task = Task(Config(task=SLOPE))
    task.reset(seed=0)
    outcomes = []
    for step in range(HORIZON):
        outcomes.append(task.step(np.array([1.0]), step))
        if outcomes[-1].terminated:
            break
    assert [each.success for each in outcomes] == [False] * (len(outcomes) - 1) + [True]
    assert outcomes[-1].terminated
    assert not outcomes[-1].truncated
    assert outcomes[-1].reward == 1.0
    task.close()


def test_the_shape_follows_from_task_and_config() -> None:
    task = Task(Config(task=FIELD))
    shape = task.shape(override(Config(subgoal_interval=5), {"representation.dim": 5}))
    assert shape._asdict() == {
        "horizon": 20,
        "observation_dim": 4,
        "goal_dim": 2,
        "action_dim": 2,
        "subgoal_dim": 5,
        "segments": 4,
    }
    task.close()


def test_an_unknown_task_is_refused_with_the_closest_name() -> None:
    with pytest.raises(HessError, match="unknown task 'PointMase'; did you mean 'PointMaze'"):
        Task(Config(task="PointMase"))


def test_an_environment_without_a_horizon_is_refused(broken: Any) -> None:
    with pytest.raises(HessError, match="its horizon is unknown; give --horizon STEPS"):
        broken(Field, horizon=None)


def test_an_environment_with_discrete_actions_is_refused(broken: Any) -> None:
    class Buttons(Slope):
        def __init__(self) -> None:
            super().__init__()
            self.action_space = spaces.Discrete(2)  # type: ignore[assignment]

    with pytest.raises(HessError, match="its actions are a Discrete; HESS needs a Box"):
        broken(Buttons)


class Misbehaving(Slope):
    """Gives whatever `replies` says at each step."""

    reply: tuple[Any, ...] = ()

    def step(self, action: Any) -> Any:
        return self.reply


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        ((np.zeros(2), 0.0, False, False, {}), "gave an observation of 2 numbers .* of 3 and 0"),
        ((np.full(3, np.nan), 0.0, False, False, {}), "gave an observation that is not finite"),
        ((np.zeros(3), float("nan"), False, False, {}), "gave the reward nan"),
        ((np.zeros(3), 0.0), r"step raised ValueError \(\w+.py, line \d+\): "),
    ],
)
def test_bad_replies_are_named_with_the_step(
    broken: Any, monkeypatch: pytest.MonkeyPatch, reply: tuple[Any, ...], sentence: str
) -> None:
    monkeypatch.setattr(Misbehaving, "reply", reply)
    task = broken(Misbehaving)
    task.reset(0)
    with pytest.raises(HessError, match=f"'HessTests/Broken-v0' {sentence}.* at step 17"):
        task.step(np.zeros(1), 17)


def test_a_failing_reset_is_named(broken: Any) -> None:
    class Stuck(Slope):
        def reset(self, **_: Any) -> Any:
            raise RuntimeError("no power")

    task = broken(Stuck)
    with pytest.raises(
        HessError, match=r"reset raised RuntimeError \(test_adapter.py, line \d+\): no power at"
    ):
        task.reset(0)


def test_an_environment_that_cannot_be_closed_costs_no_run_its_end(broken: Any) -> None:
    class Jammed(Slope):
        def close(self) -> None:
            raise OSError("jammed")

    task = broken(Jammed)
    with pytest.warns(UserWarning, match=r"'HessTests/Broken-v0' close raised OSError .*: jammed"):
        task.close()


def test_a_success_that_is_none_is_named_with_the_step(
    broken: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = (np.zeros(3), 0.0, False, False, {"success": 0.4})
    monkeypatch.setattr(Misbehaving, "reply", reply)
    task = broken(Misbehaving)
    task.reset(0)
    with pytest.raises(HessError, match=r"info\['success'\] is 0.4, not True or .* at step 3"):
        task.step(np.zeros(1), 3)


def test_a_tuple_of_spaces_is_read_in_its_order(broken: Any) -> None:
    class Pair(Slope):
        def __init__(self) -> None:
            super().__init__()
            parts = (spaces.Discrete(3), spaces.Box(-1, 1, (2,), np.float32))
            self.observation_space = spaces.Tuple(parts)  # type: ignore[assignment]

        def reset(self, **_: Any) -> Any:
            return (2, np.array([0.5, -0.5], np.float32)), {}

    task = broken(Pair)
    assert task.reset(0).observation.tolist() == [0, 0, 1, 0.5, -0.5]
    task.close()
