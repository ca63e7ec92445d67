"""Every method learns a task that is easy for it: minutes in all, hence marked slow.

A corridor with the goal at its far end. Uniform actions reach it in a tenth of the episodes, so
there is a reward to learn from, whatever a method explores by.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hess
from hess.envs import register_maze
from hess.runs.folder import RunFolder
from hess.runs.logs import read_evaluations, read_metrics

HORIZON, RANDOM_EPISODES, LAST_EPISODES = 100, 30, 40
CORRIDOR = "#####\n#S.G#\n#####"

SMALL: dict[str, Any] = {
    "subgoal_interval": 10,
    "low__hidden": (64, 64),
    "high__hidden": (64, 64),
    "intrinsic__hidden": (64, 64),
    "representation__first_update": RANDOM_EPISODES,
    "representation__minibatches": 2_000,
    "representation__interval": 50,
    "evaluation__episodes": 20,
    "record__tensorboard": False,
}


@dataclass(frozen=True)
class Budget:
    """What a method may take, and fields that suit the small task."""

    steps: int = 12_000
    fields: dict[str, Any] = field(default_factory=dict)


# A new method is a row. Off-policy methods share a budget; others may need one of their own.
BUDGETS = {
    "hess": Budget(),
    # Its bonus is meant for large mazes; a hundred times as much would outweigh this task for long.
    "hess-reactive": Budget(
        fields={"intrinsic__novelty_weight": 10.0, "intrinsic__potential_weight": 0.1}
    ),
    "h-icm": Budget(),
    "h-sr": Budget(),
    "lesson": Budget(),
    "sac": Budget(steps=20_000),  # no subgoals to explore by: it is the slowest here
}


@pytest.mark.slow
@pytest.mark.parametrize("method", BUDGETS)
def test_it_learns(method: str, tmp_path: Path) -> None:
    budget = BUDGETS[method]
    fields = SMALL | {"evaluation__interval": budget.steps // 5} | budget.fields
    # Here and not at import: tests over all registered tasks would find it, or not, by their order.
    task = register_maze("LearningCorridor", CORRIDOR, "point", horizon=HORIZON)
    run = hess.train(task, method, seed=0, steps=budget.steps, runs=tmp_path, **fields)
    folder = RunFolder(run.path)
    episodes = [line["train/success"] for line in read_metrics(folder)]
    random, last = np.mean(episodes[:RANDOM_EPISODES]), np.mean(episodes[-LAST_EPISODES:])
    # All by success at any step; the last two evaluations are as many episodes. They show the mode
    # of the policy, which may stand still where samples of it reach the goal: both ways count.
    evaluated = np.mean(read_evaluations(folder)["success_rate"][-2:])
    assert random < 0.3, "the task would say nothing"
    assert (last + evaluated) / 2 > random + 0.4
