"""Both levels on the host, one step at a time; what they remember lives in the rollout."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hess.agents.fun.networks import FunNetwork
from hess.agents.fun.recurrent import LSTM
from hess.arrays import Floats
from hess.learning.inputs import Scaling, scaled
from hess.learning.networks import HostMLP
from hess.replay.episode import Episode


class HostLSTM:
    """The weights of an LSTM in NumPy."""

    def __init__(self, cell: LSTM):
        # Copies: the learner reuses the memory of donated buffers while a policy still acts.
        self._weights = np.concatenate([np.array(cell.inputs), np.array(cell.recurrent)])
        self._bias = np.array(cell.bias)
        self.units = cell.units

    def step(self, memory: Floats, inputs: Floats) -> Floats:
        """Change the memory, hidden and cell in a row each, in place. [2, units] -> [units]."""
        hidden, cell = memory
        gates = np.concatenate([inputs, hidden]) @ self._weights
        gates += self._bias
        opened = 1.0 / (1.0 + np.exp(-gates[: 3 * self.units]))
        write, keep, read = opened.reshape(3, self.units)
        cell *= keep
        cell += write * np.tanh(gates[3 * self.units :])
        np.multiply(read, np.tanh(cell), out=hidden)
        return hidden


class FunPolicy:
    """The networks as they are at one moment."""

    def __init__(self, network: FunNetwork, scaling: Scaling, interval: int, random_goals: float):
        self.scaling, self.interval, self.random_goals = scaling, interval, random_goals
        self.perception, self.space = HostMLP(network.perception), HostMLP(network.space)
        self.manager, self.worker = HostLSTM(network.manager), HostLSTM(network.worker)
        self.goal_embedding = np.array(network.goal_embedding)
        self.modulation = HostMLP(network.policy)
        self.std = np.exp(np.array(network.bounded_log_std()))

    def start(self, episode: Episode, rng: np.random.Generator) -> FunRollout:
        return FunRollout(self, episode, rng)

    def start_evaluation(self, episode: Episode) -> FunRollout:
        """An episode with the policy's mode and the manager's own goals."""
        return FunRollout(self, episode, None)

    def see(self, observation: Floats, goal: Floats) -> Sight:
        inputs = scaled(self.scaling, np.concatenate([observation, goal]))
        seen, aim = np.split(inputs, [len(observation)])
        perceived = np.maximum(self.perception(seen), 0.0)
        return Sight(perceived, np.maximum(self.space(perceived), 0.0), aim)


class Sight(NamedTuple):
    """One state as both levels see it."""

    perceived: Floats  # z
    latent: Floats  # s
    aim: Floats  # the task's goal


class FunRollout:
    """One episode."""

    def __init__(self, policy: FunPolicy, episode: Episode, rng: np.random.Generator | None):
        self._policy, self._episode, self._rng = policy, episode, rng
        interval, dim = policy.interval, policy.manager.units
        self._manager = np.zeros((interval, 2, dim), np.float32)  # a memory per t mod c
        self._worker = np.zeros((2, policy.worker.units), np.float32)
        self._goals = np.zeros((interval, dim), np.float32)  # the last c
        self._random: Floats | None = None  # goal of the present segment, where it is random

    def act(self, step: int) -> Floats:
        """A goal from the manager, an action from the worker that the last c goals modulate."""
        policy = self._policy
        sight = policy.see(self._episode.observations[step], self._episode.goals[step])
        self._episode.embeddings[step] = sight.latent
        segment, since = divmod(step, policy.interval)
        if since == 0:
            self._random = self._random_direction()
        goal = self._goal(sight, since)
        if since == 0:
            self._annotate(segment, sight.latent, goal)
        self._goals[since] = goal
        embedded = self._goals.sum(0) @ policy.goal_embedding
        hidden = policy.worker.step(self._worker, np.concatenate([sight.perceived, sight.aim]))
        mean = policy.modulation(hidden).reshape(-1, len(embedded)) @ embedded
        if self._rng is None:
            return np.tanh(mean)
        noise = self._rng.standard_normal(len(mean), dtype=np.float32)
        return np.tanh(mean + policy.std * noise)

    def finish(self, length: int) -> None:
        episode = self._episode
        last = self._policy.see(episode.observations[length], episode.goals[length])
        episode.embeddings[length] = last.latent
        episode.embedded[...] = True

    def _goal(self, sight: Sight, since: int) -> Floats:
        """Memory t mod c takes its turn; its output is pooled with those of the others."""
        self._policy.manager.step(self._manager[since], np.concatenate([sight.latent, sight.aim]))
        pooled = self._manager[:, 0].sum(0)
        own = pooled / np.sqrt((pooled**2).sum() + 1e-12)
        return own if self._random is None else self._random

    def _random_direction(self) -> Floats | None:
        rng = self._rng
        if rng is None or rng.random() >= self._policy.random_goals:
            return None
        direction = rng.standard_normal(self._goals.shape[1], dtype=np.float32)
        return direction / np.linalg.norm(direction)

    def _annotate(self, segment: int, latent: Floats, goal: Floats) -> None:
        """A direction has no end; the point one unit along it stands for it on maps."""
        episode = self._episode
        episode.high_actions[segment] = goal
        episode.subgoals[segment] = episode.selected[segment] = latent + goal
        episode.active[segment] = self._random is not None
