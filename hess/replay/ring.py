"""The replay: a ring of episodes on the device."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from numpy.typing import NDArray

from hess.replay.episode import Episode, EpisodeShape, empty_episode


class Replay(NamedTuple):
    """A ring of episodes on the device; `inserted` counts all episodes ever stored."""

    episodes: Episode  # every array with a leading axis of ring slots
    inserted: Array  # []

    @property
    def slots(self) -> int:
        """Episodes that the ring holds when full."""
        return int(self.episodes.length.shape[0])

    @property
    def stored(self) -> Array:
        """Episodes in the ring now."""
        return jnp.minimum(self.inserted, self.slots)


def empty_replay(shape: EpisodeShape, capacity: int) -> Replay:
    """A ring for `capacity` environment steps, allocated once."""
    slots = capacity // shape.horizon
    episodes = jax.tree.map(
        lambda leaf: jnp.zeros((slots, *leaf.shape), leaf.dtype), empty_episode(shape)
    )
    return Replay(episodes, jnp.zeros((), jnp.int32))


@partial(jax.jit, donate_argnums=0)
def insert(replay: Replay, episode: Episode) -> Replay:
    """Store an episode in place of the oldest one once the ring is full."""
    slot = replay.inserted % replay.slots
    episodes = jax.tree.map(
        lambda ring, new: jax.lax.dynamic_update_index_in_dim(ring, new, slot, 0),
        replay.episodes,
        episode,
    )
    return Replay(episodes, replay.inserted + 1)


def age_in_episodes(replay: Replay) -> Array:
    """0 for the newest episode, 1 for the one before; empty slots are negative. [slots]."""
    slots = jnp.arange(replay.slots)
    newest = (replay.inserted - 1) % replay.slots
    age = (newest - slots) % replay.slots
    return jnp.where(age < replay.inserted, age, -1)


@jax.jit
def take_episodes(episodes: Episode, slots: Array) -> Episode:
    """Some of the ring's episodes, in that order; compiled once per number of them."""
    return jax.tree.map(lambda ring: ring[slots], episodes)


def newest_slots(replay: Replay, most: int) -> NDArray[np.intp]:
    """Slots of the newest episodes, at most so many, on the host."""
    ages = np.asarray(age_in_episodes(replay))
    return np.flatnonzero((ages >= 0) & (ages < most))


def latest_episodes(replay: Replay, count: int) -> list[Episode]:
    """The newest episodes, oldest first, on the host."""
    inserted = int(replay.inserted)
    stored = min(inserted, count, replay.slots)
    slots = np.arange(inserted - count, inserted) % replay.slots  # of one size, however few exist
    taken = jax.tree.map(np.asarray, take_episodes(replay.episodes, slots))
    return [
        jax.tree.map(lambda stacked, place=place: stacked[place], taken)
        for place in range(count - stored, count)
    ]
