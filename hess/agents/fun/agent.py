"""FeUdal Networks: a manager that sets directions in a latent space, a worker that follows them.

Both learn on-policy from rounds of `num_envs` episodes; docs/methods.md says what differs from
their paper.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hess.agents.agent import Progress
from hess.agents.diagnostics import share
from hess.agents.fun.acting import FunPolicy
from hess.agents.fun.learner import FunLearner
from hess.agents.fun.networks import FunNetwork
from hess.agents.hess.snapshot_content import take_snapshot
from hess.arrays import Arrays, Floats
from hess.config import Config
from hess.errors import HessError
from hess.learning.inputs import Moments, Scaling, fold_scaling, no_scaling
from hess.learning.networks import MLP
from hess.learning.trees import flatten, prefixed, select, unflatten
from hess.replay.episode import Episode, EpisodeShape
from hess.replay.ring import empty_replay, insert

_KEPT = 10  # episodes in the replay: for snapshots; nothing is learned from old ones
_NEIGHBOURS = 2_000  # states of a snapshot among which the nearest to a goal is looked for


class Fun:
    """The agent."""

    def __init__(self, config: Config, shape: EpisodeShape):
        if config.pipeline:
            raise HessError(
                f"pipeline=True is impossible with the method {config.method!r}, which learns from "
                "the episodes of its present policy only; it must be False"
            )
        self.config, self.shape = config, shape
        self._learner = FunLearner(config.fun, shape, config.subgoal_interval)
        self._key = jax.random.key(config.seed)
        self.learner_state = self._learner.init(self._key)
        self.moments = Moments(shape.observation_dim + shape.goal_dim)
        self.replay = empty_replay(shape, min(config.capacity, _KEPT * shape.horizon))
        self.replay_revision = 0
        self.episodes = 0
        self._recent: deque[bool] = deque(maxlen=config.exploration.success_window)

    def policy(self, progress: float) -> FunPolicy:
        """A frozen copy of both levels."""
        config, network = self.config, self.learner_state.network
        return FunPolicy(network, self._scaling(), config.subgoal_interval, config.fun.random_goals)

    def evaluation_policy(self) -> FunPolicy:
        """The same; its evaluation rollouts are deterministic."""
        return self.policy(1.0)

    def _scaling(self) -> Scaling:
        """Of observation and goal: on-policy learning is sensitive to their size."""
        if not self.moments.count:
            return no_scaling(len(self.moments.mean))
        return self.moments.scaling(radius=1.0)

    def learn(self, episodes: Sequence[Episode], report: Progress) -> dict[str, float]:
        """Learn from a round, with the scaling it was collected with, and keep it to look at."""
        start = time.perf_counter()
        stacked = jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves)), *episodes)
        self.learner_state, values = self._learner.learn(
            self.learner_state, self._scaling(), stacked
        )
        metrics = {name: float(value) for name, value in values.items()}
        metrics["time/low"] = time.perf_counter() - start
        for episode in episodes:
            self.replay = insert(self.replay, episode)
            self.episodes += 1
            seen = np.concatenate([episode.observations, episode.goals], -1)
            self.moments.add(seen[: int(episode.length) + 1])
            self._recent.append(bool(episode.successes.any()))
        active = np.concatenate([self._started(episode) for episode in episodes])
        return metrics | {
            "train/recent_success": self.recent_success(),
            "exploration/active_share": float(active.mean()),
        }

    def _started(self, episode: Episode) -> Floats:
        """Which of the episode's segments had random goals."""
        return episode.active[: -(-int(episode.length) // self.config.subgoal_interval)]

    def recent_success(self) -> float:
        """Success over the last training episodes."""
        return share(self._recent)

    def embed(self, observations: Floats) -> Floats:
        """Latent states s of observations. [n, obs] -> [n, d]."""
        return np.asarray(self._latent_network()(jnp.asarray(observations)))

    def _latent_network(self) -> MLP:
        return latent_network(self.learner_state.network, self._scaling())

    def state(self) -> Arrays:
        """All that changes in training, except the stored episodes."""
        host = {
            "episodes": np.asarray(self.episodes),
            "recent": np.asarray(self._recent, np.bool_),
        }
        host |= prefixed(self.moments.state(), "moments.")
        return host | flatten(self.learner_state, "learner")

    def restore(self, arrays: Arrays) -> None:
        """Take over what `state` gave."""
        self.learner_state = unflatten(self.learner_state, arrays, "learner")
        self.episodes = int(arrays["episodes"])
        self.moments.restore(select(arrays, "moments."))
        self._recent.extend(bool(flag) for flag in arrays["recent"])

    def snapshot(self) -> Arrays:
        """Latent states and trajectories of the newest episodes."""
        if self.episodes == 0:
            return {}
        key = jax.random.fold_in(self._key, self.episodes)
        network = self._latent_network()
        return take_snapshot(
            network,
            self.replay,
            None,
            key,
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
