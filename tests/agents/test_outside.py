"""Measures of somebody's own: one file that the package does not know, one registration."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import hess
from hess.agents.hess.exploration.explorer import Explorer
from hess.agents.hess.exploration.novelty import NOVELTIES, Immediate
from hess.agents.hess.exploration.potential import POTENTIALS
from hess.config import Config, override
from hess.errors import HessError
from hess.replay.ring import Replay
from hess.training.validation import validate
from tests.agents.hess.exploration.test_explorer import PHI, SEEING, episode, explorer
from tests.agents.tiny import SHAPE, stack

FILE = """
import numpy as np

import hess
from hess.agents.hess.exploration.novelty import Novelty
from hess.agents.hess.exploration.potential import Potential


class Leftmost(Novelty):
    follows_rollouts = True

    def __init__(self, config):
        super().__init__(config)
        self.rollouts = 0

    def expected_visits(self, visits, points):
        return 100.0 + points[..., 0]

    def refresh(self, visits, rollouts):
        self.rollouts = len(rollouts.embeddings)

    def state(self):
        return {"rollouts": np.asarray(self.rollouts)}

    def restore(self, arrays):
        self.rollouts = int(arrays["rollouts"])


class Last(Potential):
    distance = 0.0

    def record(self, places, selected, distances):
        self.distance = float(distances[-1]) if len(distances) else self.distance

    def at(self, places, points):
        return np.full(points.shape[:-1], -self.distance)


hess.register_novelty("leftmost", Leftmost)
hess.register_potential("last", Last)
"""
OWN: dict[str, Any] = {"exploration__novelty": "leftmost", "exploration__potential": "last"}


@pytest.fixture
def registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "leftmost_measure.py").write_text(FILE)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("leftmost_measure")
    yield
    del sys.modules["leftmost_measure"]
    del NOVELTIES["leftmost"]
    del POTENTIALS["last"]


@pytest.fixture(scope="module")
def replay() -> Replay:
    return stack([episode(), episode(length=10)], slots=4)


@pytest.mark.usefixtures("registered")
def test_it_rates_candidates_with_the_graph_that_all_have(replay: Replay) -> None:
    exploring = explorer(**OWN)
    exploring.fit_to_representation(PHI, replay, None)
    exploring.measures.record_outcomes(np.array([[2.5, 0.5]]), np.array([6.0]))
    exploring.refresh_novelty(PHI, SEEING, replay)
    pool = exploring.candidates(PHI, replay, jax.random.key(0))
    np.testing.assert_allclose(pool.novelty, (100 + pool.embeddings[:, 0]) / 30)
    assert pool.potential.tolist() == [-6.0] * len(pool.embeddings)
    assert pool.graph is not None
    assert pool.wear is not None
    middles = np.arange(21) + 0.5
    np.testing.assert_allclose(pool.wear(pool.graph, np.zeros(21)), (100 + middles) / 30)


@pytest.mark.usefixtures("registered")
def test_its_state_is_part_of_the_checkpoint(replay: Replay) -> None:
    exploring = explorer(**OWN)
    exploring.refresh_novelty(PHI, SEEING, replay)
    assert int(exploring.state()["measures.rollouts"]) == 2
    copy = Explorer(exploring.config, SHAPE.subgoal_dim)
    copy.restore(exploring.state())
    assert int(copy.state()["measures.rollouts"]) == 2


@pytest.mark.usefixtures("registered")
def test_a_config_may_name_it() -> None:
    validate(override(Config(), {"exploration.novelty": "leftmost"}), horizon=500)


@pytest.mark.parametrize("name", ["novelty", "potential"])
def test_a_name_that_nobody_registered_is_refused(name: str) -> None:
    with pytest.raises(HessError, match=rf"exploration.{name}=leftmost is impossible; it may be"):
        validate(override(Config(), {f"exploration.{name}": "leftmost"}), horizon=500)
    with pytest.raises(HessError, match=f"unknown {name} 'leftmost'"):
        explorer(**{f"exploration__{name}": "leftmost"})


@pytest.mark.usefixtures("registered")
def test_a_name_is_given_once() -> None:
    with pytest.raises(HessError, match="the novelty 'leftmost' exists already"):
        hess.register_novelty("leftmost", Immediate)
    hess.register_novelty("immediate", Immediate)  # the same again
    with pytest.raises(HessError, match="must be letters, digits and -"):
        hess.register_novelty("left most", Immediate)
