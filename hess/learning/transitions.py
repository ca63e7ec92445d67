"""What each level learns from: transitions read out of the episode ring (paper §2)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from hess.config import HighConfig, LowConfig
from hess.learning.inputs import HighView, Scaling, high_input, low_input, measured, scaled
from hess.learning.sac import Batch
from hess.learning.subgoal_box import SubgoalBox
from hess.replay.episode import Episode
from hess.replay.sampling import Index


def low_reward(kind: str, offsets: Array, next_offsets: Array) -> Array:
    """-‖g - φ(s')‖, or how much closer φ(s') is to g than φ(s) was. 2 x [B, d] -> [B].

    offsets: g - φ(s), each direction by its weight.
    """
    after = jnp.linalg.norm(next_offsets, axis=-1)
    if kind == "distance":
        return -after
    return jnp.linalg.norm(offsets, axis=-1) - after


class LowView(NamedTuple):
    """How the low level sees states and subgoals, and where around φ(s) subgoals may lie."""

    scaling: Scaling
    box: SubgoalBox


def low_batch(
    episodes: Episode,
    index: Index,
    config: LowConfig,
    interval: int,
    *,
    view: LowView,
    key: PRNGKeyArray,
) -> Batch:
    """Low-level transitions; shares of them with a subgoal from their own future, or any.

    The subgoal of a transition stays its goal in the bootstrap, also across segment ends.
    """
    slot, step = index
    scaling, box = view
    embeddings, next_embeddings = (episodes.embeddings[slot, each] for each in (step, step + 1))
    states, next_states = (episodes.observations[slot, each] for each in (step, step + 1))
    share_key, offset_key, anywhere_key = jax.random.split(key, 3)
    share = jax.random.uniform(share_key, (*step.shape, 1))
    later = step + jax.random.randint(offset_key, step.shape, 1, interval + 1)
    reached = episodes.embeddings[slot, jnp.minimum(later, episodes.length[slot])]
    anywhere = jax.random.uniform(anywhere_key, embeddings.shape, minval=-1.0, maxval=1.0)
    subgoals = episodes.subgoals[slot, step // interval]
    kept = 1.0 - config.any_subgoal * (1.0 - config.hindsight)
    subgoals = jnp.where(share < config.hindsight, reached, subgoals)
    subgoals = jnp.where(share > kept, embeddings + box.offsets(anywhere), subgoals)
    last = step + 1 == episodes.length[slot]
    return Batch(
        observations=low_input(config, scaling, states, embeddings, subgoals),
        actions=episodes.actions[slot, step],
        rewards=low_reward(
            config.reward,
            measured(scaling, subgoals - embeddings),
            measured(scaling, subgoals - next_embeddings),
        ),
        next_observations=low_input(config, scaling, next_states, next_embeddings, subgoals),
        terminated=(last & episodes.terminated[slot]).astype(jnp.float32),
    )


def high_batch(
    episodes: Episode,
    index: Index,
    config: HighConfig,
    interval: int,
    *,
    box: SubgoalBox,
    view: HighView,
) -> Batch:
    """High-level transitions: from the start of a segment to its end, c steps or fewer later.

    The action is the subgoal relative to φ(s), in the box as it is now.
    """
    slot, segment = index
    start = segment * interval
    offsets = episodes.subgoals[slot, segment] - episodes.embeddings[slot, start]
    length = episodes.length[slot]
    end = jnp.minimum(start + interval, length)
    steps = start[:, None] + jnp.arange(interval)
    taken = steps < length[:, None]
    steps = jnp.minimum(steps, length[:, None] - 1)
    counted = taken
    terminated = (end == length) & episodes.terminated[slot]
    if config.stop_at_success:
        solved = taken & episodes.successes[slot[:, None], steps]
        solved_before = jnp.cumsum(solved, -1) - solved > 0
        counted = taken & ~solved_before
        terminated = terminated | solved.any(-1)
    rewards = jnp.where(counted, episodes.rewards[slot[:, None], steps], 0.0).sum(-1)
    memories, next_memories = _memories(episodes, index, interval, end, view)
    return Batch(
        observations=high_input(
            view, episodes.observations[slot, start], episodes.goals[slot, start], memories
        ),
        actions=box.actions(offsets),
        rewards=rewards,
        next_observations=high_input(
            view, episodes.observations[slot, end], episodes.goals[slot, end], next_memories
        ),
        terminated=terminated.astype(jnp.float32),
    )


def _memories(
    episodes: Episode, index: Index, interval: int, end: Array, view: HighView
) -> tuple[Array, Array] | tuple[None, None]:
    """The mean of φ at the starts of all segments so far, at a segment's start and at its end."""
    if not view.remembered:
        return None, None
    assert view.network is not None
    slot, segment = index
    number = jnp.arange(episodes.subgoals.shape[1])
    embeddings = view.network(episodes.observations[slot[:, None], number * interval])
    begun = (number <= segment[:, None])[..., None]
    total, count = jnp.where(begun, embeddings, 0.0).sum(1), segment[:, None] + 1.0
    after = total + view.network(episodes.observations[slot, end])
    return total / count, after / (count + 1.0)


def flat_batch(episodes: Episode, index: Index, stop_at_success: bool, scaling: Scaling) -> Batch:
    """Transitions of the task itself, for the flat baseline."""
    slot, step = index
    last = step + 1 == episodes.length[slot]
    terminated = last & episodes.terminated[slot]
    if stop_at_success:
        terminated = terminated | episodes.successes[slot, step]
    goals = episodes.goals
    before, after = (
        scaled(scaling, episodes.observations[slot, each]) for each in (step, step + 1)
    )
    return Batch(
        observations=jnp.concatenate([before, goals[slot, step]], -1),
        actions=episodes.actions[slot, step],
        rewards=episodes.rewards[slot, step],
        next_observations=jnp.concatenate([after, goals[slot, step + 1]], -1),
        terminated=terminated.astype(jnp.float32),
    )
