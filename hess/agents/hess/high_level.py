"""The high level's learner: SAC over segments, with an intrinsic reward if the method has one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from hess.agents.hess.bonuses import BONUSES
from hess.agents.hess.bonuses.bonus import Bonus, Segments, SubgoalSpace, see_segments
from hess.agents.hess.exploration.explorer import Explorer
from hess.config import Config
from hess.learning.inputs import high_input_dim
from hess.learning.networks import MLP
from hess.learning.sac import SAC, Batch, Metrics, SACState
from hess.learning.transitions import high_batch
from hess.replay.episode import Episode, EpisodeShape, segment_counts
from hess.replay.ring import Replay
from hess.replay.sampling import Index, uniform_index

_SEEN = 8  # batches over which the intrinsic reward's mean and variance are taken


class HighState(NamedTuple):
    """Everything that changes when the high level learns."""

    policy: SACState
    bonus: Any  # None without an intrinsic reward


class HighLevel:
    """Learns to set subgoals from the task's reward, plus the bonus of a baseline."""

    def __init__(self, config: Config, shape: EpisodeShape):
        self.config = config
        dim = shape.subgoal_dim
        inputs = high_input_dim(config.high, shape.observation_dim, dim, shape.goal_dim)
        self.sac = SAC(config.high, inputs, dim)
        kind = BONUSES[config.intrinsic.kind]  # none where the task's reward is all
        self.bonus: Bonus | None = None if kind is None else kind(config, shape)

    def init(self, key: PRNGKeyArray) -> HighState:
        bonus = None if self.bonus is None else self.bonus.init(jax.random.fold_in(key, 1))
        return HighState(self.sac.init(key), bonus)

    def refresh(
        self, state: HighState, explorer: Explorer, network: MLP, replay: Replay
    ) -> HighState:
        """What the bonus takes from the host, once per round."""
        if self.bonus is None:
            return state
        return state._replace(bonus=self.bonus.refresh(state.bonus, explorer, network, replay))

    def learn(
        self,
        state: HighState,
        replay: Replay,
        space: SubgoalSpace,
        key: PRNGKeyArray,
        updates: Array,
    ) -> tuple[HighState, Metrics]:
        """First the bonus, then the policy from rewards with the bonus as it is then."""
        draw, share = self._draws(replay, space), self.config.high.hindsight

        def relabel(batch: Batch, index: Index, key: PRNGKeyArray) -> Batch:
            if share == 0:
                return batch
            led = reached_offsets(replay.episodes, index, self.config.subgoal_interval, space)
            replaced = jax.random.uniform(jax.random.fold_in(key, 1), (len(led), 1)) < share
            return batch._replace(actions=jnp.where(replaced, led, batch.actions))

        if self.bonus is None:
            policy, metrics = self.sac.learn(
                state.policy, lambda key: relabel(*draw(key), key), key, updates
            )
            return HighState(policy, None), _named("high", metrics)
        bonus = self.bonus

        def see(key: PRNGKeyArray) -> tuple[Batch, Segments]:
            batch, index = draw(key)
            interval = self.config.subgoal_interval
            return batch, see_segments(batch, replay.episodes, index, interval, space)

        def sample(key: PRNGKeyArray) -> Batch:
            batch, segments = see(key)
            batch = batch._replace(rewards=batch.rewards + bonus.rewards(bonus_state, segments))
            return relabel(batch, segments.place, key)

        policy_key, bonus_key = jax.random.split(key)
        bonus_state, spread = _learn_bonus(bonus, state.bonus, see, bonus_key, updates)
        policy, metrics = self.sac.learn(state.policy, sample, policy_key, updates)
        return HighState(policy, bonus_state), _named("high", metrics) | spread

    def _draws(
        self, replay: Replay, space: SubgoalSpace
    ) -> Callable[[PRNGKeyArray], tuple[Batch, Index]]:
        """Batches of segments drawn uniformly, and where they are."""
        config, interval = self.config.high, self.config.subgoal_interval
        cumulative = jnp.cumsum(segment_counts(replay.episodes.length, interval))

        def draw(key: PRNGKeyArray) -> tuple[Batch, Index]:
            index = uniform_index(cumulative, key, config.batch_size)
            batch = high_batch(
                replay.episodes, index, config, interval, box=space.box, view=space.view
            )
            return batch, index

        return draw


def reached_offsets(episodes: Episode, index: Index, interval: int, space: SubgoalSpace) -> Array:
    """The subgoal that each segment reached, as an action. -> [B, d].

    A low level that has learned since would not do again what it did for the subgoal it was given,
    but it would still reach what it reached.
    """
    slot, start = index.slot, index.step * interval
    end = jnp.minimum(start + interval, episodes.length[slot])
    before, after = (space.network(episodes.observations[slot, step]) for step in (start, end))
    offsets: Array = space.box.actions(after - before)
    return offsets


def _learn_bonus(
    bonus: Bonus,
    state: Any,
    see: Callable[[PRNGKeyArray], tuple[Batch, Segments]],
    key: PRNGKeyArray,
    updates: Array,
) -> tuple[Any, Metrics]:
    """As many updates as the policy will make, then how the reward differs between segments."""

    def body(index: Array, state: Any) -> Any:
        return bonus.update(state, see(jax.random.fold_in(key, index))[1])

    state = jax.lax.fori_loop(0, updates, body, state)
    keys = jax.random.split(jax.random.fold_in(key, updates), _SEEN)
    rewards = jax.lax.map(lambda key: bonus.rewards(state, see(key)[1]), keys)
    return state, _named("intrinsic", {"mean": rewards.mean(), "variance": rewards.var()})


def _named(group: str, metrics: Metrics) -> Metrics:
    return {f"{group}/{name}": value for name, value in metrics.items()}
