"""The network as a whole: what modulates the worker, what gradients reach, and its NumPy copy."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.agents.fun.acting import FunPolicy, FunRollout
from hess.agents.fun.agent import latent_network
from hess.agents.fun.learner import FunLearner
from hess.agents.fun.networks import FunNetwork, Steps
from hess.replay.episode import Episode
from tests.agents.fun.small import DIM, FUN_SHAPE, SCALING, SMALL
from tests.agents.tiny import INTERVAL, play


@pytest.fixture(scope="module")
def network() -> FunNetwork:
    return FunNetwork(SMALL, FUN_SHAPE, jax.random.key(0))


def policy(network: FunNetwork, random_goals: float) -> FunPolicy:
    return FunPolicy(network, SCALING, INTERVAL, random_goals)


def steps_of(episode: Episode) -> Steps:
    stacked = jax.tree.map(lambda leaf: np.asarray(leaf)[None], episode)
    return FunLearner(SMALL, FUN_SHAPE, INTERVAL).steps(SCALING, stacked)


@pytest.fixture(scope="module")
def episode(network: FunNetwork) -> Episode:
    """Some of its segments have random goals."""
    played = play(policy(network, 0.5), 6, FUN_SHAPE)
    assert played.active.any()
    assert not played.active.all()
    return played


@pytest.mark.parametrize("random_goals", [0.0, 0.5])
def test_the_host_does_what_the_network_says(network: FunNetwork, random_goals: float) -> None:
    # With the smallest deviation that there is, e^-5, actions are next to the tanh of the mean.
    quiet = eqx.tree_at(lambda each: each.log_std, network, jnp.full(2, -np.inf))
    played = play(policy(quiet, random_goals), 6, FUN_SHAPE)
    assert played.active.any() == (random_goals > 0)
    outputs = quiet(steps_of(played), INTERVAL)
    np.testing.assert_allclose(played.embeddings, outputs.latents[:, 0], atol=1e-5)
    np.testing.assert_allclose(played.high_actions, outputs.goals[:-1:INTERVAL, 0], atol=1e-5)
    np.testing.assert_allclose(played.actions, np.tanh(outputs.means[:-1, 0]), atol=4 * np.exp(-5))


class Evaluating:
    """Plays the episodes of evaluation."""

    def __init__(self, policy: FunPolicy):
        self._policy = policy

    def start(self, episode: Episode, rng: np.random.Generator) -> FunRollout:
        return self._policy.start_evaluation(episode)

    def start_evaluation(self, episode: Episode) -> FunRollout:
        return self._policy.start_evaluation(episode)


def test_evaluation_takes_the_mode_and_the_manager_s_own_goals(network: FunNetwork) -> None:
    played = play(Evaluating(policy(network, 1.0)), 6, FUN_SHAPE)
    assert not played.active.any()
    means = network(steps_of(played), INTERVAL).means[:-1, 0]
    np.testing.assert_allclose(played.actions, np.tanh(means), atol=1e-5)


def test_goals_are_directions(network: FunNetwork, episode: Episode) -> None:
    goals = network(steps_of(episode), INTERVAL).goals
    np.testing.assert_allclose(jnp.linalg.norm(goals, axis=-1), 1.0, atol=1e-5)
    np.testing.assert_allclose(
        episode.subgoals - episode.embeddings[:-1:INTERVAL], episode.high_actions, atol=1e-6
    )


def test_a_goal_modulates_the_worker_for_c_steps(network: FunNetwork, episode: Episode) -> None:
    """U w with w = φ(Σ of the last c goals): a random goal at step 5 counts until step 9."""
    steps = steps_of(episode)
    calm = steps._replace(random=jnp.zeros_like(steps.random))
    disturbed = calm._replace(random=calm.random.at[5].set(True))
    disturbed = disturbed._replace(directions=jnp.ones_like(steps.directions))
    one, two = (network(each, INTERVAL).means[:, 0] for each in (calm, disturbed))
    assert np.flatnonzero((abs(one - two) > 1e-4).any(-1)).tolist() == [5, 6, 7, 8, 9]


def test_without_goals_there_is_no_action(network: FunNetwork, episode: Episode) -> None:
    """φ has no bias and the policy is U w alone."""
    steps = steps_of(episode)
    nothing = steps._replace(
        random=jnp.ones_like(steps.random), directions=jnp.zeros_like(steps.directions)
    )
    assert not np.asarray(network(nothing, INTERVAL).means).any()


def test_the_worker_s_gradient_does_not_reach_the_manager(
    network: FunNetwork, episode: Episode
) -> None:
    steps = steps_of(episode)

    def worker(changed: FunNetwork) -> jax.Array:
        outputs = changed(steps, INTERVAL)
        return outputs.means.sum() + outputs.worker_values.sum()

    gradient = jax.grad(worker)(network)
    reached = {
        name: any(np.asarray(leaf).any() for leaf in jax.tree.leaves(getattr(gradient, name)))
        for name in ("perception", "space", "manager", "goal_embedding", "worker", "policy")
    }
    assert reached == {
        "perception": True,
        "space": False,
        "manager": False,
        "goal_embedding": True,
        "worker": True,
        "policy": True,
    }


def test_the_latent_network_takes_raw_observations(network: FunNetwork, episode: Episode) -> None:
    latents = latent_network(network, SCALING)(jnp.asarray(episode.observations))
    assert latents.shape == (FUN_SHAPE.horizon + 1, DIM)
    np.testing.assert_allclose(latents, episode.embeddings, atol=1e-5)
