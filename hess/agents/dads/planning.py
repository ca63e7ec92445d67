"""Planning through skill dynamics: sequences of skills, refined by what they are predicted to do.

Model predictive path integral control: plans are drawn around the current one, weighted by the
exponential of their returns, and averaged. It needs a space in which the distance to the goal is
known: x, y.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from hess.agents.dads.dynamics import SkillDynamics
from hess.arrays import Floats
from hess.config import DadsConfig
from hess.learning.networks import HostMLP

Predict = Callable[[Floats, Floats], Floats]
"""Positions and skills to the positions one step later. [n, 2], [n, d] -> [n, 2]."""


class HostDynamics:
    """The expected next state, in NumPy."""

    def __init__(self, dynamics: SkillDynamics):
        self._network = HostMLP(dynamics.network)
        # Copies: the learner reuses the memory of donated buffers.
        self._state_mean = np.array(dynamics.states.mean)
        self._state_std = np.array(dynamics.states.deviation)
        self._change_mean = np.array(dynamics.changes.mean)
        self._change_std = np.array(dynamics.changes.deviation)

    def __call__(self, states: Floats, skills: Floats) -> Floats:
        """The mean of the mixture. [n, state], [n, d] -> [n, state]."""
        whitened = (states - self._state_mean) / self._state_std
        outputs = self._network(np.concatenate([whitened, skills], -1).astype(np.float32))
        experts = outputs.reshape(len(states), -1, states.shape[-1] + 1)
        weights = softmax(experts[..., -1], axis=-1)
        change = (weights[..., None] * experts[..., :-1]).sum(1)
        return states + self._change_mean + self._change_std * change


class Planner(NamedTuple):
    """Refines sequences of skills, each of which is held for c steps."""

    predict: Predict
    config: DadsConfig
    interval: int
    skill_dim: int

    def __call__(self, position: Floats, goal: Floats, rng: np.random.Generator) -> Floats:
        """The skills that lead nearest to the goal. [2], [2] -> [skills, d]."""
        config = self.config
        plan = np.zeros((config.plan_length, self.skill_dim))
        for _ in range(config.plan_refinements):
            noise = rng.standard_normal((config.plan_candidates, *plan.shape))
            candidates = np.clip(plan + noise, -1.0, 1.0)
            returns = predicted_returns(self.predict, position, goal, candidates, self.interval)
            # In units of their spread, so that the sharpness means the same near and far.
            spread = max(float(returns.std()), 1e-6)
            weights = softmax(config.plan_sharpness * returns / spread)
            plan = np.einsum("n,nsd->sd", weights, candidates)
        return plan.astype(np.float32)


def predicted_returns(
    predict: Predict, position: Floats, goal: Floats, plans: Floats, interval: int
) -> Floats:
    """Minus the mean distance to the goal along each predicted path. [n, skills, d] -> [n]."""
    count, length, _ = plans.shape
    positions: Floats = np.repeat(np.asarray(position, np.float64)[None], count, 0)
    total = np.zeros(count)
    for number in range(length):
        for _ in range(interval):
            positions = predict(positions, plans[:, number])
            total -= np.linalg.norm(positions - goal, axis=-1)
    return total / (length * interval)
