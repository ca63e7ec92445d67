"""A run of dads, stopped in both of its phases and resumed, against the same run in one go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np

import hess
from hess.runs.folder import RunFolder
from hess.runs.logs import read_metrics
from hess.training.trainer import Trainer
from tests.training.stub import tiny_run, train
from tests.training.toy_tasks import HORIZON

CONFIG = tiny_run(method="dads", steps=9 * HORIZON, record__snapshot_interval=3 * HORIZON)


def lines(path: Path) -> list[dict[str, Any]]:
    """metrics.jsonl, but for the clock."""
    return [
        {name: value for name, value in line.items() if not name.startswith("time/")}
        for line in read_metrics(RunFolder(path))
    ]


def everything(trainer: Trainer) -> list[Any]:
    state = trainer.agent.state()
    return [*(state[name] for name in sorted(state)), *jax.tree.leaves(trainer.agent.replay)]


def test_it_resumes_bit_for_bit(tmp_path: Path) -> None:
    whole, halved = tmp_path / "whole", tmp_path / "halved"
    one, _ = train(CONFIG, whole)
    for stop_at in (3 * HORIZON, 7 * HORIZON):
        _, watcher = train(CONFIG, halved, stop_at)
        assert watcher.rounds[-1][0] == stop_at
    two, _ = train(CONFIG, halved)

    found = lines(whole)
    assert [line["dads/controlling"] for line in found] == [0.0] * 5 + [1.0] * 4
    assert ["low/critic_loss" in line for line in found] == [False] * 2 + [True] * 3 + [False] * 4
    assert "high/critic_loss" in found[-1]
    assert found == lines(halved)
    assert (whole / "eval.csv").read_bytes() == (halved / "eval.csv").read_bytes()
    for first, second in zip(everything(one), everything(two), strict=True):
        assert np.array_equal(first, second)
    names = sorted(path.name for path in (whole / "snapshots").iterdir())
    assert names == [f"skills-{HORIZON * number:09d}.safetensors" for number in (3, 6, 9)]
    assert names == sorted(path.name for path in (halved / "snapshots").iterdir())

    agent = hess.load(halved)
    assert np.array_equal(agent.evaluate(2).success_rate, hess.load(whole).evaluate(2).success_rate)
