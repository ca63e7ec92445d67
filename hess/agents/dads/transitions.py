"""What skills and their dynamics learn from, read out of the episode ring.

A skill is stored where hierarchies store their subgoal: one per segment, in [-1, 1].
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from hess.agents.dads.dynamics import Moves, SkillDynamics, skill_reward
from hess.config import Config
from hess.learning.inputs import Scaling, scaled
from hess.learning.sac import Batch
from hess.replay.episode import Episode
from hess.replay.ring import Replay, age_in_episodes
from hess.replay.sampling import Index


def skill_input(scaling: Scaling, observations: Array, skills: Array) -> Array:
    """s ‖ z, s scaled. -> [B, obs + d]."""
    return jnp.concatenate([scaled(scaling, observations), skills], -1)


def moves_at(episodes: Episode, index: Index, space: str, interval: int) -> Moves:
    """Transitions in the space of the dynamics: whole observations, or x, y."""
    slot, step = index
    states = episodes.positions if space == "positions" else episodes.observations
    before, after = states[slot, step], states[slot, step + 1]
    return Moves(before, episodes.subgoals[slot, step // interval], after - before)


def skill_batch(
    episodes: Episode,
    index: Index,
    dynamics: SkillDynamics,
    config: Config,
    *,
    scaling: Scaling,
    key: PRNGKeyArray,
) -> Batch:
    """Steps under a skill, rewarded by the dynamics as they are now.

    The skill of a transition stays in the bootstrap, also across segment ends.
    """
    slot, step = index
    moves = moves_at(episodes, index, config.dads.space, config.subgoal_interval)
    count = config.dads.other_skills
    others = jax.random.uniform(key, (count, *moves.skills.shape), minval=-1.0, maxval=1.0)
    last = step + 1 == episodes.length[slot]
    return Batch(
        observations=skill_input(scaling, episodes.observations[slot, step], moves.skills),
        actions=episodes.actions[slot, step],
        rewards=skill_reward(dynamics, moves, others),
        next_observations=skill_input(scaling, episodes.observations[slot, step + 1], moves.skills),
        terminated=(last & episodes.terminated[slot]).astype(jnp.float32),
    )


def newest_counts(replay: Replay, counts: Array, window: int | Array) -> Array:
    """Cumulative counts of items in the newest `window` episodes, for `uniform_index`. [slots]."""
    age = age_in_episodes(replay)
    return jnp.cumsum(jnp.where((age >= 0) & (age < window), counts, 0))
