"""Train on an environment of your own: a robot arm whose only reward is a 1 at its target.

    python examples/own_environment.py

From the command line it would be `hess train own_environment:Arm-v0 --subgoal-interval 10`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import tyro
from gymnasium import spaces

import hess


class Arm(gymnasium.Env[Any, Any]):
    """Two joints, driven by torques; the tip should get to a target behind the shoulder."""

    def __init__(self, tolerance: float = 0.2) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (8,), np.float64)
        self.action_space = spaces.Box(-2.0, 2.0, (2,), np.float32)  # torques
        self.target, self.tolerance = np.array([-1.2, 0.8]), tolerance
        self.angles, self.speeds = np.zeros(2), np.zeros(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        """Stretched out to the right, with a little noise."""
        super().reset(seed=seed)
        self.angles, self.speeds = self.np_random.uniform(-0.1, 0.1, (2, 2))
        return self._observe(), {}

    def step(self, action: Any) -> Any:
        """A twentieth of a second, with friction."""
        self.speeds = 0.95 * self.speeds + 0.05 * np.asarray(action, np.float64)
        self.angles = self.angles + 0.05 * self.speeds
        solved = bool(np.linalg.norm(self.tip() - self.target) < self.tolerance)
        # `xy` is for maps only; no agent sees it.
        return (
            self._observe(),
            float(solved),
            False,
            False,
            {"is_success": solved, "xy": self.tip()},
        )

    def tip(self) -> Any:
        """Where the hand is."""
        elbow, hand = self.angles[0], self.angles.sum()
        return np.array([np.cos(elbow) + np.cos(hand), np.sin(elbow) + np.sin(hand)])

    def _observe(self) -> Any:
        return np.concatenate([np.cos(self.angles), np.sin(self.angles), self.speeds, self.tip()])


gymnasium.register("Arm-v0", entry_point=Arm, max_episode_steps=200)


def main(steps: int = 100_000, runs: Path = Path("runs")) -> None:
    """Train, then look how good it is."""
    run = hess.train("Arm-v0", steps=steps, runs=runs, subgoal_interval=10)
    result = hess.load(run.path).evaluate(episodes=10)
    print(f"success at any step {result.success_rate:.2f}, at the last {result.success_at_end:.2f}")
    print(f"the run is in {run.path}")


if __name__ == "__main__":
    tyro.cli(main)
