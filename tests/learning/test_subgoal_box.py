"""Actions of the high level stand for subgoals, and subgoals for actions."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from hess.learning.subgoal_box import SubgoalBox, weighted_box

WEIGHTS = np.array([[0.8, 0.3], [0.3, 0.5]], np.float32)


def test_without_weights_it_is_r_g_to_all_sides() -> None:
    box = SubgoalBox(5.0)
    np.testing.assert_array_equal(box.offsets(np.array([1.0, -0.5])), [5.0, -2.5])
    np.testing.assert_array_equal(box.actions(np.array([50.0, -2.5])), [1.0, -0.5])


def test_actions_come_back() -> None:
    box = weighted_box(5.0, WEIGHTS)
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (100, 2)).astype(np.float32)
    np.testing.assert_allclose(box.offsets(actions)[0], 5.0 * actions[0] @ WEIGHTS, rtol=1e-6)
    np.testing.assert_allclose(box.actions(box.offsets(actions)), actions, atol=1e-5)
    device = box.actions(box.offsets(jnp.asarray(actions)))
    np.testing.assert_allclose(device, actions, atol=1e-5)


def test_what_lies_beyond_becomes_the_edge() -> None:
    box = weighted_box(5.0, np.diag([1.0, 0.3]).astype(np.float32))
    np.testing.assert_allclose(box.actions(np.array([2.5, 3.0])), [0.5, 1.0], rtol=1e-6)
