"""The network as a whole: what modulates the worker, what gradients reach, and its NumPy copy."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.agents.fun.agent import latent_network
from hess.agents.fun.learner import FunLearner, FunState
from hess.agents.fun.networks import FunNetwork, Steps
from hess.agents.fun.normalisation import Moments
from hess.agents.fun.policy import FunPolicy
from hess.replay import Episode
from tests.agents.fun.small import DIM, FUN_SHAPE, SMALL, small_state
from tests.agents.tiny import INTERVAL, play


@pytest.fixture(scope="module")
def state() -> FunState:
    return small_state()


def steps_of(state: FunState, episode: Episode) -> Steps:
    inputs = np.concatenate([episode.observations, episode.goals], -1)[:, None]
    stacked = jax.tree.map(lambda leaf: np.asarray(leaf)[None], episode)
    learner = FunLearner(SMALL, FUN_SHAPE, INTERVAL)
    return learner._steps(state.moments.normalise(jnp.asarray(inputs)), stacked)


@pytest.fixture(scope="module")
def episode(state: FunState) -> Episode:
    played = play(FunPolicy(state, INTERVAL, random_goals=0.5), 4, FUN_SHAPE)
    assert played.active.any()
    assert not played.active.all()
    return played


@pytest.mark.parametrize("random_goals", [0.0, 0.5])
def test_the_host_does_what_the_network_says(state: FunState, random_goals: float) -> None:
    """The deterministic action at every step is the tanh of the network's mean."""
    played = play(FunPolicy(state, INTERVAL, random_goals), 4, FUN_SHAPE)
    assert played.active.any() == (random_goals > 0)
    outputs = state.network(steps_of(state, played), INTERVAL)
    np.testing.assert_allclose(played.embeddings, outputs.latents[:, 0], atol=1e-5)
    np.testing.assert_allclose(played.high_actions, outputs.goals[:-1:INTERVAL, 0], atol=1e-5)
    silent = eqx.tree_at(lambda each: each.network.log_std, state, jnp.full(2, -np.inf))
    quiet = play(FunPolicy(silent, INTERVAL, random_goals), 4, FUN_SHAPE)
    means = silent.network(steps_of(silent, quiet), INTERVAL).means[:-1, 0]
    # The smallest deviation that there is, e^-5, is left.
    np.testing.assert_allclose(quiet.actions, np.tanh(means), atol=5 * np.exp(-5))


def test_evaluation_takes_the_mode_and_the_manager_s_own_goals(state: FunState) -> None:
    class Mode(FunPolicy):
        def start(self, episode: Episode, rng: np.random.Generator) -> object:  # type: ignore[override]
            return self.start_evaluation(episode)

    played = play(Mode(state, INTERVAL, random_goals=1.0), 4, FUN_SHAPE)
    assert not played.active.any()
    means = state.network(steps_of(state, played), INTERVAL).means[:-1, 0]
    np.testing.assert_allclose(played.actions, np.tanh(means), atol=1e-5)


def test_goals_are_directions(state: FunState, episode: Episode) -> None:
    goals = state.network(steps_of(state, episode), INTERVAL).goals
    np.testing.assert_allclose(jnp.linalg.norm(goals, axis=-1), 1.0, atol=1e-5)
    np.testing.assert_allclose(
        episode.subgoals - episode.embeddings[:-1:INTERVAL], episode.high_actions, atol=1e-6
    )


def test_a_goal_modulates_the_worker_for_c_steps(state: FunState, episode: Episode) -> None:
    """U w with w = φ(Σ of the last c goals): a random goal at step 5 counts until step 9."""
    steps = steps_of(state, episode)
    calm = steps._replace(random=jnp.zeros_like(steps.random))
    disturbed = calm._replace(random=calm.random.at[5].set(True))
    disturbed = disturbed._replace(directions=jnp.ones_like(steps.directions))
    one, two = (state.network(each, INTERVAL).means[:, 0] for each in (calm, disturbed))
    assert np.flatnonzero((abs(one - two) > 1e-4).any(-1)).tolist() == [5, 6, 7, 8, 9]


def test_without_goals_there_is_no_action(state: FunState, episode: Episode) -> None:
    """φ has no bias and the policy is U w alone."""
    steps = steps_of(state, episode)
    nothing = steps._replace(
        random=jnp.ones_like(steps.random), directions=jnp.zeros_like(steps.directions)
    )
    assert not np.asarray(state.network(nothing, INTERVAL).means).any()


def test_the_worker_s_gradient_does_not_reach_the_manager(
    state: FunState, episode: Episode
) -> None:
    steps = steps_of(state, episode)

    def worker(network: FunNetwork) -> jax.Array:
        outputs = network(steps, INTERVAL)
        return outputs.means.sum() + outputs.worker_values.sum()

    gradient = jax.grad(worker)(state.network)
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


def test_the_latent_network_takes_raw_observations(state: FunState, episode: Episode) -> None:
    latents = latent_network(state)(jnp.asarray(episode.observations))
    assert latents.shape == (FUN_SHAPE.horizon + 1, DIM)
    np.testing.assert_allclose(latents, episode.embeddings, atol=1e-5)


def test_moments_are_those_of_everything_seen() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(3.0, 2.0, (40, 3, 2)).astype(np.float32)
    values[..., 1] = 7.0
    mask = rng.random((40, 3)) < 0.8
    moments = Moments(2)
    assert moments.scale.tolist() == [1.0, 1.0]
    for part in (slice(0, 5), slice(5, 40)):
        moments = moments.updated(jnp.asarray(values[part]), jnp.asarray(mask[part]))
    seen = values[mask]
    np.testing.assert_allclose(moments.mean, seen.mean(0), rtol=1e-5)
    np.testing.assert_allclose(moments.scale, 1 / np.sqrt(seen.var(0) + 0.01), rtol=1e-4)
    normal = moments.normalise(jnp.asarray(seen))
    np.testing.assert_allclose(normal.mean(0), [0, 0], atol=1e-4)
