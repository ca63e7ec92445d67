"""The episode ring as a checkpoint sees it: numbered episodes, read in part, put back in order."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from hess.errors import HessError
from hess.replay import Episode, Replay
from hess.training.checkpoint import ReplaySource


def replay_source(replay: Replay, revision: int) -> ReplaySource:
    """The stored episodes by number, oldest first."""
    inserted = int(replay.inserted)

    def read(first: int, last: int) -> Episode:
        slots = np.arange(first, last) % replay.slots
        return jax.tree.map(lambda ring: np.asarray(ring)[slots], replay.episodes)

    return ReplaySource(max(0, inserted - replay.slots), inserted, revision, read)


def refill(replay: Replay, inserted: int, parts: Sequence[tuple[int, Episode]]) -> Replay:
    """A ring with the episodes of a checkpoint at the places they had."""
    rings = jax.tree.map(lambda ring: np.zeros(ring.shape, ring.dtype), replay.episodes)
    needed = set(range(max(0, inserted - replay.slots), inserted))
    for first, part in parts:
        numbers = np.arange(first, first + len(part.length))
        kept = np.isin(numbers, list(needed))
        slots = numbers[kept] % replay.slots
        for ring, stacked in zip(rings, part, strict=True):
            if stacked.shape[1:] != ring.shape[1:] or stacked.dtype != ring.dtype:
                raise HessError("the checkpoint's episodes do not fit the task or the config")
            ring[slots] = stacked[kept]
        needed -= set(numbers.tolist())
    if needed:
        raise HessError(f"the checkpoint lacks {len(needed)} of the stored episodes")
    return Replay(jax.tree.map(jnp.asarray, rings), jnp.asarray(inserted, jnp.int32))
