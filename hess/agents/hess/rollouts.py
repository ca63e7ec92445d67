"""What an agent reads back from its replay, embedded under φ as it is now."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from hess.agents.hess.exploration.graph import Boundaries
from hess.arrays import Floats
from hess.learning.inputs import HighView, high_input
from hess.learning.networks import MLP, gaussian, squashed_log_probability
from hess.replay.ring import Replay, age_in_episodes
from hess.replay.sampling import uniform_index

_BLOCK = 8  # episodes embedded at a time when the whole ring is
_RECENT = 100  # episodes that show how far segments lead now


@jax.jit
def embed_replay(network: MLP, replay: Replay) -> Array:
    """φ of every stored state, by blocks, so that an almost empty ring costs almost nothing."""
    observations = replay.episodes.observations
    slots, states, _ = observations.shape
    block = min(_BLOCK, slots)
    embeddings = jnp.zeros((slots, states, network.biases[-1].shape[0]))

    def body(index: Array, embeddings: Array) -> Array:
        # dynamic_slice clamps the last start, so a ragged last block overlaps the one before.
        part = jax.lax.dynamic_slice_in_dim(observations, index * block, block)
        return jax.lax.dynamic_update_slice_in_dim(embeddings, network(part), index * block, 0)

    return jax.lax.fori_loop(0, (replay.stored + block - 1) // block, body, embeddings)


class SampledStates(NamedTuple):
    """Stored states drawn uniformly."""

    observations: Array  # [n, obs]
    positions: Array  # [n, 2]
    embeddings: Array  # [n, d]
    steps: Array  # [n] within their episodes


class ViewedActor(NamedTuple):
    """The high level's policy and how it sees states."""

    actor: MLP
    view: HighView


@partial(jax.jit, static_argnums=3)
def sample_states(network: MLP, replay: Replay, key: PRNGKeyArray, size: int) -> SampledStates:
    """States drawn uniformly from everything stored."""
    cumulative = jnp.cumsum(replay.episodes.length)
    slot, step = uniform_index(cumulative, key, size)
    observations = replay.episodes.observations[slot, step]
    return SampledStates(
        observations, replay.episodes.positions[slot, step], network(observations), step
    )


def rollouts_at_boundaries(
    network: MLP, high: ViewedActor | None, replay: Replay, interval: int
) -> Boundaries:
    """Every stored rollout at its segment boundaries; ratios are 0 without a policy to compare."""
    rollouts = rollouts_in_parts(network, replay, interval, parts=1)
    if high is None:
        return rollouts
    stored, whole = rollouts.log_ratios.shape
    # A segment that was never begun has no action to compare.
    # The one of a shorter last segment leads to no boundary.
    begun = np.arange(whole) * interval < np.asarray(replay.episodes.length)[:stored, None]
    log_ratios = np.asarray(_log_ratios(network, high, replay, interval))[:stored, :whole]
    return rollouts._replace(log_ratios=np.where(begun, log_ratios, 0.0))


def rollouts_in_parts(network: MLP, replay: Replay, interval: int, parts: int) -> Boundaries:
    """Every stored rollout at several moments of each segment, without the high level's part."""
    stride = max(1, interval // parts)
    stored = int(replay.stored)
    strided, ages = _strided(network, replay, stride)
    embeddings = np.asarray(strided)[:stored]
    lengths = np.asarray(replay.episodes.length)[:stored]
    valid = np.arange(embeddings.shape[1]) * stride <= lengths[:, None]
    nothing = np.zeros((stored, embeddings.shape[1] - 1))
    return Boundaries(
        embeddings, valid, np.asarray(ages, np.float64)[:stored], nothing, stride / interval
    )


@partial(jax.jit, static_argnums=2)
def _strided(network: MLP, replay: Replay, stride: int) -> tuple[Array, Array]:
    return network(replay.episodes.observations[:, ::stride]), age_in_episodes(replay)


@partial(jax.jit, static_argnums=3)
def _log_ratios(network: MLP, high: ViewedActor, replay: Replay, interval: int) -> Array:
    """log π_new - log π_old of every stored high-level action. -> [slots, S]."""
    episodes = replay.episodes
    embeddings = network(episodes.observations[:, ::interval])
    starts = embeddings[:, : episodes.subgoals.shape[1]]
    memories = jnp.cumsum(starts, 1) / jnp.arange(1.0, starts.shape[1] + 1.0)[:, None]
    inputs = high_input(
        high.view, episodes.observations[:, :-1:interval], episodes.goals[:, :-1:interval], memories
    )
    inside = jnp.clip(episodes.high_actions, -1 + 1e-6, 1 - 1e-6)
    now = squashed_log_probability(*gaussian(high.actor, inputs), jnp.arctanh(inside))
    return now - episodes.log_probabilities


@partial(jax.jit, static_argnums=2)
def segment_ends(network: MLP, replay: Replay, interval: int) -> Array:
    """φ where each segment ended, c steps after its start or fewer. -> [slots, S, d]."""
    slots, segments = replay.episodes.active.shape
    lengths = replay.episodes.length[:, None]
    ends = jnp.minimum((jnp.arange(segments) + 1) * interval, lengths)
    return network(replay.episodes.observations[jnp.arange(slots)[:, None], ends])


def segment_changes(network: MLP, replay: Replay, interval: int) -> Floats:
    """Where φ moved in each whole segment of the newest episodes. -> [n, d]."""
    rollouts = rollouts_in_parts(network, replay, interval, parts=1)
    recent = rollouts.ages < _RECENT
    embeddings, valid = rollouts.embeddings[recent], rollouts.valid[recent]
    return np.diff(embeddings, axis=1)[valid[:, 1:]]


def stored_embeddings(network: MLP, replay: Replay) -> Floats:
    """φ of every stored state before its episode's last one. -> [n, d]."""
    stored = int(replay.stored)
    embeddings = np.asarray(embed_replay(network, replay))[:stored, :-1]
    lengths = np.asarray(replay.episodes.length)[:stored]
    return embeddings[np.arange(embeddings.shape[1]) < lengths[:, None]]
