"""Environments that the package does not know train with every method, by the same call."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hess
from hess.agents.methods import METHODS
from hess.runs.folder import RunFolder
from hess.runs.logs import read_evaluations, read_metrics
from tests.training.stub import TINY
from tests.training.toy_tasks import FIELD, HORIZON, SLOPE

# Every method on both. The second one is harder, it has no goals and its episodes end early; all
# its programs have shapes of their own, which take most of the time, so that HESS stands for the
# others there when there is no time.
CASES = [(name, FIELD) for name in METHODS] + [
    pytest.param(name, SLOPE, marks=[] if name == "hess" else [pytest.mark.slow])
    for name in METHODS
]


@pytest.mark.parametrize(("method", "task"), CASES)
def test_it_trains(method: str, task: str, tmp_path: Path) -> None:
    fixed = {"task", "method", "steps", *METHODS[method].overrides}
    fields = {name.replace(".", "__"): value for name, value in TINY.items() if name not in fixed}
    run = hess.train(task, method, runs=tmp_path, steps=5 * HORIZON, **fields)
    assert run.result.finished
    assert run.path == tmp_path / task.removesuffix("-v0").replace("/", "-") / method / "seed-0"
    folder = RunFolder(run.path)
    rows, lines = read_evaluations(folder), read_metrics(folder)
    assert rows["step"][0] == 0
    assert rows["step"][-1] == run.result.step
    assert any("low/critic_loss" in line for line in lines), "it never came to learning"
    assert all(np.isfinite(value) for line in lines for value in line.values())
    lengths = np.diff([0, *(line["step"] for line in lines)])
    together = METHODS[method].overrides.get("num_envs", 1)
    assert (lengths == together * HORIZON).all() == (task == FIELD)
