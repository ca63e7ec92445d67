"""The loss of φ and its gradient by our own code, against automatic differentiation."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.agents.hess import objective
from hess.agents.hess.agent import Hess
from hess.agents.hess.objective import Anchors, Objective, check_gradient
from hess.agents.hess.objective import stability_loss as objective_stability_loss
from hess.agents.hess.objective import triplet_loss as objective_triplet_loss
from hess.bench.components import noise_replay
from hess.config import RepresentationConfig
from hess.errors import HessError
from hess.learning.networks import MLP
from hess.native import library, triplets
from hess.replay.episode import EpisodeShape
from hess.replay.ring import Replay
from hess.replay.sampling import Index
from tests.agents.tiny import SHAPE, play, tiny_config

pytestmark = pytest.mark.skipif(
    not library.is_loaded(), reason=f"no code of our own here; {library.ADVICE}"
)

SLOTS, HORIZON, INTERVAL, OBSERVATION = 6, 20, 5, 7
BATCH = 13


@pytest.fixture(scope="module")
def replay() -> Replay:
    return noise_replay(EpisodeShape(HORIZON, OBSERVATION, 2, 2, 2, 4), SLOTS)


def learner(**settings: Any) -> Objective:
    return Objective(RepresentationConfig(**settings), INTERVAL)


def anchors(dim: int) -> Anchors:
    rng = np.random.default_rng(dim)
    embeddings = rng.standard_normal((SLOTS, HORIZON + 1, dim))
    weights = rng.uniform(0, 1, (SLOTS, HORIZON + 1 - INTERVAL))
    return Anchors(*(jnp.asarray(each, jnp.float32) for each in (embeddings, weights)))


def drawn(seed: int) -> Index:
    rng = np.random.default_rng(seed)
    slots, steps = rng.integers(0, SLOTS, BATCH), rng.integers(0, HORIZON + 1 - INTERVAL, BATCH)
    steps[:2] = 0, HORIZON - INTERVAL  # the first and the last triplet of an episode
    return Index(jnp.asarray(slots), jnp.asarray(steps))


@pytest.mark.parametrize("margin", [0.5, 3.0])  # some triplets, or all, are too close
@pytest.mark.parametrize("distance", ["l2", "squared_mean"])
@pytest.mark.parametrize(("hidden", "dim"), [(3, 1), (16, 2), (33, 3), (100, 8)])
def test_loss_and_gradient(
    hidden: int, dim: int, distance: str, margin: float, replay: Replay
) -> None:
    phi = learner(hidden=(hidden,), dim=dim, distance=distance, margin=margin)
    network = MLP([OBSERVATION, hidden, dim], jax.random.key(1))
    arguments = network, replay.episodes.observations, anchors(dim), drawn(1), drawn(2)
    gradient, metrics = jax.jit(phi.gradient)(*arguments)
    expected, losses = jax.grad(phi.loss, has_aux=True)(*arguments)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), gradient, expected)
    assert metrics.keys() == losses.keys()
    for name, value in losses.items():
        assert float(metrics[name]) == pytest.approx(float(value), rel=1e-5)


def program(phi: Objective, sizes: list[int], replay: Replay) -> str:
    network = MLP(sizes, jax.random.key(1))
    arguments = network, replay.episodes.observations, anchors(sizes[-1]), drawn(1), drawn(2)
    return jax.jit(phi.gradient).lower(*arguments).as_text()


def test_only_known_distances_and_networks_with_one_hidden_layer_are_ours(replay: Replay) -> None:
    assert "@hess_triplets(" in program(learner(hidden=(4,)), [OBSERVATION, 4, 2], replay)
    deep = program(learner(hidden=(4, 4)), [OBSERVATION, 4, 4, 2], replay)
    wide = program(learner(hidden=(4,)), [OBSERVATION, 4, 9], replay)
    other = program(learner(hidden=(4,), distance="l1"), [OBSERVATION, 4, 2], replay)
    assert "hess_triplets" not in deep + wide + other


@pytest.mark.parametrize("distance", ["l2", "squared_mean"])
@pytest.mark.parametrize("margin", [0.01, 0.25, 30.0])
def test_a_run_that_starts_finds_both_alike(distance: str, margin: float) -> None:
    check_gradient(learner(distance=distance, margin=margin), OBSERVATION, 2)


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("triplet_loss", lambda *arguments: 1.01 * objective_triplet_loss(*arguments)),
        ("stability_loss", lambda *arguments: 1.01 * objective_stability_loss(*arguments)),
        ("separation", lambda kind, difference: jnp.abs(difference).sum(-1)),
    ],
)
def test_whoever_changes_one_of_both_alone_is_told_as_a_run_starts(
    name: str, changed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_gradient.cache_clear()
    monkeypatch.setattr(objective, name, changed)
    agent = Hess(tiny_config(), SHAPE)
    episode = play(agent.policy(0.0), seed=0)
    with pytest.raises(HessError, match=r"triplets.cc differs by .* change both alike, or leave"):
        agent.learn([episode], lambda what, share: None)


def test_without_compiled_code_there_is_nothing_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    check_gradient.cache_clear()
    monkeypatch.setattr(triplets, "is_loaded", lambda: False)
    monkeypatch.setattr(objective, "triplet_loss", lambda *arguments: 1 / 0)
    check_gradient(learner(), OBSERVATION, 2)


def test_nothing_outside_of_the_replay_is_read(replay: Replay) -> None:
    phi, network = learner(hidden=(4,)), MLP([OBSERVATION, 4, 2], jax.random.key(1))
    beyond = Index(jnp.zeros(BATCH, jnp.int32), jnp.full(BATCH, HORIZON + 1 - INTERVAL))

    def triplet_loss() -> float:
        _, metrics = jax.jit(phi.gradient)(
            network, replay.episodes.observations, anchors(2), beyond, drawn(1)
        )
        return float(metrics["triplet_loss"])

    with pytest.raises(Exception, match="outside of the replay"):
        triplet_loss()


def test_not_a_number_shows_in_the_loss(replay: Replay) -> None:
    phi, network = learner(hidden=(4,)), MLP([OBSERVATION, 4, 2], jax.random.key(1))
    broken = replay.episodes.observations.at[:].set(jnp.nan)
    _, metrics = jax.jit(phi.gradient)(network, broken, anchors(2), drawn(1), drawn(2))
    assert np.isnan(metrics["triplet_loss"])
