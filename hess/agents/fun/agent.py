"""FeUdal Networks: a manager that sets directions in a latent space, a worker that follows them.

Both learn on-policy from rounds of `num_envs` episodes; docs/methods.md says what differs from
their paper.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hess.agents.agent import BaseAgent, Progress
from hess.agents.fun.acting import FunPolicy
from hess.agents.fun.learner import FunLearner, FunState
from hess.agents.fun.networks import FunNetwork
from hess.agents.hess.snapshot_content import take_snapshot
from hess.arrays import Arrays, Floats
from hess.config import Config
from hess.errors import HessError
from hess.learning.inputs import Scaling, fold_scaling, no_scaling
from hess.learning.networks import MLP
from hess.replay.episode import Episode, EpisodeShape, segment_counts

_KEPT = 10  # episodes in the replay: for snapshots; nothing is learned from old ones
_NEIGHBOURS = 2_000  # states of a snapshot among which the nearest to a goal is looked for


class Fun(BaseAgent):
    """The agent."""

    learned = "learner"

    def __init__(self, config: Config, shape: EpisodeShape):
        if config.pipeline:
            raise HessError(
                f"pipeline=True is impossible with the method {config.method!r}, which learns from "
                "the episodes of its present policy only; it must be False"
            )
        super().__init__(
            config,
            shape,
            learners=None,
            inputs=shape.observation_dim + shape.goal_dim,
            capacity=min(config.capacity, _KEPT * shape.horizon),
        )
        self._learner = FunLearner(config.fun, shape, config.subgoal_interval)
        self.networks: FunState = self._learner.init(self._key)

    def policy(self, progress: float) -> FunPolicy:
        return self._policy(self.config.fun.random_goals)

    def evaluation_policy(self) -> FunPolicy:
        """With the manager's own goals, also where actions are drawn."""
        return self._policy(random_goals=0.0)

    def _policy(self, random_goals: float) -> FunPolicy:
        interval, network = self.config.subgoal_interval, self.networks.network
        return FunPolicy(network, self._scaling(), interval, random_goals)

    def _scaling(self) -> Scaling:
        """Of observation and goal: on-policy learning is sensitive to their size."""
        if not self.moments.count:
            return no_scaling(len(self.moments.mean))
        return self.moments.scaling(radius=1.0)

    def learn(self, episodes: Sequence[Episode], report: Progress) -> dict[str, float]:
        """Learn from a round, with the scaling it was collected with, and keep it to look at."""
        start = time.perf_counter()
        stacked = jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves)), *episodes)
        self.networks, values = self._learner.learn(self.networks, self._scaling(), stacked)
        metrics = {name: float(value) for name, value in values.items()}
        metrics["time/low"] = time.perf_counter() - start
        for episode in episodes:
            self.store(episode)
        interval = self.config.subgoal_interval
        active = [each.active[: segment_counts(int(each.length), interval)] for each in episodes]
        return metrics | {
            "train/recent_success": self.recent_success(),
            "exploration/active_share": float(np.concatenate(active).mean()),
        }

    def seen(self, episode: Episode) -> Floats:
        return np.concatenate([episode.observations, episode.goals], -1)

    def embed(self, observations: Floats) -> Floats:
        """Latent states s of observations. [n, obs] -> [n, d]."""
        return np.asarray(self._latent_network()(jnp.asarray(observations)))

    def _latent_network(self) -> MLP:
        return latent_network(self.networks.network, self._scaling())

    def snapshot(self) -> Arrays:
        if self.episodes == 0:
            return {}
        return take_snapshot(
            self._latent_network(),
            self.replay,
            None,
            self.key(),
            interval=self.config.subgoal_interval,
            neighbours=_NEIGHBOURS,
        )


def latent_network(network: FunNetwork, scaling: Scaling) -> MLP:
    """From raw observations to s as one perceptron, the form that snapshots have φ in.

    The scaling is folded into the first layer, and an identity follows the last rectifier.
    """
    inputs, space = network.perception.weights[0].shape[0], network.space
    perception = fold_scaling(
        Scaling(scaling.centre[:inputs], scaling.factor[:inputs]), network.perception
    )
    dim = space.biases[-1].shape[0]
    weights = [*perception.weights, *space.weights, jnp.eye(dim)]
    biases = [*perception.biases, *space.biases, jnp.zeros(dim)]
    made: MLP = eqx.tree_at(lambda each: (each.weights, each.biases), perception, (weights, biases))
    return made
