"""The two-level policy on the host: a subgoal every c steps, an action every step (paper §2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hess.agents.hess.exploration.excursion import Excursion
from hess.agents.hess.exploration.novelty import NOVELTIES
from hess.agents.hess.exploration.selection import CandidatePool, select_subgoal
from hess.arrays import Floats
from hess.config import Config
from hess.learning.networks import HostActor, HostMLP
from hess.learning.subgoal_box import SubgoalBox
from hess.replay.episode import Episode


class HierarchyPolicy(NamedTuple):
    """Both levels, φ and the exploration strategy as they are at one moment."""

    config: Config
    representation: HostMLP
    low: HostActor
    high: HostActor
    uniform_subgoals: bool  # the high-level policy is replaced by uniform draws
    box: SubgoalBox  # around φ(s), in which subgoals lie
    unit: float  # factor on r_g and d_e
    probability: float  # p: how often a subgoal is selected actively
    pool: CandidatePool | None  # None when p is 0

    def start(self, episode: Episode, rng: np.random.Generator) -> HierarchyRollout:
        return HierarchyRollout(self, episode, rng)

    def active_probability(self, rng: np.random.Generator | None) -> float:
        """How often an episode selects its subgoals actively: p, or p decides for all of them.

        What the policy can do shows only where it acts alone: with p = 0.7 seven of ten subgoals
        lead to the frontier instead of the goal, and an episode hardly ever succeeds.
        """
        exploration = self.config.exploration
        if rng is None or self.pool is None:
            return 0.0
        if exploration.decided == "segment":
            return self.probability
        explores = self.uniform_subgoals or rng.random() < self.probability
        return exploration.probability if explores else 0.0

    def acts_greedily(self, probability: float, rng: np.random.Generator | None) -> bool:
        """Whether an episode with this p draws nothing: a share of those that the policy has alone.

        So it meets states that samples never show, such as a corner that it presses against for
        ever, and what was never seen cannot be learned to be avoided. Without active selection,
        samples are all the exploration there is.
        """
        config = self.config.exploration
        share = config.greedy_share if config.probability > 0 else 0.0
        if rng is None or probability > 0 or self.uniform_subgoals or share == 0:
            return False
        return rng.random() < share

    def excursion(
        self, segments: int, probability: float, rng: np.random.Generator | None
    ) -> Excursion | None:
        """What an exploring episode remembers, where places are known to lead somewhere."""
        if probability == 0 or rng is None or self.pool is None or self.pool.graph is None:
            return None
        return Excursion(self.pool, self.config.exploration, segments, rng)

    def start_evaluation(self, episode: Episode) -> HierarchyRollout:
        """An episode in which nothing is drawn: no samples, no active selection."""
        return HierarchyRollout(self, episode, None)


class HierarchyRollout:
    """Lines 3-11 of Algorithm 1 for one episode."""

    def __init__(self, policy: HierarchyPolicy, episode: Episode, rng: np.random.Generator | None):
        self._policy = policy
        self._episode = episode
        self._active_probability = policy.active_probability(rng)
        self._rng = None if policy.acts_greedily(self._active_probability, rng) else rng
        self._excursion = policy.excursion(len(episode.subgoals), self._active_probability, rng)
        observation_dim = episode.observations.shape[1]
        dim = episode.embeddings.shape[1]
        self._low_input = np.zeros(observation_dim + 2 * dim, np.float32)
        self._state = self._low_input[:observation_dim]
        self._embedding = self._low_input[observation_dim : observation_dim + dim]
        self._subgoal = self._low_input[observation_dim + dim :]

    def act(self, step: int) -> Floats:
        """Embed the state, set a subgoal when c steps have passed, and ask the low level."""
        policy, episode = self._policy, self._episode
        self._state[:] = episode.observations[step]
        self._embedding[:] = policy.representation(self._state)
        episode.embeddings[step] = self._embedding
        segment, since = divmod(step, policy.config.subgoal_interval)
        if since == 0:
            self._set_subgoal(segment, step)
        return policy.low.act(self._low_input, self._rng)

    def finish(self, length: int) -> None:
        last = self._policy.representation(self._episode.observations[length])
        self._episode.embeddings[length] = last
        self._episode.embedded[...] = True

    def _set_subgoal(self, segment: int, step: int) -> None:
        """With probability p by active exploration, otherwise by the high-level policy."""
        policy, episode, rng = self._policy, self._episode, self._rng
        config = policy.config
        memory = episode.embeddings[: step + 1 : config.subgoal_interval].mean(0)
        seen = np.concatenate([self._state, self._embedding, memory, episode.goals[step]])
        selection, excursion = None, self._excursion
        if excursion is not None:
            excursion.arrive(segment, self._embedding)
        probability = self._active_probability
        if probability > 0 and rng is not None and rng.random() < probability:
            assert policy.pool is not None
            selection = select_subgoal(
                policy.pool,
                self._embedding,
                policy.box.radius,
                policy.unit,
                config.exploration,
                novelty=None if excursion is None else excursion.novelty(),
                straight=None if excursion is None else excursion.straight(),
            )
        if selection is not None:
            if excursion is not None:
                excursion.pursue(selection)
            subgoal = selection.imagined
            high_action = policy.box.actions(subgoal - self._embedding).astype(np.float32)
        else:
            high_action = self._high_action(seen)
            within = high_action if config.high.subgoal_shape == "box" else into_ball(high_action)
            subgoal = self._embedding + policy.box.offsets(within)
        self._subgoal[:] = subgoal
        episode.subgoals[segment] = subgoal
        episode.selected[segment] = subgoal if selection is None else selection.selected
        episode.high_actions[segment] = high_action
        episode.active[segment] = selection is not None
        if NOVELTIES[config.exploration.novelty].weighs_actions:
            episode.log_probabilities[segment] = policy.high.log_probability(seen, high_action)

    def _high_action(self, seen: Floats) -> Floats:
        if self._rng is not None and self._policy.uniform_subgoals:
            shape = self._policy.config.high.subgoal_shape
            return uniform_offset(shape, self._subgoal.shape[0], self._rng)
        return self._policy.high.act(seen, self._rng)


def into_ball(offset: Floats) -> Floats:
    """Project on the unit L2 ball. [d] -> [d]."""
    return offset / max(1.0, float(np.linalg.norm(offset)))


def uniform_offset(shape: str, dim: int, rng: np.random.Generator) -> Floats:
    """Uniform in the unit box or ball. -> [d]."""
    offset = rng.uniform(-1.0, 1.0, dim).astype(np.float32)
    while shape == "ball" and np.linalg.norm(offset) > 1.0:
        offset = rng.uniform(-1.0, 1.0, dim).astype(np.float32)
    return offset
