"""LSTM by hand, dilation memory by memory, and sums over the last steps."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.agents.fun.acting import HostLSTM
from hess.agents.fun.recurrent import LSTM, Memory, sum_of_last

DILATION = 3


@pytest.fixture(scope="module")
def cell() -> LSTM:
    return LSTM(2, 4, jax.random.key(3))


def sigmoid(x: float) -> float:
    return float(1 / (1 + np.exp(-x)))


def test_a_step_by_hand(cell: LSTM) -> None:
    weights = (
        jnp.array([[0.5, -1.0, 2.0, 1.5]]),
        jnp.array([[0.1, 0.2, -0.3, 0.4]]),
        jnp.array([0.0, 1.0, -0.5, 0.25]),
    )
    parts = (lambda each: (each.inputs, each.recurrent, each.bias), cell, weights)
    by_hand = eqx.tree_at(*parts)
    memory = by_hand.step(
        Memory(jnp.array([0.6]), jnp.array([-0.7])),
        jnp.array([2.0]) @ by_hand.inputs + by_hand.bias,
    )
    write, keep, read = sigmoid(1.0 + 0.06), sigmoid(-2.0 + 0.12 + 1.0), sigmoid(4 - 0.18 - 0.5)
    kept = keep * -0.7 + write * np.tanh(3.0 + 0.24 + 0.25)
    np.testing.assert_allclose(memory.cell, [kept], rtol=1e-5)
    np.testing.assert_allclose(memory.hidden, [read * np.tanh(kept)], rtol=1e-5)


def test_it_forgets_little_at_the_start(cell: LSTM) -> None:
    assert cell.bias.tolist() == [0.0] * 4 + [1.0] * 4 + [0.0] * 8


def test_step_t_uses_and_changes_memory_t_mod_r_alone(cell: LSTM) -> None:
    inputs = np.random.default_rng(0).normal(size=(8, 1, 2)).astype(np.float32)
    host = HostLSTM(cell)
    memories = np.zeros((DILATION, 2, 4), np.float32)
    outputs = []
    for step, values in enumerate(inputs[:, 0]):
        before = memories.copy()
        outputs.append(host.step(memories[step % DILATION], values).copy())
        changed = (memories != before).any((1, 2))
        assert changed.tolist() == [number == step % DILATION for number in range(DILATION)]
    dilated = cell.unroll_dilated(jnp.asarray(inputs), DILATION)[:, 0]
    np.testing.assert_allclose(dilated, outputs, atol=1e-6)
    assert not np.allclose(dilated[DILATION:], cell.unroll(jnp.asarray(inputs))[DILATION:, 0])


def test_an_input_reaches_the_outputs_of_its_own_memory_only(cell: LSTM) -> None:
    inputs = jnp.zeros((8, 1, 2))
    changed = inputs.at[1, 0].set(1.0)
    before, after = (cell.unroll_dilated(each, DILATION) for each in (inputs, changed))
    assert np.flatnonzero((before != after).any((1, 2))).tolist() == [1, 4, 7]


def test_the_sum_of_the_last_is_over_as_many_as_there_are() -> None:
    values = jnp.asarray([1.0, 2.0, 4.0, 8.0, 16.0])[:, None, None]
    assert sum_of_last(values, 3)[:, 0, 0].tolist() == [1, 3, 7, 14, 28]
    gradient = jax.grad(lambda each: sum_of_last(each, 3)[3].sum())(values)
    assert gradient[:, 0, 0].tolist() == [0, 1, 1, 1, 0]
