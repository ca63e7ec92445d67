"""The episode ring as a checkpoint sees it: numbered episodes, read in part, put back in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hess.replay.episode import Episode
from hess.replay.ring import Replay, take_episodes
from hess.runs.checkpoint import ReplaySource

_BLOCK = 64  # episodes per transfer: one compiled program, however many are read


def replay_source(replay: Replay, revision: int) -> ReplaySource:
    """The stored episodes by number, oldest first."""
    inserted = int(replay.inserted)

    def read(first: int, last: int) -> Episode:
        slots = np.arange(first, last) % replay.slots
        blocks = [
            _read_block(replay.episodes, slots[start : start + _BLOCK])
            for start in range(0, len(slots), _BLOCK)
        ]
        return Episode(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))

    return ReplaySource(max(0, inserted - replay.slots), inserted, revision, read)


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
