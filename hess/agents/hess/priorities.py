"""Which triplets φ learns from: draws with priority for those that fit badly (paper §3.1)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from hess.learning.kth_smallest import median
from hess.replay.sampling import Index

_EPSILON = 1e-12  # a triplet that fits exactly may still be drawn


class Priorities(NamedTuple):
    """Two-level inverse CDF: over slots, then over the triplets of a slot.

    One cumulative sum over a million triplets would lose the small ones to float32 rounding.
    """

    slots: Array  # [slots]
    triplets: Array  # [slots, T+1-c]


def make_priorities(losses: Array, valid: Array, kind: str) -> Priorities:
    """Sampling weights of all triplets: ∝ L_tri, the worse half, or all alike."""
    if kind == "loss":
        weights = jnp.where(valid, losses + _EPSILON, 0.0)
    elif kind == "rank":
        weights = jnp.where(valid & (losses >= median(losses, valid)), 1.0, 0.0)
    else:
        weights = valid.astype(jnp.float32)
    triplets = _cumulative(weights)
    return Priorities(_cumulative(triplets[:, -1]), triplets)


def _cumulative(weights: Array) -> Array:
    """Sums up to each place, constant exactly where the weight is 0. [..., n] -> [..., n].

    A parallel sum is rounded differently at every place; what it then gains over padding would
    be a chance to draw it.
    """
    sums = jnp.where(weights > 0, jnp.cumsum(weights, -1), 0.0)
    return jax.lax.cummax(sums, sums.ndim - 1)


def prioritised_index(priorities: Priorities, key: PRNGKeyArray, size: int) -> Index:
    """Triplets drawn with probability proportional to their weight."""
    slot_key, step_key = jax.random.split(key)
    slot_draw = _below(priorities.slots[-1], slot_key, (size,))
    slot = jnp.searchsorted(priorities.slots, slot_draw, side="right")
    step_draw = _below(priorities.triplets[slot, -1], step_key, (size,))
    return Index(slot, _first_beyond(priorities.triplets, slot, step_draw))


def _first_beyond(rows: Array, row: Array, value: Array) -> Array:
    """The first place in each value's row that holds more; the last place always does. -> [B].

    A binary search in place: `jnp.searchsorted` would copy the rows first.
    """

    def halve(_: int, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bounds
        middle = (low + high) // 2
        beyond = rows[row, middle] > value
        return jnp.where(beyond, low, middle + 1), jnp.where(beyond, middle, high)

    width = rows.shape[1]
    bounds = jnp.zeros_like(row), jnp.full_like(row, width - 1)
    low, _ = jax.lax.fori_loop(0, width.bit_length(), halve, bounds)
    return low


def _below(limit: Array, key: PRNGKeyArray, shape: tuple[int, ...]) -> Array:
    """Uniform in [0, limit), strictly: rounding may otherwise return the limit itself."""
    draw = jax.random.uniform(key, shape) * limit
    return jnp.minimum(draw, jnp.nextafter(limit, jnp.zeros_like(limit)))
