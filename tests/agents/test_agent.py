"""What every agent keeps: episodes, success, owed updates, keys, and all of it in a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.agents.agent import BaseAgent, Policy, Progress
from hess.replay.episode import Episode, empty_episode
from tests.agents.tiny import SHAPE, tiny_config


class Plain(BaseAgent):
    """Bookkeeping alone, for two learners."""

    purposes: ClassVar[tuple[str, ...]] = ("one", "other")

    def __init__(self, **fields: object) -> None:
        super().__init__(tiny_config(**fields), SHAPE, learners=(2,))
        self.networks = {"weight": jnp.zeros(3)}

    def policy(self, progress: float) -> Policy:
        raise AssertionError("nobody acts here")

    def learn(self, episodes: Sequence[Episode], report: Progress) -> dict[str, float]:
        raise AssertionError("nobody learns here")


def episode(success: bool = False, length: int = 20) -> Episode:
    made = empty_episode(SHAPE)
    made.observations[:] = np.arange(len(made.observations))[:, None]
    made.successes[length - 1] = success
    made.length[...] = length
    return made


def test_recent_success_looks_back_over_a_window() -> None:
    agent = Plain(exploration__success_window=4)
    assert agent.recent_success() == 0.0
    for success in (True, True, False, False, False, True):
        agent.store(episode(success))
    assert agent.recent_success() == 0.25
    agent.store(episode(success=True), judged=False)
    assert agent.recent_success() == 0.25
    assert agent.episodes == 7


def test_sizes_are_those_of_the_states_that_were_seen() -> None:
    agent = Plain()
    agent.store(episode(length=4))
    agent.store(episode(), measured=False)
    assert agent.moments.count == 5
    assert agent.moments.mean.tolist() == [2.0] * SHAPE.observation_dim


def test_fractions_of_updates_are_carried_over() -> None:
    agent = Plain()
    made = [agent.updates_due(np.array([0.4, 1.5])).tolist() for _ in range(5)]
    assert made == [[0, 1], [0, 2], [1, 1], [0, 2], [1, 1]]
    assert int(agent.updates_due(2.5, 1)) == 3  # half an update was left
    assert np.allclose(agent.state()["updates_owed"], [0.0, 0.0])


def test_keys_differ_by_purpose_and_episode_and_nothing_else() -> None:
    agent, twin = Plain(), Plain()
    first = [jax.random.key_data(agent.key(purpose)) for purpose in (None, "one", "other")]
    assert len({tuple(np.asarray(each).tolist()) for each in first}) == 3
    assert np.array_equal(jax.random.key_data(twin.key("one")), first[1])
    agent.store(episode())
    assert not np.array_equal(jax.random.key_data(agent.key("one")), first[1])


def test_state_restores_everything() -> None:
    agent, copy = Plain(), Plain()
    agent.networks = {"weight": jnp.arange(3.0)}
    agent.store(episode(success=True))
    agent.updates_due(np.array([0.4, 1.5]))
    copy.restore(agent.state())
    before, after = agent.state(), copy.state()
    assert before.keys() == after.keys()
    for name, array in before.items():
        assert np.array_equal(array, after[name]), name
    assert copy.recent_success() == 1.0


def test_nothing_is_left_of_what_was_before_a_restore() -> None:
    agent, copy = Plain(), Plain()
    agent.store(episode(success=True))
    for _ in range(3):
        copy.store(episode(success=False))
    copy.restore(agent.state())
    assert copy.recent_success() == 1.0


def test_a_method_has_to_act_and_to_learn() -> None:
    with pytest.raises(TypeError, match="abstract method"):
        BaseAgent(tiny_config(), SHAPE)  # type: ignore[abstract]
