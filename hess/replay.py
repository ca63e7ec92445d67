"""Episodes: collected on the host, kept in a ring on the device, sampled for both levels.

An episode is stored once, with the embeddings, subgoals and actions as they were when it was
collected. The low level reads steps from it, the high level segments, φ triplets, and the
measures whole rollouts, so there is no second buffer that could disagree with the first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray


class EpisodeShape(NamedTuple):
    """The sizes that a task and a method fix."""

    horizon: int
    observation_dim: int
    goal_dim: int
    action_dim: int
    subgoal_dim: int
    segments: int


class Episode(NamedTuple):
    """One rollout, padded to the horizon T with S = ⌈T / c⌉ segments; NumPy or JAX arrays."""

    observations: Any  # [T+1, obs]
    goals: Any  # [T+1, goal]
    positions: Any  # [T+1, 2] x, y for analysis; only an x-y prior (dads) reads them
    embeddings: Any  # [T+1, d] φ(s) when the step was taken
    actions: Any  # [T, action]
    rewards: Any  # [T]
    successes: Any  # [T] goal reached at this step
    subgoals: Any  # [S, d] as handed to the low level
    selected: Any  # [S, d] before extension; equals subgoals where not active
    high_actions: Any  # [S, d] subgoal relative to φ(s), in units of r_g
    log_probabilities: Any  # [S] of the high-level policy for its action when it was taken
    active: Any  # [S] chosen by active exploration; a skill (dads): drawn at random to learn it
    length: Any  # [] steps taken
    terminated: Any  # [] ended by the task, not by the horizon
    embedded: Any  # [] collected with a φ; False: embeddings and subgoals are still to be filled in


def empty_episode(shape: EpisodeShape) -> Episode:
    """Zero-filled host arrays to collect into."""
    states, steps, segments = shape.horizon + 1, shape.horizon, shape.segments

    def zeros(*size: int) -> np.ndarray[Any, np.dtype[np.float32]]:
        return np.zeros(size, np.float32)

    return Episode(
        observations=zeros(states, shape.observation_dim),
        goals=zeros(states, shape.goal_dim),
        positions=zeros(states, 2),
        embeddings=zeros(states, shape.subgoal_dim),
        actions=zeros(steps, shape.action_dim),
        rewards=zeros(steps),
        successes=np.zeros(steps, np.bool_),
        subgoals=zeros(segments, shape.subgoal_dim),
        selected=zeros(segments, shape.subgoal_dim),
        high_actions=zeros(segments, shape.subgoal_dim),
        log_probabilities=zeros(segments),
        active=np.zeros(segments, np.bool_),
        length=np.zeros((), np.int32),
        terminated=np.zeros((), np.bool_),
        embedded=np.zeros((), np.bool_),
    )


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


def _insert(replay: Replay, episode: Episode) -> Replay:
    slot = replay.inserted % replay.slots
    episodes = jax.tree.map(
        lambda ring, new: jax.lax.dynamic_update_index_in_dim(ring, new, slot, 0),
        replay.episodes,
        episode,
    )
    return Replay(episodes, replay.inserted + 1)


insert = jax.jit(_insert, donate_argnums=0)
"""Store an episode in place of the oldest one once the ring is full."""


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


def segment_counts(lengths: Any, interval: int) -> Any:
    """Started segments per episode."""
    return (lengths + interval - 1) // interval


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
