"""A config becomes a command, and the command the same config."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from hess.agents.methods import METHODS
from hess.api import make_config
from hess.cli import parse
from hess.cli.train import Train
from hess.runs.command import train_command

CHANGES: list[dict[str, Any]] = [
    {},
    {"seed": 7, "steps": 1_000},
    {"low__layer_norm": False, "exploration__recount": True, "pipeline": False},
    {"env": {"random_goal": True, "reward": "dense"}, "success": "reward>=1", "horizon": 250},
    {"env": {"maze_map": [[1, "r"]]}, "observe": ("observation", "achieved_goal")},
    {"low__hidden": (64, 32), "representation__distance": "l2", "low__hindsight": 0.5},
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_every_method_and_preset_is_named_without_further_flags(method: str, preset: str) -> None:
    config = make_config("AntMaze", method, preset)
    command = shlex.split(train_command(config))
    assert parse(Train, "hess train", command[2:]).config() == config
    assert not [flag for flag in command if "." in flag]


@pytest.mark.parametrize("fields", CHANGES)
def test_the_command_gives_the_config_back(fields: dict[str, Any]) -> None:
    config = make_config("PointMaze", "lesson", **fields)
    command = shlex.split(train_command(config))
    assert command[:3] == ["hess", "train", "PointMaze"]
    assert parse(Train, "hess train", command[2:]).config() == config
