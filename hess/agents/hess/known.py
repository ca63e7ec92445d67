"""What φ tells of a state, and how much an update changes it."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from hess.agents.diagnostics import known_shares, position_fit
from hess.agents.hess.rollouts import sample_states
from hess.arrays import Arrays, Floats
from hess.learning.inputs import Moments
from hess.learning.networks import MLP
from hess.replay.ring import Replay

_FIXED = 1_000  # states of the random episodes on which φ's change is measured
_FRESH = 5_000  # drawn anew for what φ tells of a state


class Known:
    """Measured with every update of φ."""

    def __init__(self, observation_dim: int):
        self._shares: Floats = np.zeros(observation_dim)  # of each entry, what φ tells of it
        self._random_variance: Floats = np.zeros(observation_dim)  # before the first φ
        self._states = np.zeros((_FIXED, observation_dim), np.float32)

    def begin(self, network: MLP, replay: Replay, key: PRNGKeyArray, moments: Moments) -> None:
        """Before the first update: what random episodes have seen."""
        self._states = np.asarray(sample_states(network, replay, key, _FIXED).observations)
        self._random_variance = moments.variance

    def embed_random(self, network: MLP) -> Floats:
        """φ of the states of random episodes. -> [n, d]."""
        return np.asarray(network(jnp.asarray(self._states)))

    def measure(
        self, before: MLP, network: MLP, replay: Replay, key: PRNGKeyArray
    ) -> dict[str, float]:
        """What φ tells now, and how far it is from what it was before."""
        seen = sample_states(network, replay, key, _FRESH)
        embeddings = np.asarray(seen.embeddings)
        self._shares = known_shares(embeddings, np.asarray(seen.observations))
        old, new = self.embed_random(before), self.embed_random(network)
        return {
            **position_fit(embeddings, np.asarray(seen.positions)),
            "representation/change": float(np.linalg.norm(new - old, axis=-1).mean()),
            "representation/span": float(np.ptp(new, axis=0).max()),
        }

    def hidden(self, moments: Moments) -> Floats:
        """The share of every entry that φ tells and that came after the random episodes. [obs]."""
        return self._shares * moments.growth(self._random_variance)

    def state(self) -> Arrays:
        return {
            "probe_states": self._states,
            "known": self._shares,
            "random_variance": self._random_variance,
        }

    def restore(self, arrays: Arrays) -> None:
        self._states, self._shares = arrays["probe_states"], arrays["known"]
        self._random_variance = arrays["random_variance"]
