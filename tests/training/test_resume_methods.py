"""Every kind of learner, stopped and resumed, against the same run in one go: bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from hess.agents.methods import METHODS
from hess.config import Config
from hess.runs.folder import RunFolder
from hess.runs.logs import read_metrics
from hess.training.trainer import Trainer
from tests.training.kinds import LEARNERS
from tests.training.stub import tiny_run, train
from tests.training.toy_tasks import HORIZON

STEPS = 6 * HORIZON


def lines(path: Path) -> list[dict[str, float]]:
    """metrics.jsonl, but for the clock."""
    return [
        {name: value for name, value in line.items() if not name.startswith("time/")}
        for line in read_metrics(RunFolder(path))
    ]


def same_state(one: Trainer, two: Trainer) -> None:
    first, second = one.agent.state(), two.agent.state()
    assert first.keys() == second.keys()
    for name in first:
        assert np.array_equal(first[name], second[name]), name
    for ours, theirs in zip(stored(one), stored(two), strict=True):
        assert np.array_equal(ours, theirs)


def stored(trainer: Trainer) -> list[Any]:
    """The episodes in the ring; what lies in slots that are still empty means nothing."""
    replay = trainer.agent.replay
    return [np.asarray(leaf)[: int(replay.stored)] for leaf in jax.tree.leaves(replay.episodes)]


@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "hess"])
def test_a_resumed_run_is_the_same_run(name: str, tmp_path: Path) -> None:
    config: Config = METHODS[name].apply(tiny_run(steps=STEPS))
    whole, _ = train(config, tmp_path / "whole")
    train(config, tmp_path / "halved", stop_at=4 * HORIZON)
    halved, _ = train(config, tmp_path / "halved")
    assert lines(tmp_path / "whole") == lines(tmp_path / "halved")
    assert any("low/critic_loss" in line for line in lines(tmp_path / "whole")[:4])
    same_state(whole, halved)
