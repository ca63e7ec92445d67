"""The two things that are learned: skills with their dynamics, and control of the skills.

A skill is stored where hierarchies store their subgoal: one per segment, in [-1, 1].
"""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from hess.agents.dads.dynamics import (
    DynamicsLearner,
    DynamicsState,
    Moves,
    SkillDynamics,
    skill_reward,
)
from hess.config import Config
from hess.learning.inputs import HighView, Scaling, scaled
from hess.learning.sac import SAC, Batch, Metrics, SACState
from hess.learning.subgoal_box import SubgoalBox
from hess.learning.transitions import high_batch
from hess.replay.episode import Episode, EpisodeShape, segment_counts
from hess.replay.ring import Replay
from hess.replay.sampling import Index, newest_counts, uniform_index

_SCALE_SAMPLE = 2_048  # transitions from which the scales of the dynamics are measured


class Skills(eqx.Module):
    """What is learned without the task's reward."""

    low: SACState
    dynamics: DynamicsState


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
    """Steps under a skill, rewarded by the dynamics as they are now; networks see s ‖ z.

    The skill of a transition stays in the bootstrap, also across segment ends.
    """
    slot, step = index
    moves = moves_at(episodes, index, config.dads.space, config.subgoal_interval)
    count = config.dads.other_skills
    others = jax.random.uniform(key, (count, *moves.skills.shape), minval=-1.0, maxval=1.0)
    last = step + 1 == episodes.length[slot]
    before, after = (
        scaled(scaling, episodes.observations[slot, each]) for each in (step, step + 1)
    )
    return Batch(
        observations=jnp.concatenate([before, moves.skills], -1),
        actions=episodes.actions[slot, step],
        rewards=skill_reward(dynamics, moves, others),
        next_observations=jnp.concatenate([after, moves.skills], -1),
        terminated=(last & episodes.terminated[slot]).astype(jnp.float32),
    )


class SkillLearner:
    """SAC on (observation, skill), rewarded by dynamics that are learned beside it."""

    def __init__(self, config: Config, shape: EpisodeShape):
        self._config = config
        state_dim = 2 if config.dads.space == "positions" else shape.observation_dim
        self._low = SAC(config.low, shape.observation_dim + shape.subgoal_dim, shape.action_dim)
        self._dynamics = DynamicsLearner(config.dads, state_dim, shape.subgoal_dim)
        self.learn = jax.jit(self._updates, donate_argnums=0)

    def init(self, key: PRNGKeyArray) -> Skills:
        low_key, dynamics_key = jax.random.split(key)
        return Skills(self._low.init(low_key), self._dynamics.init(dynamics_key))

    def _updates(
        self,
        skills: Skills,
        replay: Replay,
        scaling: Scaling,
        key: PRNGKeyArray,
        updates: Sequence[Array],
    ) -> tuple[Skills, Metrics, Metrics]:
        """Fit the dynamics to the newest episodes, then the skills to the dynamics.

        `updates` counts those of the dynamics and those of the skills.
        """
        dynamics_updates, low_updates = updates
        config, interval = self._config.dads, self._config.subgoal_interval
        episodes = replay.episodes
        everything = jnp.cumsum(episodes.length)
        newest = newest_counts(replay, episodes.length, config.window)
        scale_key, dynamics_key, low_key, probe_key = jax.random.split(key, 4)

        def moves(key: PRNGKeyArray, size: int = config.batch_size) -> Moves:
            index = uniform_index(newest, key, size)
            return moves_at(episodes, index, config.space, interval)

        dynamics = self._dynamics.rescale(skills.dynamics, moves(scale_key, _SCALE_SAMPLE))
        dynamics, metrics = self._dynamics.learn(dynamics, moves, dynamics_key, dynamics_updates)

        def batch(key: PRNGKeyArray, cumulative: Array) -> Batch:
            index_key, others_key = jax.random.split(key)
            index = uniform_index(cumulative, index_key, self._config.low.batch_size)
            return skill_batch(
                episodes, index, dynamics.model, self._config, scaling=scaling, key=others_key
            )

        low, low_metrics = self._low.learn(
            skills.low, lambda key: batch(key, everything), low_key, low_updates
        )
        metrics["reward"] = batch(probe_key, newest).rewards.mean()
        return Skills(low, dynamics), low_metrics, metrics


class ControlLearner:
    """SAC over the skill space; a decision is a skill for c steps."""

    def __init__(self, config: Config, shape: EpisodeShape):
        self._config = config
        self._high = SAC(config.high, shape.observation_dim + shape.goal_dim, shape.subgoal_dim)
        self.learn = jax.jit(self._updates, donate_argnums=0)

    def init(self, key: PRNGKeyArray) -> SACState:
        return self._high.init(key)

    def _updates(
        self, state: SACState, replay: Replay, key: PRNGKeyArray, updates: Array, window: Array
    ) -> tuple[SACState, Metrics]:
        """Segments of the newest `window` episodes: earlier ones were made by other skills."""
        config, interval = self._config.high, self._config.subgoal_interval
        counts = segment_counts(replay.episodes.length, interval)
        cumulative = newest_counts(replay, counts, window)

        def sample(key: PRNGKeyArray) -> Batch:
            index = uniform_index(cumulative, key, config.batch_size)
            # Embeddings are 0 and r_g is 1: the high-level action is the skill itself.
            return high_batch(
                replay.episodes, index, config, interval, box=SubgoalBox(1.0), view=HighView()
            )

        return self._high.learn(state, sample, key, updates)
