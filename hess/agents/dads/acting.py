"""Acting with skills on the host: a skill every c steps, an action of that skill every step."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from hess.agents.dads.planning import Planner
from hess.arrays import Floats
from hess.errors import HessError
from hess.learning.networks import HostActor
from hess.replay.episode import Episode


class SkillChoice(Protocol):
    """Who sets the skill of a segment."""

    def __call__(self, episode: Episode, step: int, rng: np.random.Generator | None) -> Floats:
        """The skill from this step on; without a generator, a deterministic one. -> [d]."""


class DrawnSkills(NamedTuple):
    """While skills are learned: uniform draws, each held for a while."""

    interval: int
    resample: float

    def __call__(self, episode: Episode, step: int, rng: np.random.Generator | None) -> Floats:
        """Keep the skill of the segment before, or draw another one."""
        assert rng is not None, "skills are drawn in training only"
        if step > 0 and rng.random() >= self.resample:
            return episode.subgoals[step // self.interval - 1]
        return uniform_skill(episode, rng)


class PolicySkills(NamedTuple):
    """Control by a high-level policy over the skill space."""

    high: HostActor
    uniform: bool  # before the first success

    def __call__(self, episode: Episode, step: int, rng: np.random.Generator | None) -> Floats:
        if self.uniform and rng is not None:
            return uniform_skill(episode, rng)
        inputs = np.concatenate([episode.observations[step], episode.goals[step]])
        return self.high.act(inputs, rng)


class PlannedSkills(NamedTuple):
    """Control by planning; the first skill of a new plan every c steps."""

    plan: Planner

    def __call__(self, episode: Episode, step: int, rng: np.random.Generator | None) -> Floats:
        position = episode.positions[step]
        if not np.isfinite(position).all():
            raise HessError("planning over skills needs x, y: act(observation, goal, position)")
        noise = np.random.default_rng(0) if rng is None else rng
        return self.plan(position, episode.goals[step], noise)[0]


def uniform_skill(episode: Episode, rng: np.random.Generator) -> Floats:
    """The prior over skills: uniform in the box. -> [d]."""
    return rng.uniform(-1.0, 1.0, episode.subgoals.shape[1]).astype(np.float32)


class SkillPolicy(NamedTuple):
    """Skills and their choice as they are at one moment."""

    interval: int
    low: HostActor | None  # None before learning starts: uniform actions
    choose: SkillChoice
    exploring: bool = False  # skills are drawn to learn them, not chosen to solve the task

    def start(self, episode: Episode, rng: np.random.Generator) -> SkillRollout:
        return SkillRollout(self, episode, rng)

    def start_evaluation(self, episode: Episode) -> SkillRollout:
        rng = None if self.low is not None else np.random.default_rng(0)
        return SkillRollout(self, episode, rng)


class SkillRollout:
    """One episode; the skill of each segment is stored as its subgoal."""

    def __init__(self, policy: SkillPolicy, episode: Episode, rng: np.random.Generator | None):
        self._policy, self._episode, self._rng = policy, episode, rng

    def act(self, step: int) -> Floats:
        """Choose a skill when c steps have passed, and act as it does."""
        policy, episode = self._policy, self._episode
        segment, since = divmod(step, policy.interval)
        if since == 0:
            skill = policy.choose(episode, step, self._rng)
            for array in (episode.subgoals, episode.selected, episode.high_actions):
                array[segment] = skill
            episode.active[segment] = policy.exploring
        if policy.low is None:
            assert self._rng is not None
            return self._rng.uniform(-1.0, 1.0, episode.actions.shape[1]).astype(np.float32)
        inputs = np.concatenate([episode.observations[step], episode.subgoals[segment]])
        return policy.low.act(inputs, self._rng)

    def finish(self, length: int) -> None:
        """Nothing is embedded, so nothing is left to fill in."""
        self._episode.embedded[...] = True
