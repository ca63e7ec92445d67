"""Draws from the ring: steps, segments or triplets of all episodes alike."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from hess.replay.ring import Replay, age_in_episodes


class Index(NamedTuple):
    """Positions in the ring: slot and step (or segment). Each [B]."""

    slot: Array
    step: Array


def uniform_index(cumulative: Array, key: PRNGKeyArray, size: int) -> Index:
    """Items drawn uniformly from all slots, however many each has; `cumulative` counts them."""
    draw = jax.random.randint(key, (size,), 0, cumulative[-1])
    slot = jnp.searchsorted(cumulative, draw, side="right")
    before = jnp.where(slot > 0, cumulative[slot - 1], 0)
    return Index(slot, draw - before)


def newest_counts(replay: Replay, counts: Array, window: int | Array) -> Array:
    """Cumulative counts of items in the newest `window` episodes, for `uniform_index`. [slots]."""
    age = age_in_episodes(replay)
    return jnp.cumsum(jnp.where((age >= 0) & (age < window), counts, 0))
