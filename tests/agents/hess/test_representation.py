"""φ's learner on a small replay: what it ranks, holds and minimises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.agents.hess.objective import Anchors, Objective, triplet_loss
from hess.agents.hess.random_episodes import RandomPolicy
from hess.agents.hess.representation import (
    Representation,
    RepresentationState,
    update_is_due,
)
from hess.agents.hess.rollouts import embed_replay
from hess.config import RepresentationConfig
from hess.errors import HessError
from hess.learning.networks import MLP
from hess.replay.ring import Replay
from hess.replay.sampling import Index
from tests.agents.tiny import INTERVAL, SHAPE, first_coordinates, network, play, stack, tiny_config
from tests.learning.gradients import assert_gradient

CONFIG = tiny_config().representation


@pytest.mark.parametrize(
    ("growth", "expected"),
    [(0.0, [30, 100, 200, 300]), (1.5, [30, 45, 68, 100, 150, 200, 300])],
)
def test_updates_come_more_often_while_there_are_few_episodes(
    growth: float, expected: list[int]
) -> None:
    config = RepresentationConfig(first_update=30, interval=100, growth=growth)
    assert [now for now in range(1, 350) if update_is_due(config, now - 1, now)] == expected


def test_a_round_of_several_episodes_makes_one_update() -> None:
    config = RepresentationConfig(first_update=30, interval=100, growth=1.5)
    rounds = [now for now in range(20, 220, 20) if update_is_due(config, now - 20, now)]
    assert rounds == [40, 60, 80, 100, 160, 200]


@pytest.fixture(scope="module")
def replay() -> Replay:
    """Four random episodes in a ring of ten, the third of them too short for a triplet."""
    policy = RandomPolicy(tiny_config())
    lengths = [20, 12, 4, 20]
    played = [play(policy, seed, length=length) for seed, length in enumerate(lengths)]
    return stack(played, slots=10)


@pytest.fixture(scope="module")
def learner() -> Representation:
    return Representation(CONFIG, SHAPE.observation_dim, SHAPE.subgoal_dim, INTERVAL)


def update(
    learner: Representation, state: RepresentationState, replay: Replay, seed: int
) -> tuple[RepresentationState, dict[str, float], list[float]]:
    shares: list[float] = []
    later, metrics = learner.update(
        state, replay, jax.random.key(seed), lambda _, share: shares.append(share)
    )
    return later, metrics, shares


@pytest.fixture(scope="module")
def history(
    learner: Representation, replay: Replay
) -> list[tuple[RepresentationState, dict[str, float], list[float]]]:
    """Two updates, after the state that began them."""
    state = learner.init(jax.random.key(0))
    first = update(learner, state, replay, 0)
    second = update(learner, first[0], replay, 1)
    return [(state, {}, []), first, second]


def with_updates(state: RepresentationState, updates: int) -> RepresentationState:
    changed: RepresentationState = eqx.tree_at(
        lambda each: each.updates, state, jnp.asarray(updates, jnp.int32)
    )
    return changed


def test_all_stored_states_are_embedded_and_empty_slots_are_not(replay: Replay) -> None:
    embeddings = np.asarray(embed_replay(first_coordinates(SHAPE.observation_dim), replay))
    assert embeddings.shape == (10, 21, 2)
    np.testing.assert_allclose(embeddings[:4], replay.episodes.observations[:4, :, :2], atol=1e-6)
    assert not embeddings[8:].any()


def test_embedding_works_in_blocks_also_where_they_do_not_divide_the_ring(replay: Replay) -> None:
    full = Replay(
        jax.tree.map(lambda leaf: jnp.concatenate([leaf[:4]] * 3)[:11], replay.episodes),
        jnp.asarray(11, jnp.int32),
    )
    embeddings = embed_replay(first_coordinates(SHAPE.observation_dim), full)
    np.testing.assert_allclose(embeddings, full.episodes.observations[..., :2], atol=1e-6)


def test_ranking_finds_old_embeddings_and_the_best_fitted_triplets(
    learner: Representation, replay: Replay
) -> None:
    state = with_updates(learner.init(jax.random.key(0)), 1)
    anchors = learner.rank(state, replay)
    embeddings = np.asarray(anchors.embeddings)
    np.testing.assert_allclose(embeddings[0], state.network(replay.episodes.observations[0]), 1e-4)
    here, there = embeddings[:, :-INTERVAL], embeddings[:, INTERVAL:]
    next_ = embeddings[:, 1 : 1 + here.shape[1]]
    # The default distance: mean of squares.
    table = ((here - next_) ** 2).mean(-1)
    table += np.maximum(0, CONFIG.margin - ((here - there) ** 2).mean(-1))
    losses = {
        (slot, step): table[slot, step]
        for slot, length in enumerate([20, 12, 4, 20])
        for step in range(length - INTERVAL + 1)
    }
    best = sorted(losses, key=lambda place: losses[place])[: int(0.3 * len(losses))]
    held = set(zip(*map(np.ndarray.tolist, np.nonzero(np.asarray(anchors.weights))), strict=True))
    assert len(losses) == 16 + 8 + 16
    assert held == set(best)


def test_nothing_is_held_in_the_first_update(learner: Representation, replay: Replay) -> None:
    anchors = learner.rank(learner.init(jax.random.key(0)), replay)
    assert not np.asarray(anchors.weights).any()


def test_the_stability_term_begins_with_the_second_update(
    history: list[tuple[RepresentationState, dict[str, float], list[float]]],
) -> None:
    (_, _, _), (_, first, _), (_, second, _) = history
    assert first["representation/stability_loss"] == 0.0
    assert second["representation/stability_loss"] > 0.0
    assert [int(state.updates) for state, _, _ in history] == [0, 1, 2]


def test_an_update_makes_all_its_minibatches_in_chunks(
    history: list[tuple[RepresentationState, dict[str, float], list[float]]],
) -> None:
    state, _, shares = history[1]
    assert int(state.optimiser[0].count) == CONFIG.minibatches == 20
    assert shares == pytest.approx([12 / 20, 1.0])


def test_learning_lowers_the_loss_and_spares_the_start(replay: Replay) -> None:
    config = RepresentationConfig(
        hidden=(16,), batch_size=16, learning_rate=1e-2, minibatches=200, refresh=100, margin=1.0
    )
    learner = Representation(config, SHAPE.observation_dim, SHAPE.subgoal_dim, INTERVAL)
    state = learner.init(jax.random.key(0))
    before = np.asarray(state.network.weights[0]).copy()
    later, metrics, _ = update(learner, state, replay, 0)
    assert np.array_equal(state.network.weights[0], before)

    def mean_loss(network: MLP) -> float:
        states = network(replay.episodes.observations[0])
        losses = triplet_loss(
            states[:16], states[1:17], states[INTERVAL:], config.distance, config.margin
        )
        return float(losses.mean())

    assert mean_loss(later.network) < 0.7 * mean_loss(state.network)
    assert metrics["representation/mean_triplet_loss"] > 0


def test_episodes_that_are_all_too_short_are_an_error_that_says_what_to_do(
    learner: Representation,
) -> None:
    short = stack([play(RandomPolicy(tiny_config()), seed, length=4) for seed in range(2)])
    state = learner.init(jax.random.key(0))
    sentence = r"longest episode had 4 steps; subgoal_interval=5 must not be more than that"
    with pytest.raises(HessError, match=sentence):
        update(learner, state, short, 0)


def test_the_same_key_gives_the_same_network(
    learner: Representation,
    replay: Replay,
    history: list[tuple[RepresentationState, dict[str, float], list[float]]],
) -> None:
    again = update(learner, history[0][0], replay, 0)[0]
    other = update(learner, history[0][0], replay, 5)[0]
    for first, second, third in zip(
        history[1][0].network.weights, again.network.weights, other.network.weights, strict=True
    ):
        assert np.array_equal(first, second)
        assert not np.array_equal(first, third)


class TestWholeLoss:
    """Eq. 3 in double precision."""

    @pytest.fixture(autouse=True)
    def double_precision(self) -> Iterator[None]:
        with jax.enable_x64(True):
            yield

    def test_its_gradient_agrees_with_differences(self, replay: Replay) -> None:
        config = RepresentationConfig(dim=2, hidden=(3,), distance="l2", margin=3.0)
        objective = Objective(config, INTERVAL)
        double = jnp.asarray(replay.episodes.observations, jnp.float64)
        drawn = Index(jnp.array([0, 3, 1]), jnp.array([2, 15, 7]))
        held = Index(jnp.array([3, 0, 0]), jnp.array([1, 9, 4]))
        anchors = Anchors(jnp.ones((10, 21, 2)), jnp.linspace(0, 1, 160).reshape(10, 16))
        phi = network([SHAPE.observation_dim, 3, 2])

        def loss(phi: MLP) -> Any:
            return objective.loss(phi, double, anchors, drawn, held)[0]

        assert_gradient(loss, phi)
        _, parts = objective.loss(phi, double, anchors, drawn, held)
        assert float(parts["triplet_loss"] + parts["stability_loss"]) == pytest.approx(
            float(loss(phi))
        )
        assert float(parts["stability_loss"]) > 0
