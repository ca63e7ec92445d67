"""The agent: one policy per round, all of it in its state, latent states in its snapshots."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.agents.fun.agent import Fun
from hess.config import Config, override
from hess.errors import HessError
from hess.runs.folder import RunFolder
from hess.runs.logs import read_metrics
from tests.agents.fun.small import DIM, FUN_SHAPE, SMALL, round_of, small_config
from tests.agents.tiny import play
from tests.training.stub import train
from tests.training.toy_tasks import FIELD, HORIZON


def ignore(what: str, share: float) -> None:
    """Nobody watches the progress."""


class Story(NamedTuple):
    """An agent after three rounds of two episodes, of which the last had a success.

    Tests may teach it more; what it had come to by then is kept here.
    """

    agent: Fun
    metrics: list[dict[str, float]]
    episodes: int
    updates: int
    success: float


@pytest.fixture(scope="module")
def story() -> Story:
    agent = Fun(small_config(), FUN_SHAPE)
    metrics = [
        agent.learn(round_of(agent, 2 * number, success_at=success_at), ignore)
        for number, success_at in enumerate((None, None, 3))
    ]
    updates = int(agent.networks.optimiser[1][0].count)
    return Story(agent, metrics, agent.episodes, updates, agent.recent_success())


def test_it_learns_from_the_first_round_on(story: Story) -> None:
    for metrics in story.metrics:
        assert all(np.isfinite(value) for value in metrics.values())
        assert {"low/critic_loss", "high/critic_loss", "high/cosine"} <= metrics.keys()
    assert story.episodes == 6
    assert story.updates == 3 * SMALL.epochs


def test_recent_success_is_over_the_training_episodes(story: Story) -> None:
    assert story.success == pytest.approx(1 / 6)
    assert story.metrics[-1]["train/recent_success"] == pytest.approx(1 / 6)


def test_its_replay_is_small_and_holds_the_newest() -> None:
    agent = Fun(small_config(capacity=1000 * HORIZON), FUN_SHAPE)
    assert agent.replay.slots == 10
    assert Fun(small_config(capacity=HORIZON), FUN_SHAPE).replay.slots == 1


def test_a_policy_does_not_change_while_the_agent_learns(story: Story) -> None:
    policy = story.agent.policy(0.0)
    before = play(policy, 9, FUN_SHAPE).actions
    story.agent.learn(round_of(story.agent, 20), ignore)
    assert np.array_equal(before, play(policy, 9, FUN_SHAPE).actions)
    assert not np.array_equal(before, play(story.agent.policy(0.0), 9, FUN_SHAPE).actions)


def test_observations_are_scaled_by_what_was_seen_before_the_round(story: Story) -> None:
    fresh = Fun(story.agent.config, FUN_SHAPE)
    assert fresh.policy(0.0).scaling.factor.tolist() == [1.0] * 6
    seen = story.agent.moments
    assert seen.count > 0
    np.testing.assert_allclose(story.agent.policy(0.0).scaling.centre, seen.mean, rtol=1e-6)


def test_a_restored_agent_learns_the_same(story: Story) -> None:
    agent = story.agent
    twin = Fun(agent.config, FUN_SHAPE)
    twin.restore({name: np.array(array) for name, array in agent.state().items()})
    twin.replay = jax.tree.map(lambda leaf: jnp.array(np.array(leaf)), agent.replay)
    twin._learner = agent._learner  # depends on the config alone
    episodes = round_of(agent, 30)
    metrics = [each.learn(episodes, ignore) for each in (agent, twin)]
    for values in metrics:
        del values["time/low"]
    assert metrics[0] == metrics[1]
    for name, array in agent.state().items():
        assert np.array_equal(array, twin.state()[name]), name


def test_it_refuses_to_learn_from_a_policy_of_the_past() -> None:
    with pytest.raises(HessError, match="pipeline=True is impossible with the method 'fun'"):
        Fun(Config(method="fun", pipeline=True), FUN_SHAPE)


def test_a_snapshot_has_latent_trajectories_and_no_measures(story: Story) -> None:
    assert Fun(story.agent.config, FUN_SHAPE).snapshot() == {}
    snapshot = story.agent.snapshot()
    assert snapshot["latest.embeddings"].shape[-1] == DIM
    assert snapshot["cells.centres"].shape == (0, DIM)
    observations = np.asarray(story.agent.replay.episodes.observations[0])
    embedded = story.agent.embed(observations)
    assert embedded.shape == (HORIZON + 1, DIM)
    assert (embedded >= 0).all()
    assert embedded.any()


def test_a_stopped_run_resumes_bit_for_bit(tmp_path: Path) -> None:
    config = small_config(task=FIELD, steps=8 * HORIZON, evaluation__interval=3 * HORIZON)
    whole, halved = tmp_path / "whole", tmp_path / "halved"
    first, _ = train(config, whole)
    train(config, halved, stop_at=4 * HORIZON)
    second, watcher = train(config, halved)
    assert "resumed at step 80" in watcher.messages
    lines = [
        [{k: v for k, v in line.items() if not k.startswith("time/")} for line in lines]
        for lines in (read_metrics(RunFolder(path)) for path in (whole, halved))
    ]
    assert lines[0] == lines[1]
    assert (whole / "eval.csv").read_bytes() == (halved / "eval.csv").read_bytes()
    for name, array in first.agent.state().items():
        assert np.array_equal(array, second.agent.state()[name]), name
    rings = [jax.tree.leaves(each.agent.replay) for each in (first, second)]
    for one, two in zip(*rings, strict=True):
        assert np.array_equal(one, two)


def test_an_evaluation_policy_follows_the_manager_s_goals_alone() -> None:
    agent = Fun(override(small_config(), {"fun.random_goals": 1.0}), FUN_SHAPE)
    assert play(agent.policy(0.0), 0, FUN_SHAPE).active.all()
    assert not play(agent.evaluation_policy(), 0, FUN_SHAPE).active.any()
