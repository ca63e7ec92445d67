"""The ring's episodes by number, as a checkpoint has them: read in part, put back in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hess.replay.episode import Episode
from hess.replay.ring import Replay, take_episodes

_BLOCK = 64  # episodes per transfer: one compiled program, however many are read


def stored_range(replay: Replay) -> tuple[int, int]:
    """The number of the oldest episode, and that of the next one to come."""
    inserted = int(replay.inserted)
    return max(0, inserted - replay.slots), inserted


def read_episodes(replay: Replay, first: int, last: int) -> Episode:
    """The episodes first..last-1, stacked on the host."""
    slots = np.arange(first, last) % replay.slots
    blocks = [
        _read_block(replay.episodes, slots[start : start + _BLOCK])
        for start in range(0, len(slots), _BLOCK)
    ]
    return Episode(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))


def _read_block(episodes: Episode, slots: np.ndarray[Any, Any]) -> Episode:
    """Only the episodes asked for leave the device, never the whole ring."""
    padded = np.pad(slots, (0, _BLOCK - len(slots)), mode="edge")
    return jax.tree.map(
        lambda ring: np.asarray(ring)[: len(slots)], take_episodes(episodes, padded)
    )


def refill(replay: Replay, inserted: int, parts: Sequence[tuple[int, Episode]]) -> Replay:
    """A ring with the episodes of a checkpoint at the places they had."""
    rings = jax.tree.map(lambda ring: np.zeros(ring.shape, ring.dtype), replay.episodes)
    for first, part in parts:
        numbers = np.arange(first, first + len(part.length))
        kept = numbers >= inserted - replay.slots
        for ring, stacked in zip(rings, part, strict=True):
            ring[numbers[kept] % replay.slots] = stacked[kept]
    return Replay(jax.tree.map(jnp.asarray, rings), jnp.asarray(inserted, jnp.int32))
