"""The flat baseline: random at first, then soft actor-critic on observation and goal."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.agents.flat import Flat, FlatPolicy
from hess.learning.inputs import low_scaling
from hess.learning.networks import HostActor
from hess.replay.episode import empty_episode
from tests.agents.tiny import SHAPE, play, tiny_config

RATE = 0.33


def ignore(what: str, share: float) -> None:
    """Nobody watches the progress."""


class Story(NamedTuple):
    """An agent after five episodes, of which the last was solved."""

    agent: Flat
    policies: list[FlatPolicy]
    metrics: list[dict[str, float]]
    updates: list[int]
    success: float


@pytest.fixture(scope="module")
def story() -> Story:
    agent = Flat(tiny_config(low__updates_per_decision=RATE), SHAPE)
    told = Story(agent, [], [], [], 0.0)
    for number in range(5):
        told.policies.append(agent.policy(0.0))
        episode = play(told.policies[-1], number, success_at=3 if number == 4 else None)
        told.metrics.append(agent.learn([episode], ignore))
        told.updates.append(int(agent.networks.critic_optimiser[0].count))
    return told._replace(success=agent.recent_success())


def test_it_acts_at_random_and_does_not_learn_before_its_first_update(story: Story) -> None:
    assert [policy.actor is None for policy in story.policies] == [True] * 2 + [False] * 3
    learned = ["low/critic_loss" in metrics for metrics in story.metrics]
    assert learned == [False] * 2 + [True] * 3
    assert story.updates == [0, 0, int(RATE * 20), int(RATE * 40), int(RATE * 60)]


def test_it_sees_observation_and_goal(story: Story) -> None:
    episode = empty_episode(SHAPE)
    episode.observations[3], episode.goals[3] = [1.0, 2.0, 3.0, 4.0], [5.0, 6.0]
    policy = story.agent.evaluation_policy()
    assert isinstance(policy, FlatPolicy)
    assert policy.actor is not None
    expected = policy.actor.act(np.arange(1, 7, dtype=np.float32), None)
    assert np.array_equal(policy.start_evaluation(episode).act(3), expected)


def test_recent_success_is_over_the_training_episodes(story: Story) -> None:
    assert story.success == pytest.approx(1 / 5)
    assert story.metrics[-1]["train/recent_success"] == pytest.approx(1 / 5)


def test_a_policy_does_not_change_while_the_agent_learns(story: Story) -> None:
    policy = story.agent.policy(0.0)
    before = play(policy, seed=9).actions
    story.agent.learn([play(policy, seed=10)], ignore)
    assert np.array_equal(before, play(policy, seed=9).actions)
    assert not np.array_equal(before, play(story.agent.policy(0.0), seed=9).actions)


def test_a_restored_agent_learns_the_same(story: Story) -> None:
    agent = story.agent
    twin = Flat(agent.config, SHAPE)
    twin.restore({name: np.array(array) for name, array in agent.state().items()})
    twin.replay = jax.tree.map(lambda leaf: jnp.array(np.array(leaf)), agent.replay)
    twin._learn = agent._learn  # depends on the config alone
    episode = play(agent.policy(0.0), seed=11)
    metrics = [each.learn([episode], ignore) for each in (agent, twin)]
    for values in metrics:
        del values["time/low"]
    assert metrics[0] == metrics[1]
    for name, array in agent.state().items():
        assert np.array_equal(array, twin.state()[name]), name


def test_without_a_subgoal_space_there_is_nothing_to_embed_or_picture(story: Story) -> None:
    assert story.agent.embed(np.zeros((4, SHAPE.observation_dim), np.float32)).shape == (4, 0)
    assert story.agent.snapshot() == {}


def test_its_host_actor_is_the_learner_s_actor(story: Story) -> None:
    raw = np.linspace(-1, 1, 6).astype(np.float32)
    inputs = raw.copy()
    scaling = low_scaling(story.agent.config.low, story.agent.moments)
    width = len(scaling.centre)
    inputs[:width] = (raw[:width] - scaling.centre) * scaling.factor
    expected = HostActor(story.agent.networks.actor).act(inputs, None)
    policy = story.agent.policy(0.0)
    assert policy.actor is not None
    np.testing.assert_allclose(policy.actor.act(raw, None), expected, atol=1e-5)
