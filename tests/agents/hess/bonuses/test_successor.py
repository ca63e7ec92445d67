"""H-SR: the successor representation against its closed form on chains that fit on a page."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.agents.hess.bonuses.bonus import Segments
from hess.agents.hess.bonuses.successor import (
    Successor,
    SuccessorState,
    count_bonus,
    occupancy,
    successor_targets,
)
from hess.arrays import Floats
from hess.replay.sampling import Index
from tests.agents.tiny import SHAPE, linear, tiny_config

DISCOUNT = 0.5
STATES = 3


def chain(*, closed: bool) -> Segments:
    """0 → 1 → 2, and there it ends, or goes on at 0. States are one-hot, and so are features."""
    states = jnp.eye(STATES)
    zeros = jnp.zeros(STATES)
    ends = zeros if closed else zeros.at[-1].set(1.0)
    return Segments(
        place=Index(zeros, zeros),
        embeddings=states,
        actions=states,
        next_embeddings=jnp.roll(states, -1, axis=0),
        features=7.0 * states,  # their size must not matter
        terminated=ends,
    )


def closed_form(*, closed: bool) -> Floats:
    """Ψ = (I - γP)⁻¹."""
    transitions = np.roll(np.eye(STATES), 1, axis=1)
    if not closed:
        transitions[-1] = 0.0
    return np.linalg.inv(np.eye(STATES) - DISCOUNT * transitions)


@pytest.mark.parametrize("closed", [True, False])
def test_the_closed_form_is_the_fixed_point_of_the_targets(closed: bool) -> None:
    expected = closed_form(closed=closed)
    targets = successor_targets(linear(expected, np.zeros(STATES)), chain(closed=closed), DISCOUNT)
    np.testing.assert_allclose(targets, expected, rtol=1e-5)


def test_one_step_of_the_targets_by_hand() -> None:
    known = linear([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [4.0, 0.0, 6.0]], np.zeros(3))
    targets = successor_targets(known, chain(closed=False), DISCOUNT)
    np.testing.assert_allclose(targets, [[1.0, 1.0, 0.0], [2.0, 1.0, 3.0], [0.0, 0.0, 1.0]])


def test_the_bonus_by_hand() -> None:
    norms = count_bonus(jnp.asarray(closed_form(closed=False)))
    np.testing.assert_allclose(norms, [1 / 1.75, 1 / 1.5, 1.0], rtol=1e-6)
    # Nothing learned yet is no more novel than a state seen once.
    np.testing.assert_allclose(count_bonus(jnp.asarray([[0.0, 0.0], [0.1, -0.2]])), [1.0, 1.0])
    np.testing.assert_allclose(count_bonus(jnp.asarray([[3.0, -1.0]])), [0.25])


def test_features_are_shares() -> None:
    shares = occupancy(jnp.asarray([[1.0, 3.0], [-2.0, 2.0], [0.0, 0.0]]))
    np.testing.assert_allclose(shares, [[0.25, 0.75], [0.5, 0.5], [0.0, 0.0]])


@pytest.mark.parametrize("closed", [True, False])
def test_learning_arrives_at_the_closed_form(closed: bool) -> None:
    config = tiny_config(
        representation__hidden=(STATES,),
        intrinsic__hidden=(),
        intrinsic__learning_rate=1e-2,
        intrinsic__discount=DISCOUNT,
        intrinsic__target_rate=0.1,
        intrinsic__weight=2.0,
    )
    bonus, seen = Successor(config, SHAPE._replace(subgoal_dim=STATES)), chain(closed=closed)
    state = bonus.init(jax.random.key(0))
    assert not np.asarray(state.successor(seen.embeddings)).any(), "ψ starts at 0"
    state = jax.lax.fori_loop(0, 2_000, lambda _, state: bonus.update(state, seen), state)
    expected = closed_form(closed=closed)
    np.testing.assert_allclose(state.successor(seen.embeddings), expected, atol=0.01)
    # The reward is that of the state a segment led to.
    arrived = np.roll(2.0 / expected.sum(-1), -1)
    np.testing.assert_allclose(bonus.rewards(state, seen), arrived, rtol=0.02)


def test_on_a_closed_chain_all_states_end_up_alike() -> None:
    """What the paper says of H-SR: once everything was visited, nothing is novel."""
    expected = closed_form(closed=True)
    network = linear(expected, np.zeros(STATES))
    bonus = Successor(tiny_config(), SHAPE)
    state = SuccessorState(network, network, bonus.optimiser.init(network))
    rewards = bonus.rewards(state, chain(closed=True))
    np.testing.assert_allclose(rewards, 1.0 - DISCOUNT, rtol=1e-5)
