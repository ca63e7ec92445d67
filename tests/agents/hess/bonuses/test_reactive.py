"""Reactive exploration: η₁/√N + η₂/√-U of where a segment ended."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from hess.agents.hess.agent import Hess
from hess.agents.hess.bonuses.bonus import Segments
from hess.agents.hess.bonuses.reactive import Reactive, reactive_rewards
from hess.agents.hess.exploration.explorer import Explorer
from hess.agents.methods import METHODS
from hess.config import IntrinsicConfig, override
from hess.replay.episode import empty_episode
from hess.replay.sampling import Index
from tests.agents.tiny import SHAPE, first_coordinates, play, stack, tiny_config


def test_the_reward_by_hand() -> None:
    visits, potential = np.array([100.0, 0.25, 4.0]), np.array([-4.0, 0.0, -25.0])
    rewards = reactive_rewards(visits, potential, IntrinsicConfig())
    np.testing.assert_allclose(rewards, [100 + 5, 1000 + 10, 500 + 2])
    config = IntrinsicConfig(novelty_weight=10.0, potential_weight=0.0)
    np.testing.assert_allclose(reactive_rewards(visits, potential, config), [1, 10, 5])


def test_what_was_learned_is_taken_over_by_an_agent_with_a_smaller_replay() -> None:
    fields = METHODS["hess-reactive"].overrides
    config = override(tiny_config(), fields)
    agent = Hess(config, SHAPE)
    for number in range(3):
        agent.learn([play(agent.policy(0.0), number)], lambda what, share: None)
    loaded = Hess(override(config, {"capacity": SHAPE.horizon}), SHAPE)
    loaded.restore(agent.state())
    assert np.array_equal(loaded.networks.bonus, agent.networks.bonus)
    assert agent.networks.bonus.any()


def test_every_stored_segment_has_the_reward_of_its_end() -> None:
    config = tiny_config(exploration__cell_size=1.0, exploration__novelty="immediate")
    explorer = Explorer(config, SHAPE.subgoal_dim)
    explorer.unit = 2.0
    # 100 visits where the first segment ends, 4 where the second does, none where the third does.
    explorer.measures.visit(np.array([[5.5, 0.5]] * 100 + [[10.5, 0.5]] * 4))
    explorer.measures.record_outcomes(np.array([[10.5, 0.5]]), np.array([32.0]))
    episode = empty_episode(SHAPE)
    episode.observations[:, 0] = np.arange(SHAPE.horizon + 1) + 0.5
    episode.length[...] = 13  # the third segment ends early, the fourth was never begun
    bonus = Reactive(config, SHAPE)
    slots = config.capacity // SHAPE.horizon
    table = bonus.refresh(
        bonus.init(jax.random.key(0)),
        explorer,
        first_coordinates(SHAPE.observation_dim),
        stack([episode], slots),
    )
    assert table.shape == (slots, SHAPE.segments)
    # The remaining 32 are 16 in units in which r_g is as configured.
    np.testing.assert_allclose(table[0, :3], [100 + 10, 500 + 2.5, 1000 + 10])
    assert not table[1:].any()
    place = Index(jnp.array([0, 0, 1]), jnp.array([1, 2, 1]))
    empty = jnp.zeros((3, 2))
    rewards = bonus.rewards(table, Segments(place, empty, empty, empty, empty, empty[:, 0]))
    np.testing.assert_allclose(rewards, [502.5, 1010.0, 0.0])
