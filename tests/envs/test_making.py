"""Environments that cannot be made: one sentence with the name, what was raised and where."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from hess.envs import make
from hess.errors import HessError


class Base(gymnasium.Env[Any, Any]):
    """Takes a size, and passes nothing on."""

    observation_space = spaces.Box(0, 1, (2,), np.float64)
    action_space = spaces.Box(-1, 1, (1,), np.float32)

    def __init__(self, frame_skip: int = 1, render_mode: str | None = None):
        self.frame_skip = frame_skip


class Arm(Base):
    """Passes what it does not know on to its parent; fails in ways of its own."""

    def __init__(self, reward_type: str = "sparse", fail: str = "", **kwargs: Any):
        super().__init__(**kwargs)
        if fail == "assertion":
            raise AssertionError
        if fail == "long":
            raise RuntimeError("\x1b[33mfirst line\x1b[0m\nsecond line " + "x" * 1000)
        if fail == "exit":
            raise OSError("no such file: 'arm.xml'")
        if fail == "leave":
            raise SystemExit("no licence")
        if fail == "import":
            raise ImportError("no module named 'physics'")
        if fail == "dependency":
            raise gymnasium.error.DependencyNotInstalled("install 'physics' first")


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    gymnasium.register("users/Arm-v0", Arm, kwargs={"reward_type": "dense"})
    yield
    del gymnasium.registry["users/Arm-v0"]


def sentence_of(task: str, **kwargs: Any) -> str:
    with pytest.raises(HessError) as caught:
        make(task, **kwargs)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize(
    ("fail", "what"),
    [
        ("import", "ImportError ({file}, line {line}): no module named 'physics'"),
        ("assertion", "AssertionError ({file}, line {line}): raise AssertionError"),
        ("leave", "SystemExit ({file}, line {line}): no licence"),
        ("long", "RuntimeError ({file}, line {line}): first line"),
        ("exit", "OSError ({file}, line {line}): no such file: 'arm.xml'"),
    ],
)
def test_whatever_is_raised_is_named_with_its_place(fail: str, what: str) -> None:
    lines = Path(__file__).read_text().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if f'fail == "{fail}"' in text) + 1
    raised = what.format(file=Path(__file__).name, line=line)
    verb = "load" if fail == "import" else "build"
    expected = f"cannot {verb} the task 'users/Arm-v0': it raised {raised}"
    assert sentence_of("users/Arm-v0", fail=fail) == expected


def test_a_package_that_gymnasium_misses_is_named() -> None:
    sentence = sentence_of("users/Arm-v0", fail="dependency")
    assert sentence == "cannot load the task 'users/Arm-v0': install 'physics' first"


def test_a_module_that_is_missing_is_named() -> None:
    sentence = sentence_of("nowhere:Arm-v0")
    assert sentence.startswith("cannot load the task 'nowhere:Arm-v0': No module named 'nowhere'")


def test_what_a_module_imports_in_vain_is_named_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "robots_of_a_user.py").write_text("import math\n\nimport physics_of_a_user\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert sentence_of("robots_of_a_user:Arm-v0") == (
        "cannot load the task 'robots_of_a_user:Arm-v0': it raised ModuleNotFoundError "
        "(robots_of_a_user.py, line 3): No module named 'physics_of_a_user'"
    )


@pytest.mark.parametrize(
    ("argument", "closest"),
    [("reward_typ", "reward_type"), ("frameskip", "frame_skip"), ("fial", "fail")],
)
def test_an_unknown_argument_is_answered_with_the_closest(argument: str, closest: str) -> None:
    sentence = sentence_of("users/Arm-v0", **{argument: 3})
    assert f"unknown users/Arm-v0 argument '{argument}'; did you mean '{closest}'?" in sentence
    assert sentence.endswith("arguments: fail, frame_skip, reward_type")


def test_arguments_of_a_function_that_makes_it_are_known() -> None:
    def create(*, speed: float = 1.0) -> Base:
        return Base()

    creator: Any = create
    gymnasium.register("users/Made-v0", creator)
    try:
        assert "did you mean 'speed'?" in sentence_of("users/Made-v0", sped=2.0)
    finally:
        del gymnasium.registry["users/Made-v0"]


@pytest.mark.parametrize(
    ("task", "hint"),
    [
        ("users/Amr-v0", "did you mean 'users/Arm-v0'?"),
        ("gymnasium:Pendulun-v1", "did you mean 'gymnasium:Pendulum-v1'?"),
        ("gymnasium:Quadrocopter_Large-v3", "the module 'gymnasium' registers no such id"),
        ("Hoverboard-v9", "named together with it: gymnasium_robotics:PointMaze_UMaze-v3"),
    ],
)
def test_an_unknown_id_is_answered_with_the_closest_or_how_ids_are_named(
    task: str, hint: str
) -> None:
    sentence = sentence_of(task)
    assert sentence.startswith(f"unknown task '{task}'; ")
    assert hint in sentence
