"""The agent: random, then learning skills, then controlling them."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.agents.dads.acting import DrawnSkills, PlannedSkills, PolicySkills, SkillPolicy
from hess.agents.dads.agent import Dads
from hess.errors import HessError
from hess.learning.trees import flatten
from hess.replay.episode import Episode, empty_episode
from tests.agents.tiny import INTERVAL, SHAPE, play, tiny_config

EPISODES = 8
CONTROL = 5  # episodes before control begins


def ignore(what: str, share: float) -> None:
    """Nobody watches the progress."""


def config(**fields: Any) -> Any:
    return tiny_config(
        steps=EPISODES * SHAPE.horizon, dads__share=CONTROL / EPISODES, dads__resample=0.5, **fields
    )


class Story(NamedTuple):
    """An agent after eight episodes; the seventh was the first solved one under control."""

    agent: Dads
    policies: list[SkillPolicy]
    episodes: list[Episode]
    metrics: list[dict[str, float]]
    skills: list[dict[str, Any]]  # their weights after every episode


@pytest.fixture(scope="module")
def story() -> Story:
    told = Story(Dads(config(), SHAPE), [], [], [], [])
    for number in range(EPISODES):
        told.policies.append(told.agent.policy(0.0))
        episode = play(told.policies[-1], number, success_at=3 if number in (1, 6) else None)
        told.episodes.append(episode)
        told.metrics.append(told.agent.learn([episode], ignore))
        told.skills.append(flatten(told.agent.networks.skills, "skills"))
    return told


def same(one: dict[str, Any], two: dict[str, Any]) -> bool:
    return all(np.array_equal(one[name], two[name]) for name in one)


def test_first_it_is_random_then_it_learns_skills_then_it_controls_them(story: Story) -> None:
    assert [policy.low is None for policy in story.policies] == [True] * 2 + [False] * 6
    kinds = [type(policy.choose) for policy in story.policies]
    assert kinds == [DrawnSkills] * CONTROL + [PolicySkills] * 3
    learned = ["low/critic_loss" in metrics for metrics in story.metrics]
    assert learned == [False] * 2 + [True] * 3 + [False] * 3
    assert [metrics["dads/controlling"] for metrics in story.metrics] == [0.0] * 5 + [1.0] * 3


def test_skills_stay_as_they_are_once_they_are_controlled(story: Story) -> None:
    assert not same(story.skills[CONTROL - 1], story.skills[CONTROL - 2])
    assert same(story.skills[CONTROL - 1], story.skills[-1])


def test_the_high_level_learns_from_the_first_success_under_control_on(story: Story) -> None:
    assert ["high/critic_loss" in metrics for metrics in story.metrics] == [False] * 6 + [True] * 2
    assert [each.choose.uniform for each in story.policies[CONTROL:]] == [True, True, False]  # type: ignore[attr-defined]


def test_what_is_logged_is_finite_and_bounded(story: Story) -> None:
    for metrics in story.metrics:
        assert all(np.isfinite(value) for value in metrics.values())
    rewards = [metrics["dads/reward"] for metrics in story.metrics[2:CONTROL]]
    assert max(rewards) <= np.log(story.agent.config.dads.other_skills + 1)
    assert story.metrics[-1]["low/move"] > 0


def test_a_drawn_skill_is_held_until_another_is_drawn(story: Story) -> None:
    skills = np.stack([episode.subgoals for episode in story.episodes[:CONTROL]])
    assert np.abs(skills).max() <= 1.0
    kept = (skills[:, 1:] == skills[:, :-1]).all(-1)
    assert kept.any()
    assert not kept.all()


@pytest.mark.parametrize(("resample", "kept"), [(0.0, True), (1.0, False)])
def test_skills_may_last_an_episode_or_a_segment(resample: float, kept: bool) -> None:
    episode = play(SkillPolicy(INTERVAL, None, DrawnSkills(INTERVAL, resample), True), seed=0)
    assert (episode.subgoals[1:] == episode.subgoals[:-1]).all(-1).tolist() == [kept] * 3


def test_an_action_follows_from_observation_and_skill(story: Story) -> None:
    policy = story.agent.evaluation_policy()
    episode = empty_episode(SHAPE)
    episode.observations[0], episode.goals[0] = [1.0, 2.0, 3.0, 4.0], [5.0, 6.0]
    action = policy.start_evaluation(episode).act(0)
    assert policy.low is not None
    skill = policy.choose(episode, 0, None)
    assert np.array_equal(episode.subgoals[0], skill)
    inputs = np.array([1, 2, 3, 4, *skill], np.float32)
    assert np.array_equal(action, policy.low.act(inputs, None))


def test_a_restored_agent_learns_the_same(story: Story) -> None:
    agent = story.agent
    twin = Dads(agent.config, SHAPE)
    twin.restore({name: np.array(array) for name, array in agent.state().items()})
    twin.replay = jax.tree.map(lambda leaf: jnp.array(np.array(leaf)), agent.replay)
    assert twin.controlling
    twin._control.learn = agent._control.learn  # depends on the config alone
    episode = play(agent.policy(0.0), seed=11)
    metrics = [each.learn([episode], ignore) for each in (agent, twin)]
    for values in metrics:
        del values["time/high"]
    assert metrics[0] == metrics[1]
    assert same(agent.state(), twin.state())


def test_a_snapshot_has_the_newest_trajectories_with_their_skills(story: Story) -> None:
    arrays = story.agent.snapshot()
    last = story.agent.replay.episodes
    newest = (int(story.agent.replay.inserted) - 1) % story.agent.replay.slots
    assert arrays["skills.positions"].shape == (EPISODES, SHAPE.horizon + 1, 2)
    assert np.array_equal(arrays["skills.skills"][-1], last.subgoals[newest])
    assert np.array_equal(arrays["skills.positions"][-1], last.positions[newest])
    assert int(arrays["skills.interval"]) == INTERVAL
    controlled = int(story.agent.replay.inserted) - CONTROL
    expected = [True] * (EPISODES - controlled) + [False] * controlled
    assert arrays["skills.drawn"].all(1).tolist() == expected
    assert arrays["skills.drawn"].any(1).tolist() == expected
    assert Dads(config(), SHAPE).snapshot() == {}


def test_there_is_nothing_to_embed(story: Story) -> None:
    assert story.agent.embed(np.zeros((4, SHAPE.observation_dim), np.float32)).shape == (4, 0)


def test_planning_needs_positions_when_it_acts_and_says_so() -> None:
    agent = Dads(config(dads__space="positions", dads__control="planning"), SHAPE)
    choose = agent.evaluation_policy().choose
    assert isinstance(choose, PlannedSkills)
    episode = empty_episode(SHAPE)
    assert np.abs(choose(episode, 0, None)).max() <= 1.0
    episode.positions[0] = np.nan
    with pytest.raises(HessError, match=r"needs x, y: act\(observation, goal, position\)"):
        choose(episode, 0, None)


def test_planning_needs_a_goal_in_the_plane() -> None:
    fields = config(dads__space="positions", dads__control="planning")
    with pytest.raises(HessError, match="needs a task whose goal is an x, y; here a goal has 0"):
        Dads(fields, SHAPE._replace(goal_dim=0))
