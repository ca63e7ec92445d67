"""Adding is as cheap as docs/extending.md promises: one file that the package has not seen each.

Novelties and potentials have their own tests, in tests/agents/test_outside.py.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import hess
from hess.agents.hess.bonuses import BONUSES
from hess.agents.methods import METHODS
from hess.analysis import figures
from hess.cli import main
from hess.errors import HessError
from hess.runs.folder import RunFolder
from hess.runs.logs import read_metrics
from tests.analysis.fakes import fake_run
from tests.training.stub import TINY, tiny_run, train
from tests.training.toy_tasks import HORIZON

Import = Callable[[str, str], ModuleType]

ABLATION = """
import hess

hess.register_method("own-calm", overrides={"exploration.probability": 0.3})
"""
METHOD = """
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

import hess


class Drift(NamedTuple):
    mean: np.ndarray

    def start(self, episode, rng):
        return DriftRollout(self.mean, rng)

    def start_evaluation(self, episode):
        return DriftRollout(self.mean, np.random.default_rng(0))


class DriftRollout(NamedTuple):
    mean: np.ndarray
    rng: np.random.Generator

    def act(self, step):
        return np.clip(self.mean + self.rng.normal(size=len(self.mean)), -1, 1).astype(np.float32)

    def finish(self, length):
        pass


class Drifting(hess.BaseAgent):
    \"\"\"Acts around the mean of all actions of solved episodes.\"\"\"

    def __init__(self, config, shape):
        super().__init__(config, shape)
        self.networks = {"mean": jnp.zeros(shape.action_dim)}

    def policy(self, progress):
        return Drift(np.asarray(self.networks["mean"]))

    def learn(self, episodes, report):
        for episode in episodes:
            self.store(episode)
            mean = episode.actions[: int(episode.length)].mean(0)
            self.networks = {"mean": 0.9 * self.networks["mean"] + 0.1 * jnp.asarray(mean)}
        return {"drift/size": float(jnp.abs(self.networks["mean"]).max())}


hess.register_method("own-drift", Drifting)
"""
BONUS = """
import jax.numpy as jnp

import hess


class Distance(hess.Bonus):
    \"\"\"Rewards segments by how far they lead; it counts its updates.\"\"\"

    def init(self, key):
        return jnp.zeros(())

    def update(self, state, segments):
        return state + 1

    def rewards(self, state, segments):
        return jnp.linalg.norm(segments.next_embeddings - segments.embeddings, axis=-1)


hess.register_bonus("own-distance", Distance)
"""
TASK = '''
import hess

hess.register_maze("OwnCorridor", """
######
#S..G#
######
""", robot="point", horizon=20)
'''
FIGURE = """
from hess.analysis import figures
from matplotlib.figure import Figure


def returns(run):
    figure = Figure()
    series = run.metrics["train/recent_success"]
    figure.subplots().plot(series.steps, series.values)
    return figure


figures.RUN_FIGURES["own-returns"] = returns
"""


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Import]:
    """Writes a module somewhere and imports it; what it registered is forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name: str, text: str) -> ModuleType:
        (tmp_path / f"{name}.py").write_text(text)
        return importlib.import_module(name)

    yield write
    for name in [name for name in METHODS if name.startswith("own-")]:
        del METHODS[name]
    for name in [name for name in BONUSES if name.startswith("own-")]:
        del BONUSES[name]
    figures.RUN_FIGURES.pop("own-returns", None)


def test_an_ablation_is_a_row(outside: Import) -> None:
    outside("own_ablation", ABLATION)
    assert METHODS["own-calm"].apply(tiny_run()).exploration.probability == 0.3


def test_a_method_is_a_class_and_a_registration(outside: Import, tmp_path: Path) -> None:
    outside("own_method", METHOD)
    config = tiny_run(method="own-drift", steps=4 * HORIZON)
    whole, _ = train(config, tmp_path / "whole")
    train(config, tmp_path / "halved", stop_at=2 * HORIZON)
    halved, _ = train(config, tmp_path / "halved")
    state, other = whole.agent.state(), halved.agent.state()
    assert state.keys() == other.keys()
    assert all(np.array_equal(state[name], other[name]) for name in state)
    assert float(np.abs(state["networks['mean']"]).max()) > 0


def test_a_bonus_is_a_class_and_a_registration(outside: Import, tmp_path: Path) -> None:
    outside("own_bonus", BONUS)
    config = tiny_run(
        method="hess",
        intrinsic__kind="own-distance",
        high__warmup="policy",
        exploration__probability=0.0,
    )
    trainer, _ = train(config, tmp_path / "run")
    assert float(trainer.agent.state()["networks.bonus"]) > 0
    logged = [
        line for line in read_metrics(RunFolder(tmp_path / "run")) if "intrinsic/mean" in line
    ]
    assert logged[-1]["intrinsic/mean"] > 0


def test_a_bonus_that_nobody_registered_is_refused(tmp_path: Path) -> None:
    sentence = "intrinsic.kind=own-distance is impossible; it may be none, reactive, prediction"
    with pytest.raises(HessError, match=sentence):
        hess.train(
            "PointMaze", runs=tmp_path, high__warmup="policy", intrinsic__kind="own-distance"
        )


def test_a_task_is_a_map_and_a_row(outside: Import, tmp_path: Path) -> None:
    outside("own_task", TASK)
    fields = TINY | {"task": "OwnCorridor", "method": "sac", "steps": 40}
    trainer, _ = train(
        tiny_run(**{name.replace(".", "__"): value for name, value in fields.items()}),
        tmp_path / "run",
    )
    assert trainer.agent.episodes == 2


def test_a_figure_is_a_function_and_a_row(outside: Import, tmp_path: Path) -> None:
    outside("own_figure", FIGURE)
    run = fake_run(tmp_path / "runs", seed=0, snapshots=0, episodes=4)
    assert main(["plot", str(run.path), "--out", str(tmp_path / "out")]) == 0
    drawn = tmp_path / "out" / "PointMaze-hess-seed-0" / "own-returns.png"
    assert drawn.read_bytes().startswith(b"\x89PNG")
