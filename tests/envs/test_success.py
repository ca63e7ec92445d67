"""What counts as success."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hess.envs.success import SuccessSignal, check_rule
from hess.errors import HessError


@pytest.mark.parametrize("value", [True, 1, 1.0, np.bool_(True), np.float32(1), np.array([1.0])])
@pytest.mark.parametrize("key", ["is_success", "success", "goal_achieved"])
def test_auto_finds_the_usual_keys(key: str, value: Any) -> None:
    signal = SuccessSignal("auto")
    assert not signal.is_settled
    assert signal(0.0, False, {"other": 1, key: value}) is True
    assert signal(0.0, False, {key: 0}) is False
    assert signal.key == key
    assert signal.description == f"info['{key}']"
    assert signal.missing() is None


def test_auto_prefers_is_success_and_then_success() -> None:
    signal = SuccessSignal("auto")
    assert not signal(0.0, False, {"goal_achieved": True, "success": True, "is_success": False})
    signal = SuccessSignal("auto")
    assert not signal(0.0, False, {"goal_achieved": True, "success": False})


def test_a_key_may_come_late_in_the_first_episode() -> None:
    signal = SuccessSignal("auto")
    assert not signal(1.0, False, {})
    assert signal(1.0, False, {"success": True})
    assert not signal(1.0, False, {}), "a step without the key is no success"


@pytest.mark.parametrize(
    ("rule", "steps", "expected"),
    [
        ("terminated", [(0.0, False), (9.0, True)], [False, True]),
        ("reward>=1", [(0.9, True), (1.0, False), (2.0, False)], [False, True, True]),
        ("reward>=-0.5", [(-0.6, False), (-0.5, False)], [False, True]),
    ],
)
def test_other_rules(rule: str, steps: list[tuple[float, bool]], expected: list[bool]) -> None:
    signal = SuccessSignal(rule)
    assert signal.is_settled
    assert [signal(*step, {"is_success": False}) for step in steps] == expected
    assert signal.missing() is None


def test_an_episode_without_a_word_is_answered_with_the_choices() -> None:
    signal = SuccessSignal("auto")
    signal(0.0, False, {"speed": 1.0, "height": 2.0})
    missing = signal.missing()
    assert missing is not None
    assert "info had height, speed, none of is_success, success, goal_achieved" in missing
    for choice in ("--success KEY", "--success terminated", "--success 'reward>=1'"):
        assert choice in missing


def test_a_mistyped_key_is_answered_with_the_closest() -> None:
    signal = SuccessSignal("reached_goal")
    signal(0.0, False, {"reach_goal": False, "speed": 1.0})
    assert "never put 'reached_goal' into info; did you mean 'reach_goal'?" in str(signal.missing())


@pytest.mark.parametrize("value", [0.37, "yes", np.zeros(3), None, np.nan])
def test_a_value_that_is_no_success_is_refused(value: Any) -> None:
    with pytest.raises(HessError, match=r"info\['success'\] is .*, not True or False"):
        SuccessSignal("auto")(0.0, False, {"success": value})


@pytest.mark.parametrize(
    "rule", ["", " success", "reward>1", "reward>=", "reward>=x", "reward>=inf"]
)
def test_what_can_be_no_rule_is_refused(rule: str) -> None:
    with pytest.raises(HessError, match="is impossible"):
        check_rule(rule)
