"""The loss of φ and its gradient by our own code, against automatic differentiation."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.agents.hess.representation import Anchors, Representation
from hess.bench.noise import noise_replay
from hess.config import RepresentationConfig
from hess.learning.networks import MLP
from hess.native import library
from hess.replay.episode import EpisodeShape
from hess.replay.ring import Replay
from hess.replay.sampling import Index

pytestmark = pytest.mark.skipif(
    not library.is_loaded(), reason=f"no code of our own here; {library.ADVICE}"
)

SLOTS, HORIZON, INTERVAL, OBSERVATION = 6, 20, 5, 7
BATCH = 13


@pytest.fixture(scope="module")
def replay() -> Replay:
    return noise_replay(EpisodeShape(HORIZON, OBSERVATION, 2, 2, 2, 4), SLOTS)


def learner(**settings: Any) -> Representation:
    return Representation(RepresentationConfig(**settings), OBSERVATION, INTERVAL)


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
@pytest.mark.parametrize("distance", ["l2", "squares"])
@pytest.mark.parametrize(("hidden", "dim"), [(3, 1), (16, 2), (33, 3), (100, 8)])
def test_loss_and_gradient(
    hidden: int, dim: int, distance: str, margin: float, replay: Replay
) -> None:
    phi = learner(hidden=(hidden,), dim=dim, distance=distance, margin=margin)
    network = MLP([OBSERVATION, hidden, dim], jax.random.key(1))
    arguments = network, replay, anchors(dim), drawn(1), drawn(2)
    gradient, metrics = jax.jit(phi._gradient)(*arguments)
    expected, losses = jax.grad(phi._loss, has_aux=True)(*arguments)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), gradient, expected)
    assert metrics.keys() == losses.keys()
    for name, value in losses.items():
        assert float(metrics[name]) == pytest.approx(float(value), rel=1e-5)


def program(phi: Representation, sizes: list[int], replay: Replay) -> str:
    network = MLP(sizes, jax.random.key(1))
    arguments = network, replay, anchors(sizes[-1]), drawn(1), drawn(2)
    return jax.jit(phi._gradient).lower(*arguments).as_text()


def test_only_networks_with_one_hidden_layer_are_ours(replay: Replay) -> None:
    assert "@hess_triplets(" in program(learner(hidden=(4,)), [OBSERVATION, 4, 2], replay)
    deep = program(learner(hidden=(4, 4)), [OBSERVATION, 4, 4, 2], replay)
    wide = program(learner(hidden=(4,), dim=9), [OBSERVATION, 4, 9], replay)
    assert "hess_triplets" not in deep + wide


def test_nothing_outside_of_the_replay_is_read(replay: Replay) -> None:
    phi, network = learner(hidden=(4,)), MLP([OBSERVATION, 4, 2], jax.random.key(1))
    beyond = Index(jnp.zeros(BATCH, jnp.int32), jnp.full(BATCH, HORIZON + 1 - INTERVAL))

    def triplet_loss() -> float:
        _, metrics = jax.jit(phi._gradient)(network, replay, anchors(2), beyond, drawn(1))
        return float(metrics["triplet_loss"])

    with pytest.raises(Exception, match="outside of the replay"):
        triplet_loss()


def test_not_a_number_shows_in_the_loss(replay: Replay) -> None:
    phi, network = learner(hidden=(4,)), MLP([OBSERVATION, 4, 2], jax.random.key(1))
    observations = replay.episodes.observations.at[:].set(jnp.nan)
    broken = replay._replace(episodes=replay.episodes._replace(observations=observations))
    _, metrics = jax.jit(phi._gradient)(network, broken, anchors(2), drawn(1), drawn(2))
    assert np.isnan(metrics["triplet_loss"])
