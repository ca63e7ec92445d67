"""The high level's learner: what it is rewarded for, with and without a bonus."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.agents.hess.agent import Hess
from hess.agents.hess.bonuses.bonus import SubgoalSpace, see_segments
from hess.agents.hess.high_level import HighLevel, HighState, reached_offsets
from hess.agents.hess.random_episodes import RandomPolicy
from hess.agents.methods import METHODS
from hess.config import Config, override
from hess.learning.inputs import HighView, Scaling
from hess.learning.subgoal_box import SubgoalBox
from hess.learning.transitions import high_batch
from hess.replay.sampling import Index
from tests.agents.tiny import FIELDS, INTERVAL, SHAPE, first_coordinates, play, stack, tiny_config

PHI = first_coordinates(SHAPE.observation_dim)
WITH_BONUS = [name for name, row in METHODS.items() if "intrinsic.kind" in row.overrides]


def ignore(what: str, share: float) -> None:
    """Nobody watches the progress."""


def learn(config: Config, bonus_state: Any, updates: int) -> tuple[HighState, dict[str, Any]]:
    """The high level after updates on three episodes without any reward from the task."""
    level = HighLevel(config, SHAPE)
    replay = stack([play(RandomPolicy(config), seed) for seed in range(3)])
    space = SubgoalSpace(PHI, SubgoalBox(2.0), HighView(PHI, remembered=True))
    state = level.init(jax.random.key(0))._replace(bonus=bonus_state)
    return jax.jit(level.learn)(state, replay, space, jax.random.key(1), updates)


def test_the_bonus_is_added_to_the_reward_and_scaled_with_it() -> None:
    config = tiny_config(
        intrinsic__kind="reactive",
        high__warmup="policy",
        high__discount=0.0,
        high__reward_scale=0.1,
        high__learning_rate=1e-2,
    )
    _, metrics = learn(config, jnp.full((3, SHAPE.segments), 30.0), 2_000)
    # Mean over all updates, from about 0 at the first to 0.1 · 30 at the last.
    assert float(metrics["high/value"]) == pytest.approx(3.0, rel=0.1)
    assert float(metrics["intrinsic/mean"]) == pytest.approx(30.0)
    assert float(metrics["intrinsic/variance"]) == pytest.approx(0.0, abs=1e-3)


def test_mean_and_variance_are_those_of_the_stored_segments() -> None:
    config = tiny_config(intrinsic__kind="reactive", high__warmup="policy")
    table = np.arange(12.0, dtype=np.float32).reshape(3, SHAPE.segments)
    _, metrics = learn(config, jnp.asarray(table), 0)
    # Drawn uniformly, 64 of them.
    assert float(metrics["intrinsic/mean"]) == pytest.approx(table.mean(), abs=1.5)
    assert float(metrics["intrinsic/variance"]) == pytest.approx(table.var(), rel=0.4)


def test_a_bonus_sees_states_as_they_are_however_the_policy_sees_them() -> None:
    config = tiny_config()
    replay = stack([play(RandomPolicy(config), 0, length=13), play(RandomPolicy(config), 1)])
    blind = HighView(PHI, Scaling(np.zeros(8, np.float32), np.zeros(8, np.float32)))
    space = SubgoalSpace(PHI, SubgoalBox(2.0), blind)
    index = Index(jnp.array([0, 1]), jnp.array([2, 1]))
    batch = high_batch(
        replay.episodes, index, config.high, INTERVAL, box=space.box, view=space.view
    )
    assert not batch.observations.any()
    segments = see_segments(batch, replay.episodes, index, INTERVAL, space)
    states = np.asarray(replay.episodes.observations)
    # The third segment of the first episode ends with it, after three steps.
    expected = [states[0, 10, :2] / 2, states[1, 5, :2] / 2]
    np.testing.assert_allclose(segments.embeddings, expected, rtol=1e-5)
    expected = [states[0, 13, :2] / 2, states[1, 10, :2] / 2]
    np.testing.assert_allclose(segments.next_embeddings, expected, rtol=1e-5)


def test_hindsight_takes_what_a_segment_reached_for_its_subgoal() -> None:
    config = tiny_config()
    replay = stack([play(RandomPolicy(config), 0, length=13), play(RandomPolicy(config), 1)])
    states = np.asarray(replay.episodes.observations)[..., :2]
    index = Index(jnp.array([0, 1]), jnp.array([2, 1]))
    for radius in (50.0, 1e-6):
        offsets = reached_offsets(
            replay.episodes, index, INTERVAL, SubgoalSpace(PHI, SubgoalBox(radius))
        )
        moved = np.stack([states[0, 13] - states[0, 10], states[1, 10] - states[1, 5]])
        np.testing.assert_allclose(offsets, np.clip(moved / radius, -1, 1), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kind", ["none", "reactive"])
def test_hindsight_changes_what_the_policy_learns_from(kind: str) -> None:
    bonus = None if kind == "none" else jnp.ones((3, SHAPE.segments))
    weights = []
    for share in (0.0, 0.5):
        config = tiny_config(intrinsic__kind=kind, high__warmup="policy", high__hindsight=share)
        state, _ = learn(config, bonus, 5)
        weights.append(np.asarray(state.policy.actor.weights[0]))
    assert not np.array_equal(weights[0], weights[1])


def test_without_a_bonus_nothing_is_kept_and_nothing_logged() -> None:
    state, metrics = learn(tiny_config(), None, 1)
    assert state.bonus is None
    assert not [name for name in metrics if name.startswith("intrinsic/")]


@pytest.mark.parametrize("name", WITH_BONUS)
def test_the_methods_with_a_bonus_learn_before_any_success(name: str) -> None:
    config: Config = METHODS[name].apply(override(Config(), FIELDS))
    agent = Hess(config, SHAPE)
    rounds = [
        agent.learn([play(agent.policy(0.0), seed)], ignore)
        for seed in range(config.representation.first_update + 2)
    ]
    assert all(metrics["exploration/probability"] == 0.0 for metrics in rounds)
    for metrics in rounds[-2:]:
        assert metrics["high/critic_loss"] > 0
        assert metrics["intrinsic/mean"] > 0
        assert np.isfinite(metrics["intrinsic/variance"])
    assert any(".bonus" in array for array in agent.state())
