"""Reactive exploration: HESS's own measures as a reward instead of a choice (paper §5.4)."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from hess.agents.hess.bonuses.bonus import Bonus, Segments
from hess.agents.hess.exploration.explorer import Explorer
from hess.agents.hess.rollouts import segment_ends
from hess.arrays import Floats
from hess.config import Config, IntrinsicConfig
from hess.learning.networks import MLP
from hess.replay.episode import EpisodeShape
from hess.replay.ring import Replay


def reactive_rewards(visits: Floats, potential: Floats, config: IntrinsicConfig) -> Floats:
    """η₁/√N + η₂/√-U; potential in units in which r_g is as configured. [n], [n] -> [n].

    Both terms are bounded by their weight: N < 1 is a cell without a visit, and -U < 1, also
    without data, is as good as reached where r_g is 20.
    """
    novel = config.novelty_weight / np.sqrt(np.maximum(visits, 1.0))
    promising = config.potential_weight / np.sqrt(np.maximum(-potential, 1.0))
    return novel + promising


class Reactive(Bonus):
    """The reward of where a segment ended, looked up in a table that is made once per round.

    The measures are sparse tables on the host; the compiled loop gets the reward of every stored
    segment instead.
    """

    def __init__(self, config: Config, shape: EpisodeShape):
        super().__init__(config, shape)
        self.interval = config.subgoal_interval
        self.table = (config.capacity // shape.horizon, shape.segments)

    def init(self, key: PRNGKeyArray) -> Array:
        """Empty: an agent that is loaded to act has a ring of another size."""
        return jnp.zeros((0, self.table[1]))

    def refresh(self, state: Array, explorer: Explorer, network: MLP, replay: Replay) -> Array:
        """r_i(s_{t+c}) of every stored segment under φ and the measures as they are now."""
        stored = int(replay.stored)
        ends = np.asarray(segment_ends(network, replay, self.interval))[:stored]
        rewards = np.zeros(self.table, np.float32)
        rewards[:stored] = reactive_rewards(
            explorer.measures.expected_visits(ends),
            explorer.measures.potential(ends) / explorer.unit,
            self.config,
        )
        return jnp.asarray(rewards)

    def rewards(self, state: Array, segments: Segments) -> Array:
        return state[segments.place.slot, segments.place.step]
