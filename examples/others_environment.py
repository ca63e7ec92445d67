"""Train on an environment that somebody else wrote, with arguments of its own.

    python examples/others_environment.py

It says nothing about success, so we do: an episode that ends before its limit has reached the top.
From the command line:

    hess train MountainCarContinuous-v0 --env goal_velocity=0.01 --success terminated

The mazes of Gymnasium-Robotics go the same way, with `gymnasium_robotics:PointMaze_UMaze-v3` as
the task and `continuing_task=False` or a `maze_map` as arguments; they say themselves what success
is.
"""

from __future__ import annotations

from pathlib import Path

import tyro

import hess


def main(steps: int = 100_000, runs: Path = Path("runs")) -> None:
    """Train, then see how the agent does where the car need not be fast at the top."""
    run = hess.train(
        "MountainCarContinuous-v0",
        env={"goal_velocity": 0.01},
        success="terminated",
        steps=steps,
        runs=runs,
    )
    agent = hess.load(run.path)
    for velocity in (0.01, 0.0):
        result = agent.evaluate(episodes=5, env={"goal_velocity": velocity})
        print(f"goal_velocity={velocity}: success rate {result.success_rate:.2f}")
    print(f"the run is in {run.path}")


if __name__ == "__main__":
    tyro.cli(main)
