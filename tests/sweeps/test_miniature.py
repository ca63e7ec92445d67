"""Miniatures: shorter in everything that is counted in steps or episodes, and in nothing else."""

from __future__ import annotations

import pytest

from hess.api import make_config
from hess.config import flat_fields, override
from hess.errors import HessError
from hess.sweeps.reproduction import miniature
from hess.training.validation import validate

CONFIG = make_config(
    "AntMaze",
    steps=1_000_000,
    capacity=1_000_000,
    representation__first_update=30,
    representation__interval=100,
    representation__minibatches=20_000,
    representation__refresh=2_500,
    exploration__success_window=20,
    exploration__novelty_interval=10,
    evaluation__interval=25_000,
    evaluation__episodes=10,
    record__checkpoint_interval=50_000,
    record__snapshot_interval=20_000,
)


def test_a_twentieth() -> None:
    assert miniature(CONFIG, 0.05) == {
        "steps": 50_000,
        "capacity": 50_000,
        "representation.first_update": 2,
        "representation.interval": 5,
        "representation.minibatches": 1_000,
        "representation.refresh": 125,
        "exploration.success_window": 5,
        "exploration.novelty_interval": 1,
        "evaluation.interval": 5_000,
        "evaluation.episodes": 10,
        "record.checkpoint_interval": 2_500,
        "record.snapshot_interval": 1_000,
    }


@pytest.mark.parametrize("scale", [1e-6, 0.001, 0.05, 0.5, 0.999])
def test_every_scale_can_be_trained_and_nothing_grows(scale: float) -> None:
    values = miniature(CONFIG, scale)
    small = override(CONFIG, values)
    validate(small, 500)
    before = flat_fields(CONFIG)
    assert all(values[name] <= before[name] for name in values)
    assert small.steps // small.evaluation.interval <= 40
    assert small.representation.first_update * 500 < small.steps


def test_the_whole_is_no_miniature() -> None:
    assert miniature(CONFIG, 1.0) == {}


def test_a_run_that_is_short_already_does_not_become_longer() -> None:
    short = make_config("AntMaze", steps=1_500)
    assert miniature(short, 0.5)["steps"] == 1_500


@pytest.mark.parametrize("scale", [0.0, -1.0, 1.5])
def test_impossible_scales(scale: float) -> None:
    with pytest.raises(HessError, match="must be above 0 and at most 1"):
        miniature(CONFIG, scale)
