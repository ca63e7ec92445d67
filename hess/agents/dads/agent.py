"""DADS, the baseline of skills by predictable dynamics (paper §5.2).

First skills are learned without the task's reward, together with a model of what they do; then
they are fixed, and a high-level policy or a planner controls them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import equinox as eqx
import jax
import numpy as np

from hess.agents.agent import BaseAgent, Progress
from hess.agents.dads.acting import DrawnSkills, PlannedSkills, PolicySkills, SkillPolicy
from hess.agents.dads.learner import ControlLearner, SkillLearner, Skills
from hess.agents.dads.planning import HostDynamics, Planner
from hess.agents.diagnostics import segment_moves
from hess.arrays import Arrays
from hess.config import Config
from hess.errors import HessError
from hess.learning.inputs import Scaling, fold_scaling, low_scaling
from hess.learning.networks import HostActor
from hess.learning.sac import SACState
from hess.replay.episode import Episode, EpisodeShape, segment_counts
from hess.replay.ring import Replay, latest_episodes

_NOT_YET = 0  # control never begins before the first episode
_TRACED = 20  # episodes that the figure of skill traces shows
_POINTS = 250  # kept of a trajectory


class Networks(eqx.Module):
    """All that gradients change."""

    skills: Skills
    high: SACState


class Dads(BaseAgent):
    """The agent: a skill is held for c steps, where a hierarchy would pursue a subgoal."""

    purposes = ("skills", "control")

    def __init__(self, config: Config, shape: EpisodeShape):
        if config.dads.control == "planning" and shape.goal_dim != 2:
            raise HessError(
                "dads.control='planning' needs a task whose goal is an x, y; "
                f"here a goal has {shape.goal_dim} numbers; dads.control may be 'policy'"
            )
        super().__init__(config, shape, learners=(3,))  # dynamics, low, high
        self._skills, self._control = SkillLearner(config, shape), ControlLearner(config, shape)
        skills_key, control_key = jax.random.split(self._key)
        self.networks = Networks(self._skills.init(skills_key), self._control.init(control_key))
        self.control_start = _NOT_YET  # episodes before control of the skills began
        self._steps = 0
        self._successes = 0  # since control began

    @property
    def controlling(self) -> bool:
        """Skills are there to be used; before that, they are drawn at random and learned."""
        return self.control_start != _NOT_YET

    def policy(self, progress: float) -> SkillPolicy:
        """Freeze the skills and whoever chooses among them."""
        if not self.controlling:
            draw = DrawnSkills(self.config.subgoal_interval, self.config.dads.resample)
            return SkillPolicy(
                self.config.subgoal_interval, self._host_skills(), draw, exploring=True
            )
        return self._control_policy(self._is_warming_up())

    def evaluation_policy(self) -> SkillPolicy:
        """Control as it is, also before it has been learned."""
        return self._control_policy(uniform=False)

    def _control_policy(self, uniform: bool) -> SkillPolicy:
        choose: PlannedSkills | PolicySkills
        if self.config.dads.control == "planning":
            predict = HostDynamics(self.networks.skills.dynamics.model)
            interval, skill_dim = self.config.subgoal_interval, self.shape.subgoal_dim
            choose = PlannedSkills(Planner(predict, self.config.dads, interval, skill_dim))
        else:
            choose = PolicySkills(HostActor(self.networks.high.actor), uniform)
        return SkillPolicy(self.config.subgoal_interval, self._host_skills(), choose)

    def _host_skills(self) -> HostActor | None:
        if not self.is_warm:
            return None
        return HostActor(fold_scaling(self._scaling(), self.networks.skills.low.actor))

    def _scaling(self) -> Scaling:
        return low_scaling(self.config.low, self.moments)

    def _is_warming_up(self) -> bool:
        """As in HESS: before the first success the high level has nothing to learn from."""
        return self.config.high.warmup == "uniform" and self._successes == 0

    def learn(self, episodes: Sequence[Episode], report: Progress) -> dict[str, float]:
        """Store a round, then improve the skills or, once it is time, their control."""
        warm = self.is_warm
        for episode in episodes:
            self._store(episode)
        metrics = {
            "train/recent_success": self.recent_success(),
            "low/move": segment_moves(episodes, self.config.subgoal_interval),
            "dads/controlling": float(self.controlling),
        }
        if warm and not (self.controlling and self.config.dads.frozen):
            metrics |= self._improve_skills(episodes)
        if warm and self.controlling and self.config.dads.control == "policy":
            metrics |= self._improve_control(episodes)
        if not self.controlling and self._steps >= self.config.dads.share * self.config.steps:
            self.control_start = self.episodes
        return metrics

    def _store(self, episode: Episode) -> None:
        self.store(episode, measured=not (self.controlling and self.config.dads.frozen))
        self._steps += int(episode.length)
        self._successes += bool(episode.successes.any()) and self.controlling

    def _improve_skills(self, episodes: Sequence[Episode]) -> dict[str, float]:
        """Fit the dynamics to the newest episodes, then the skills to the dynamics."""
        start = time.perf_counter()
        steps = sum(int(episode.length) for episode in episodes)
        rates = (self.config.dads.updates_per_step, self.config.low.updates_per_decision)
        updates = self.updates_due(steps * np.array(rates), slice(0, 2)).tolist()
        skills, low_metrics, dynamics_metrics = self._skills.learn(
            self.networks.skills, self.replay, self._scaling(), self.key("skills"), updates
        )
        self.networks = Networks(skills, self.networks.high)
        values = {f"low/{name}": float(value) for name, value in low_metrics.items()}
        values |= {f"dads/{name}": float(value) for name, value in dynamics_metrics.items()}
        return values | {"time/low": time.perf_counter() - start}

    def _improve_control(self, episodes: Sequence[Episode]) -> dict[str, float]:
        """High-level updates on what was collected since control began."""
        if self._is_warming_up():
            return {}
        start = time.perf_counter()
        lengths = np.array([int(episode.length) for episode in episodes])
        decisions = segment_counts(lengths, self.config.subgoal_interval).sum()
        updates = int(self.updates_due(decisions * self.config.high.updates_per_decision, 2))
        high, metrics = self._control.learn(
            self.networks.high,
            self.replay,
            self.key("control"),
            updates,
            self.episodes - self.control_start,
        )
        self.networks = Networks(self.networks.skills, high)
        values = {f"high/{name}": float(value) for name, value in metrics.items()}
        return values | {"time/high": time.perf_counter() - start}

    def state(self) -> Arrays:
        return super().state() | {
            "control_start": np.asarray(self.control_start),
            "steps": np.asarray(self._steps),
            "successes": np.asarray(self._successes),
        }

    def restore(self, arrays: Arrays) -> None:
        super().restore(arrays)
        self.control_start = int(arrays["control_start"])
        self._steps = int(arrays["steps"])
        self._successes = int(arrays["successes"])

    def snapshot(self) -> Arrays:
        return take_traces(self.replay, self.config.subgoal_interval)


def take_traces(replay: Replay, interval: int) -> Arrays:
    """What the figure of skill traces is drawn from: the newest trajectories with their skills.

    Thinned x, y and the skill of every segment, oldest first; nothing before an episode.
    """
    episodes = latest_episodes(replay, _TRACED)
    if not episodes:
        return {}
    coarsest = -(-len(episodes[0].positions) // _POINTS)
    # It divides the interval, so that a point is kept wherever the skill may change.
    stride = max(size for size in range(1, coarsest + 1) if interval % size == 0)
    return {
        "skills.positions": np.stack([each.positions[::stride] for each in episodes]),
        "skills.skills": np.stack([each.subgoals for each in episodes]),
        "skills.lengths": np.array([int(each.length) for each in episodes], np.int32),
        "skills.stride": np.array(stride, np.int32),
        "skills.interval": np.array(interval, np.int32),
        "skills.drawn": np.stack([each.active for each in episodes]),
    }
