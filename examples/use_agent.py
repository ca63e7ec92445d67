"""Use a trained agent in your own loop, and in Stable-Baselines3's `evaluate_policy`.

    python examples/use_agent.py runs/MountainCarContinuous/hess/goal_velocity=0.01,seed-0

The second part needs Stable-Baselines3 (`pip install stable-baselines3`).
"""

from __future__ import annotations

from pathlib import Path

import gymnasium
import tyro

import hess
from hess.api import LoadedAgent

TASK = "MountainCarContinuous-v0"


def own_loop(agent: LoadedAgent) -> float:
    """One episode; the state carries the agent's subgoal from step to step."""
    env = gymnasium.make(TASK)
    observation, _ = env.reset(seed=0)
    state, total, over = None, 0.0, False
    while not over:
        action, state = agent.predict(observation, state)
        observation, reward, terminated, truncated, _ = env.step(action)
        total += float(reward)
        over = terminated or truncated
    env.close()
    return total


def stable_baselines(agent: LoadedAgent, episodes: int) -> float:
    """Several environments at once, by the function that the field compares agents with."""
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.evaluation import evaluate_policy

    mean, _ = evaluate_policy(agent, make_vec_env(TASK, n_envs=2), n_eval_episodes=episodes)
    return float(mean)


def main(run: tyro.conf.Positional[Path], episodes: int = 4) -> None:
    """Play a run's agent."""
    agent = hess.load(run)
    print(f"return in our own loop {own_loop(agent):.2f}")
    try:
        print(f"return in Stable-Baselines3 {stable_baselines(agent, episodes):.2f}")
    except ModuleNotFoundError as error:
        print(f"Stable-Baselines3 was left out: {error}")


if __name__ == "__main__":
    tyro.cli(main)
