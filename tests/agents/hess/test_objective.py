"""Eq. 1 and 2 by hand and their gradients; which states get λ₀; how triplets are drawn."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.agents.hess.objective import norm, stability_loss, stability_weights, triplet_loss
from hess.agents.hess.priorities import make_priorities, prioritised_index
from hess.arrays import Floats
from hess.config import RepresentationConfig
from tests.agents.tiny import chi_square_probability
from tests.learning.gradients import assert_gradient

ANCHOR = jnp.array([1.0, 1.0])
NEXT = jnp.array([4.0, 5.0])  # 5 away, squares 9 and 16
NEAR = jnp.array([1.0, 2.0])  # 1 away, squares 0 and 1
FAR = jnp.array([1.0, 4.0])  # 3 away, squares 0 and 9


@pytest.mark.parametrize(
    ("kind", "margin", "distant", "expected"),
    [
        ("l2", 2.0, NEAR, 5.0 + (2.0 - 1.0)),
        ("l2", 2.0, FAR, 5.0),
        ("squared_mean", 1.0, NEAR, 12.5 + (1.0 - 0.5)),
        ("squared_mean", 1.0, FAR, 12.5),
    ],
)
def test_triplet_loss(kind: str, margin: float, distant: Any, expected: float) -> None:
    assert float(triplet_loss(ANCHOR, NEXT, distant, kind, margin)) == pytest.approx(expected)


def test_triplet_loss_is_per_triplet() -> None:
    anchors, nexts = (jnp.stack([point, point]) for point in (ANCHOR, NEXT))
    losses = triplet_loss(anchors, nexts, jnp.stack([NEAR, FAR]), "l2", 2.0)
    np.testing.assert_allclose(losses, [6.0, 5.0], rtol=1e-6)


@pytest.mark.parametrize(("kind", "margin"), [("l2", np.sqrt(2.0)), ("squared_mean", 1.0)])
def test_both_distances_ask_for_the_same_spacing(kind: str, margin: float) -> None:
    at_the_margin = ANCHOR + jnp.array([1.0, 1.0])
    closer, wider = (ANCHOR + scale * (at_the_margin - ANCHOR) for scale in (0.9, 1.1))
    loss = partial(triplet_loss, ANCHOR, ANCHOR, kind=kind, margin=margin)
    assert float(loss(closer)) > 0.01
    assert float(loss(wider)) == pytest.approx(0.0, abs=2e-6)


def test_stability_loss_is_the_weighted_mean_of_distances() -> None:
    new = jnp.array([[3.0, 4.0], [7.0, 7.0], [1.0, 0.0]])
    weights = jnp.array([0.1, 0.0, 0.1])
    assert float(stability_loss(new, jnp.zeros((3, 2)), weights)) == pytest.approx(0.6 / 3)


def test_norms_have_a_gradient_at_zero() -> None:
    assert jax.grad(norm)(jnp.zeros(2)).tolist() == [0, 0]


class TestGradients:
    """In double precision, against differences."""

    @pytest.fixture(autouse=True)
    def double_precision(self) -> Iterator[None]:
        with jax.enable_x64(True):
            yield

    @pytest.mark.parametrize(("kind", "margin"), [("l2", 2.0), ("squared_mean", 1.0)])
    @pytest.mark.parametrize("distant", [(1.0, 2.0), (1.0, 4.0)])
    def test_of_the_triplet_loss(
        self, kind: str, margin: float, distant: tuple[float, float]
    ) -> None:
        points = jnp.array([(1.0, 1.0), (4.0, 5.0), distant])
        assert_gradient(lambda p: triplet_loss(p[0], p[1], p[2], kind, margin), points)

    def test_of_the_stability_loss(self) -> None:
        old, weights = jnp.array([[0.5, 0.5], [1.0, 0.0]]), jnp.array([0.1, 0.2])
        assert_gradient(
            lambda new: stability_loss(new, old, weights), jnp.array([[3.0, 4.0], [1.5, 2.0]])
        )

    def test_of_the_triplet_loss_by_hand(self) -> None:
        points = jnp.array([(1.0, 1.0), (4.0, 5.0), (1.0, 2.0)])
        gradient = jax.grad(lambda p: triplet_loss(p[0], p[1], p[2], "l2", 2.0))(points)
        # Towards the neighbour with unit length, away from the distant state with unit length.
        expected = [[-0.6 + 0.0, -0.8 + 1.0], [0.6, 0.8], [0.0, -1.0]]
        np.testing.assert_allclose(gradient, expected, atol=1e-9)


LOSSES = jnp.array([[0.5, 0.1, 0.9, 0.0], [0.2, 0.8, 0.3, 0.01]])
VALID = jnp.array([[True, True, True, False], [True, True, True, False]])


def weights(**fields: Any) -> Floats:
    config = RepresentationConfig(stability_weight=0.1, **fields)
    return np.asarray(stability_weights(LOSSES, VALID, config))


def test_the_best_fitted_share_of_triplets_is_held() -> None:
    # Half of six: 0.1, 0.2 and 0.3. The smallest numbers of all are no triplets.
    held = weights(stable_fraction=0.5)
    np.testing.assert_allclose(held, [[0, 0.1, 0, 0], [0.1, 0, 0.1, 0]], rtol=1e-6)


@pytest.mark.parametrize(("share", "count"), [(0.0, 0), (0.1, 0), (0.2, 1), (0.4, 2), (1.0, 6)])
def test_the_number_of_held_triplets_is_rounded_down(share: float, count: int) -> None:
    assert (weights(stable_fraction=share) > 0).sum() == count


def test_on_many_triplets_exactly_the_smallest_are_held() -> None:
    rng = np.random.default_rng(0)
    losses, valid = rng.random((40, 50)), rng.random((40, 50)) < 0.7
    config = RepresentationConfig(stable_fraction=0.3)
    held = np.asarray(stability_weights(jnp.asarray(losses), jnp.asarray(valid), config)) > 0
    assert held.sum() == int(0.3 * valid.sum())
    assert not held[~valid].any()
    assert losses[held].max() < losses[valid & ~held].min()


def test_continuous_weights_fall_with_the_loss() -> None:
    expected = np.where(VALID, 0.1 / np.sqrt(1 + np.asarray(LOSSES)), 0.0)
    np.testing.assert_allclose(weights(stability="continuous"), expected, rtol=1e-6)


DRAWS = 20_000
# Three episodes with 4, 1 and 3 triplets, an empty slot, and one with 2; the rest is padding.
COUNTS = np.array([4, 1, 3, 0, 2])
DRAWN_VALID = np.arange(4) < COUNTS[:, None]
DRAWN_LOSSES = np.array(
    [
        [1.0, 2.0, 3.0, 4.0],
        [8.0, 99.0, 99.0, 99.0],
        [0.5, 0.5, 6.0, 99.0],
        [99.0, 99.0, 99.0, 99.0],
        [5.0, 0.01, 99.0, 99.0],
    ]
)
WEIGHTS = {
    "loss": np.where(DRAWN_VALID, DRAWN_LOSSES, 0),
    # Ten triplets with the median 2.5: the five above it.
    "rank": (DRAWN_VALID & (DRAWN_LOSSES > 2.5)).astype(float),
    "uniform": DRAWN_VALID.astype(float),
}


@pytest.fixture(scope="module")
def frequencies() -> dict[str, Floats]:
    """How often each triplet was drawn, for every kind of priority."""

    @partial(jax.jit, static_argnums=0)
    def draw(kind: str) -> Any:
        priorities = make_priorities(jnp.asarray(DRAWN_LOSSES), jnp.asarray(DRAWN_VALID), kind)
        return prioritised_index(priorities, jax.random.key(7), DRAWS)

    counted: dict[str, Floats] = {}
    for kind in WEIGHTS:
        slot, step = map(np.asarray, draw(kind))
        assert slot.min() >= 0
        assert step.min() >= 0
        counted[kind] = np.zeros(DRAWN_LOSSES.shape)
        np.add.at(counted[kind], (slot, step), 1)
    return counted


@pytest.mark.parametrize("kind", WEIGHTS)
def test_triplets_are_drawn_in_proportion_to_their_priority(
    frequencies: dict[str, Floats], kind: str
) -> None:
    expected = DRAWS * WEIGHTS[kind] / WEIGHTS[kind].sum()
    assert chi_square_probability(frequencies[kind].ravel(), expected.ravel()) > 1e-3


def test_the_kinds_of_priority_can_be_told_apart(frequencies: dict[str, Floats]) -> None:
    uniform = DRAWS * WEIGHTS["uniform"] / WEIGHTS["uniform"].sum()
    assert chi_square_probability(frequencies["loss"].ravel(), uniform.ravel()) < 1e-6
    assert chi_square_probability(frequencies["rank"].ravel(), uniform.ravel()) < 1e-6


@pytest.mark.parametrize("kind", WEIGHTS)
def test_rounding_gives_no_probability_to_what_is_no_triplet(kind: str) -> None:
    """Sums of many numbers are rounded differently at different places, also over zeros."""
    rng = np.random.default_rng(0)
    losses, counts = rng.random((400, 300)), rng.integers(0, 300, 400)
    counts[-3:] = 0
    valid = np.arange(300) < counts[:, None]
    priorities = make_priorities(jnp.asarray(losses, jnp.float32), jnp.asarray(valid), kind)
    within = np.diff(np.asarray(priorities.triplets), axis=1, prepend=0)
    between = np.diff(np.asarray(priorities.slots), prepend=0)
    assert not within[~valid].any()
    assert not between[counts == 0].any()
    assert within.min() >= 0
    assert between.min() >= 0
