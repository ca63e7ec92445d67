"""What the high level asks of an intrinsic reward."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from hess.agents.hess.exploration.explorer import Explorer
from hess.config import Config
from hess.learning.inputs import HighView
from hess.learning.networks import MLP
from hess.learning.sac import Batch
from hess.learning.subgoal_box import SubgoalBox
from hess.replay.episode import Episode, EpisodeShape
from hess.replay.ring import Replay
from hess.replay.sampling import Index


class SubgoalSpace(NamedTuple):
    """φ, where subgoals lie in it and what the high level sees of a state, as they are now."""

    network: MLP
    box: SubgoalBox
    view: HighView = HighView()


class Segments(NamedTuple):
    """High-level transitions under φ as it is now, lengths in units of r_g."""

    place: Index  # where the replay has them
    embeddings: Array  # [B, d] φ(s_t)
    actions: Array  # [B, d] g - φ(s_t)
    next_embeddings: Array  # [B, d] φ(s_{t+c})
    features: Array  # [B, k] of s_t: what φ's last layer reads
    terminated: Array  # [B]


class Bonus(ABC):
    """An intrinsic reward. All that changes is in its state, a pytree of arrays.

    One of your own has `init` and `rewards`, and whatever it learns by.
    """

    def __init__(self, config: Config, shape: EpisodeShape):
        self.config = config.intrinsic

    @abstractmethod
    def init(self, key: PRNGKeyArray) -> Any:
        """The state at the start."""

    def refresh(self, state: Any, explorer: Explorer, network: MLP, replay: Replay) -> Any:
        """Once per round, on the host, before the high level learns."""
        return state

    def update(self, state: Any, segments: Segments) -> Any:
        """One step of learning, inside of a compiled loop."""
        return state

    @abstractmethod
    def rewards(self, state: Any, segments: Segments) -> Array:
        """The intrinsic reward of each segment, inside of a compiled loop. -> [B]."""


def see_segments(
    batch: Batch, episodes: Episode, place: Index, interval: int, space: SubgoalSpace
) -> Segments:
    """A batch of the high level, as φ sees it now."""
    network, radius = space.network, space.box.radius
    slot, start = place.slot, place.step * interval
    states = episodes.observations[slot, start]
    ends = jnp.minimum(start + interval, episodes.length[slot])
    next_states = episodes.observations[slot, ends]
    return Segments(
        place=place,
        embeddings=network(states) / radius,
        actions=batch.actions,
        next_embeddings=network(next_states) / radius,
        features=network.features(states),
        terminated=batch.terminated,
    )
