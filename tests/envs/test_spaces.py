"""Observations of all kinds as a row of numbers and a goal."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from hess.envs.spaces import Observer, observed_keys, real_numbers, usual_keys
from hess.errors import HessError


def box(*shape: int, dtype: Any = np.float64) -> spaces.Box:
    return spaces.Box(0, 100, shape, dtype)


GOALS: dict[str, spaces.Space[Any]] = {
    "observation": box(3),
    "achieved_goal": box(2),
    "desired_goal": box(2),
}


def goal_space(**more: spaces.Space[Any]) -> spaces.Dict:
    return spaces.Dict(GOALS | more)


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, np.uint8, np.int64, np.bool_]
)
def test_a_box_of_any_shape_and_real_dtype_is_flattened_by_rows(dtype: Any) -> None:
    observer = Observer(spaces.Box(0, 1, (2, 3), dtype))
    raw = np.array([[0, 1, 1], [1, 0, 1]], dtype)
    observation, goal, achieved = observer(raw)
    assert (observer.observation_dim, observer.goal_dim) == (6, 0)
    assert real_numbers(observation).tolist() == [0, 1, 1, 1, 0, 1]
    assert real_numbers(observation).dtype == np.float64
    assert goal.shape == (0,)
    assert achieved is None


def test_large_integers_do_not_wrap_around() -> None:
    values = real_numbers(np.array([200, 200], np.uint8))
    assert float(values @ values) == 80_000


@pytest.mark.parametrize("values", [np.array(["a"]), np.array([1j]), np.array([None])])
def test_what_is_no_real_number_is_refused(values: Any) -> None:
    with pytest.raises(TypeError, match="expected real numbers"):
        real_numbers(values)


def test_more_keys_come_after_the_observation_by_the_alphabet() -> None:
    space = goal_space(torque=box(1), camera=box(2, 2, dtype=np.uint8), gripper=spaces.Discrete(2))
    observer = Observer(space)
    assert observer.keys == ("observation", "camera", "gripper", "torque")
    raw = {
        "observation": np.array([1.0, 2.0, 3.0]),
        "achieved_goal": np.array([50.0, 60.0]),
        "desired_goal": np.array([70.0, 80.0]),
        "torque": np.array([9.0]),
        "camera": np.array([[4, 5], [6, 7]], np.uint8),
        "gripper": 1,
    }
    observation, goal, achieved = observer(raw)
    assert observation.tolist() == [1, 2, 3, 4, 5, 6, 7, 0, 1, 9]
    assert goal.tolist() == [70, 80]
    assert achieved is not None
    assert achieved.tolist() == [50, 60]
    assert observer.observation_dim == 10


def test_a_dict_without_goals_is_joined_by_the_alphabet() -> None:
    observer = Observer(spaces.Dict({"velocity": box(1), "position": box(2)}))
    observed = observer({"velocity": np.array([3.0]), "position": np.array([1.0, 2.0])})
    assert observed.observation.tolist() == [1, 2, 3]
    assert observer.goal_dim == 0


def test_goals_may_be_nested() -> None:
    tasks = spaces.Dict({"kettle": box(1), "burner": box(2)})
    space = spaces.Dict({"observation": box(1), "achieved_goal": tasks, "desired_goal": tasks})
    observer = Observer(space)
    goal = {"kettle": np.array([3.0]), "burner": np.array([1.0, 2.0])}
    raw = {"observation": np.zeros(1), "achieved_goal": goal, "desired_goal": goal}
    assert observer(raw).goal.tolist() == [1, 2, 3]
    assert observer.goal_dim == 3


def test_keys_can_be_chosen() -> None:
    observer = Observer(goal_space(), ["achieved_goal", "observation"])
    raw = {"observation": np.zeros(3), "achieved_goal": np.ones(2), "desired_goal": np.zeros(2)}
    assert observer(raw).observation.tolist() == [1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("space", "keys", "sentence"),
    [
        (
            goal_space(),
            ("observaton",),
            "unknown observation key 'observaton'; did you mean",
        ),
        (box(2), ("observation",), "names keys of a Dict, the observation is a Box"),
        (spaces.Text(3), (), "the observation is a Text; HESS reads Box spaces of real numbers"),
        (spaces.Dict({"a": spaces.Sequence(box(1))}), (), "a is a Sequence"),
        (spaces.Dict({"a": spaces.Dict({"b": spaces.Text(2)})}), (), "a.b is a Text"),
        (box(0), (), "the observation has no numbers"),
    ],
)
def test_what_cannot_be_read_is_named(space: Any, keys: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(HessError) as caught:
        Observer(space, keys)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("count", [1, 3])
def test_batches_are_told_from_single_observations(count: int) -> None:
    plain, picture, goals = Observer(box(3)), Observer(box(2, 2)), Observer(goal_space())
    assert not plain.is_batch(np.zeros(3))
    assert plain.is_batch(np.zeros((count, 3)))
    assert not picture.is_batch(np.zeros((2, 2)))
    assert picture.is_batch(np.zeros((count, 2, 2)))
    assert goals.is_batch({key: np.zeros((count, 2)) for key in GOALS})
    assert not goals.is_batch({key: np.zeros(2) for key in GOALS})


class Walker(gymnasium.Env[Any, Any]):
    """Starts at 0, 0 with everything else 0, too; may keep x, y out of its observation."""

    def __init__(self, shown: bool):
        self.shown, self.x = shown, 0.0
        self.observation_space = goal_space()
        self.action_space = spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, **_: Any) -> Any:
        self.x = 0.0
        return self._observe(), {}

    def step(self, action: Any) -> Any:
        self.x += 1.0
        return self._observe(), 0.0, self.x > 3, False, {}

    def _observe(self) -> Any:
        place = np.array([self.x, 2 * self.x])
        seen = np.append(place, 5.0) if self.shown else np.array([0.0, 0.0, self.x])
        return {"observation": seen, "achieved_goal": place, "desired_goal": np.ones(2)}


def test_an_achieved_goal_that_the_observation_lacks_is_added() -> None:
    assert observed_keys(Walker(shown=True)) == ("observation",)
    # At the start both are zeros everywhere; only moving tells.
    assert observed_keys(Walker(shown=False)) == ("observation", "achieved_goal")


def test_an_environment_may_say_itself_what_is_seen() -> None:
    env = Walker(shown=False)
    env.observation_keys = ("observation",)  # type: ignore[attr-defined]
    assert observed_keys(env) == ("observation",)
    assert usual_keys(box(2)) == ()
