"""What skills learn from: steps with the skill of their segment."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from hess.agents.dads.acting import DrawnSkills, SkillPolicy
from hess.agents.dads.dynamics import Moves, Scale, SkillDynamics, skill_reward
from hess.agents.dads.learner import moves_at, skill_batch
from hess.learning.inputs import Scaling
from hess.replay.sampling import Index, newest_counts
from tests.agents.tiny import INTERVAL, SHAPE, network, play, stack, tiny_config

POLICY = SkillPolicy(INTERVAL, None, DrawnSkills(INTERVAL, 1.0), exploring=True)
EPISODES = [play(POLICY, 0), play(POLICY, 1, length=13)]
RING = stack(EPISODES, slots=3)
SCALING = Scaling(np.ones(4, np.float32), np.full(4, 2.0, np.float32))
INDEX = Index(jnp.array([0, 1, 1]), jnp.array([7, 4, 12]))


def test_a_move_is_a_step_under_the_skill_of_its_segment() -> None:
    whole = moves_at(RING.episodes, INDEX, "observation", INTERVAL)
    plane = moves_at(RING.episodes, INDEX, "positions", INTERVAL)
    for row, (slot, step) in enumerate([(0, 7), (1, 4), (1, 12)]):
        episode = EPISODES[slot]
        change = episode.observations[step + 1] - episode.observations[step]
        np.testing.assert_array_equal(whole.changes[row], change)
        np.testing.assert_array_equal(whole.skills[row], episode.subgoals[step // INTERVAL])
        np.testing.assert_array_equal(plane.states[row], episode.positions[step])
    assert plane.changes.shape == (3, 2)


def test_a_batch_is_rewarded_by_the_dynamics_and_ends_only_with_the_task() -> None:
    config = tiny_config()
    unit = Scale(jnp.zeros(4), jnp.ones(4))
    model = SkillDynamics(network([6, 8, 10]), unit, unit)
    key = jax.random.key(0)
    batch = skill_batch(RING.episodes, INDEX, model, config, scaling=SCALING, key=key)
    moves = moves_at(RING.episodes, INDEX, "observation", INTERVAL)
    size = (config.dads.other_skills, 3, 2)
    others = jax.random.uniform(key, size, minval=-1.0, maxval=1.0)
    np.testing.assert_allclose(batch.rewards, skill_reward(model, Moves(*moves), others))
    np.testing.assert_array_equal(batch.terminated, [0, 0, 1])
    seen = 2.0 * (EPISODES[0].observations[8] - 1.0)
    expected = np.append(seen, EPISODES[0].subgoals[1])
    np.testing.assert_allclose(batch.next_observations[0], expected, rtol=1e-6)


def test_only_the_newest_episodes_are_counted() -> None:
    ring = stack([play(POLICY, number, length=5 + number) for number in range(3)], slots=4)
    found = [newest_counts(ring, ring.episodes.length, window).tolist() for window in (1, 2, 9)]
    assert found == [[0, 0, 7, 7], [0, 6, 13, 13], [5, 11, 18, 18]]


def test_a_skill_lies_where_the_high_level_reads_its_action() -> None:
    assert SHAPE.subgoal_dim == EPISODES[0].high_actions.shape[1]
    np.testing.assert_array_equal(EPISODES[0].high_actions, EPISODES[0].subgoals)
    assert not EPISODES[0].embeddings.any()
