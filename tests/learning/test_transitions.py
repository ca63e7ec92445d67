"""What both levels and the flat baseline learn from, on hand-made episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.config import HighConfig, LowConfig
from hess.learning.inputs import HighView, Scaling, no_scaling
from hess.learning.sac import Batch
from hess.learning.subgoal_box import SubgoalBox
from hess.learning.transitions import LowView, flat_batch, high_batch, low_batch, low_reward
from hess.replay.episode import Episode, EpisodeShape, empty_episode
from hess.replay.sampling import Index
from tests.agents.tiny import linear, stack

# Twelve steps, segments of four. The first episode runs to its horizon, the second one ends
# by itself after six steps: its second segment has two steps, its third none.
C = 4
SHAPE = EpisodeShape(
    horizon=12, observation_dim=1, goal_dim=1, action_dim=1, subgoal_dim=2, segments=3
)
SCALING = Scaling(np.ones(1, np.float32), np.full(1, 2.0, np.float32))
PLAIN = HighView()


def episode(number: int, length: int, terminated: bool) -> Episode:
    """State t of episode n is 100 n + t; so is its goal, halved; φ is (n, t)."""
    made = empty_episode(SHAPE)
    times = np.arange(length + 1)
    made.observations[: length + 1, 0] = 100 * number + times
    made.goals[: length + 1, 0] = (100 * number + times) / 2
    made.embeddings[: length + 1] = np.stack([np.full(length + 1, number), times], -1)
    # What lies behind the end must never be read: it would be far off.
    made.observations[length + 1 :] = made.embeddings[length + 1 :] = 1e6
    made.actions[:length, 0] = times[:-1] / 100
    made.actions[length:] = made.rewards[length:] = 1e6
    made.rewards[:length] = 10.0 ** -times[:-1]
    made.successes[length:] = True
    made.subgoals[:] = [[number, 50], [number, 60], [number, 70]]
    made.length[...] = length
    made.terminated[...] = terminated
    made.embedded[...] = True
    return made


def both() -> Episode:
    first, second = episode(0, 12, False), episode(1, 6, True)
    first.successes[5] = True  # in its second segment
    return stack([first, second]).episodes


EPISODES = both()
STEPS = [(0, step) for step in range(12)] + [(1, step) for step in range(6)]
SEGMENTS = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]


RADIUS = 20.0


def index(pairs: Sequence[tuple[int, int]]) -> Index:
    slots, places = np.array(pairs).T
    return Index(jnp.asarray(slots), jnp.asarray(places))


class Rows:
    """A batch that is read by slot and step, or by slot and segment."""

    def __init__(self, batch: Batch, pairs: Sequence[tuple[int, int]]):
        self._batch = jax.tree.map(np.asarray, batch)
        self._pairs = pairs

    def __call__(self, field: str, *pairs: tuple[int, int]) -> list[Any]:
        values = getattr(self._batch, field)
        return [values[self._pairs.index(pair)].tolist() for pair in pairs]


def low(*pairs: tuple[int, int], **fields: Any) -> Batch:
    settings: dict[str, Any] = {
        "hindsight": 0.0,
        "any_subgoal": 0.0,
        "reward": "distance",
        "subgoal_input": "absolute",
    }
    config = LowConfig(**(settings | fields))
    view = LowView(no_scaling(EPISODES.observations.shape[-1]), SubgoalBox(RADIUS))
    batch = jax.jit(lambda index, key: low_batch(EPISODES, index, config, C, view=view, key=key))
    made: Batch = jax.tree.map(np.asarray, batch(index(pairs), jax.random.key(0)))
    return made


@pytest.fixture(scope="module")
def low_rows() -> Rows:
    """Every low-level transition of both episodes."""
    return Rows(low(*STEPS), STEPS)


def test_low_level_states_are_observation_embedding_and_subgoal(low_rows: Rows) -> None:
    assert low_rows("observations", (0, 0), (0, 5), (1, 2)) == [
        [0, 0, 0, 0, 50],
        [5, 0, 5, 0, 60],
        [102, 1, 2, 1, 50],
    ]
    assert low_rows("actions", (0, 5), (1, 2)) == [pytest.approx([0.05]), pytest.approx([0.02])]


def test_the_next_low_level_state_keeps_the_subgoal_across_the_segment_end(
    low_rows: Rows,
) -> None:
    # State 4 begins the second segment, but for the transition that leads there g stays.
    following = low_rows("next_observations", (0, 3), (0, 4))
    assert following == [[4, 0, 4, 0, 50], [5, 0, 5, 0, 60]]
    assert low_rows("rewards", (0, 3), (0, 4)) == [-(50 - 4), -(60 - 5)]


def test_low_level_rewards_by_hand() -> None:
    goal = jnp.array([[3.0, 4.0]])
    here, there = jnp.array([[0.0, 0.0]]), jnp.array([[3.0, 1.0]])
    assert low_reward("distance", goal - here, goal - there).tolist() == [-3.0]
    assert low_reward("progress", goal - here, goal - there).tolist() == [5.0 - 3.0]


def test_progress_is_the_decrease_of_the_distance() -> None:
    rows = Rows(low(*STEPS, reward="progress"), STEPS)
    assert rows("rewards", (0, 0), (0, 5), (1, 5)) == [1, 1, 1]


def test_the_low_level_bootstraps_at_truncation_and_not_at_termination(low_rows: Rows) -> None:
    # Success at step 5 of the first episode does not end anything for the low level.
    steps = [(0, 5), (0, 11), (1, 4), (1, 5)]
    assert low_rows("terminated", *steps) == [0, 0, 0, 1]
    assert [state[0] for state in low_rows("next_observations", *steps)] == [6, 12, 105, 106]


FUTURES = {
    (0, 0): {1, 2, 3, 4},
    (0, 6): {7, 8, 9, 10},
    (0, 10): {11, 12},
    (1, 1): {2, 3, 4, 5},
    (1, 4): {5, 6},
    (1, 5): {6},
}


def test_hindsight_takes_what_the_same_episode_reached_within_c_steps() -> None:
    pairs = [pair for pair in FUTURES for _ in range(300)]
    batch = low(*pairs, hindsight=1.0)
    goals = batch.observations[:, -2:]
    assert np.array_equal(batch.next_observations[:, -2:], goals)
    # φ is (episode, step): the subgoal says where it was taken from.
    assert goals[:, 0].tolist() == [slot for slot, _ in pairs]
    np.testing.assert_allclose(
        batch.rewards, -np.abs(goals[:, 1] - batch.next_observations[:, 2]), atol=1e-6
    )
    drawn = goals[:, 1].reshape(len(FUTURES), 300)
    assert [set(steps.tolist()) for steps in drawn] == list(FUTURES.values())


def test_hindsight_replaces_the_share_that_was_asked_for() -> None:
    batch = low(*[(0, 0)] * 4000, hindsight=0.3)
    replaced = batch.observations[:, -1] != 50
    assert replaced.mean() == pytest.approx(0.3, abs=0.03)


def test_any_subgoal_within_the_radius_takes_its_share_of_the_rest() -> None:
    batch = low(*[(0, 6)] * 4000, hindsight=0.2, any_subgoal=0.5)
    offsets = batch.observations[:, -2:] - batch.observations[:, -4:-2]
    whole = (batch.observations[:, -2:] % 1.0 == 0.0).all(-1)  # as stored subgoals and states are
    assert whole.mean() == pytest.approx(0.6, abs=0.03)
    drawn = offsets[~whole]
    assert np.abs(drawn).max() <= RADIUS
    assert drawn.mean(0) == pytest.approx([0.0, 0.0], abs=0.1 * RADIUS)
    assert np.abs(drawn).mean(0) == pytest.approx([0.5 * RADIUS] * 2, rel=0.1)
    assert np.array_equal(batch.next_observations[:, -2:], batch.observations[:, -2:])


def high(stop_at_success: bool, radius: float = 100.0, view: HighView = PLAIN) -> Rows:
    config = HighConfig(stop_at_success=stop_at_success)
    batch = jax.jit(lambda index, box: high_batch(EPISODES, index, config, C, box=box, view=view))
    return Rows(batch(index(SEGMENTS), SubgoalBox(radius)), SEGMENTS)


@pytest.fixture(scope="module", params=[True, False], ids=["stop", "go on"])
def high_rows(request: pytest.FixtureRequest) -> tuple[bool, Rows]:
    """Every high-level transition, with and without an end at success."""
    return request.param, high(request.param)


def test_high_level_transitions_lead_from_segment_to_segment(
    high_rows: tuple[bool, Rows],
) -> None:
    starts, ends = [0, 4, 8, 100, 104], [4, 8, 12, 104, 106]
    rows = high_rows[1]
    assert rows("observations", *SEGMENTS) == [[state, state / 2] for state in starts]
    assert rows("next_observations", *SEGMENTS) == [[state, state / 2] for state in ends]


def test_the_high_level_sees_through_its_view() -> None:
    twice = linear([[2.0, 0.0]], [0.0, 1.0])  # φ(s) = (2 s, 1), not what was stored
    centre, factor = np.array([1, 2, 1, 0], np.float32), np.array([10, 1, 5, 4], np.float32)
    rows = high(True, view=HighView(twice, Scaling(centre, factor)))
    expected = [10 * (100 - 1), 200 - 2, 0, 4 * 50]
    assert rows("observations", (1, 0)) == [expected]
    assert rows("next_observations", (1, 0)) == [[10 * (104 - 1), 208 - 2, 0, 4 * 52]]


def test_a_memory_is_the_mean_of_phi_at_the_starts_of_segments_so_far() -> None:
    """The last segment of the second episode ends early, and its end counts as a start."""
    twice = linear([[2.0, 0.0]], [0.0, 1.0])  # φ(s) = (2 s, 1)
    rows = high(True, view=HighView(twice, observed=False, remembered=True))
    assert rows("observations", (1, 0)) == [[200, 1, 200, 1, 50]]
    assert rows("next_observations", (1, 0)) == [[208, 1, 204, 1, 52]]
    assert rows("observations", (1, 1)) == [[208, 1, 204, 1, 52]]
    [[*_, memory, one, _]] = rows("next_observations", (1, 1))
    assert [memory, one] == pytest.approx([(200 + 208 + 212) / 3, 1])


def test_high_level_rewards_are_sums_over_the_steps_taken(high_rows: tuple[bool, Rows]) -> None:
    stops, rows = high_rows
    # Rewards are 1, 0.1, 0.01, ...; the goal is reached with the second step of (0, 1).
    second = 1.1e-4 if stops else 1.111e-4
    expected = [1.111, second, 1.111e-8, 1.111, 1.1e-4]
    np.testing.assert_allclose(rows("rewards", *SEGMENTS), expected, rtol=1e-5)


def test_the_high_level_stops_at_termination_and_if_asked_at_success(
    high_rows: tuple[bool, Rows],
) -> None:
    stops, rows = high_rows
    assert rows("terminated", *SEGMENTS) == [0, int(stops), 0, 0, 1]


def test_high_level_actions_are_offsets_in_units_of_the_radius(
    high_rows: tuple[bool, Rows],
) -> None:
    actions = high_rows[1]("actions", (0, 0), (0, 1), (1, 1))
    np.testing.assert_allclose(actions, [[0, 0.5], [0, 0.56], [0, 0.56]], rtol=1e-6)


def test_high_level_actions_beyond_the_radius_are_clipped() -> None:
    assert high(True, radius=10.0)("actions", (0, 0)) == [[0, 1]]


@pytest.fixture(scope="module", params=[True, False], ids=["stop", "go on"])
def flat_rows(request: pytest.FixtureRequest) -> tuple[bool, Rows]:
    """Every transition of the task itself."""
    batch = jax.jit(lambda index: flat_batch(EPISODES, index, request.param, SCALING))
    return request.param, Rows(batch(index(STEPS)), STEPS)


def test_the_flat_baseline_sees_observation_and_goal_and_the_plain_reward(
    flat_rows: tuple[bool, Rows],
) -> None:
    steps, rows = [(0, 4), (0, 11), (1, 5)], flat_rows[1]
    assert rows("observations", *steps) == [[6, 2], [20, 5.5], [208, 52.5]]
    assert rows("next_observations", *steps) == [[8, 2.5], [22, 6], [210, 53]]
    np.testing.assert_allclose(rows("rewards", *steps), [1e-4, 1e-11, 1e-5], rtol=1e-5)


def test_the_flat_baseline_stops_at_termination_and_if_asked_at_success(
    flat_rows: tuple[bool, Rows],
) -> None:
    stops, rows = flat_rows
    assert rows("terminated", (0, 4), (0, 5), (0, 11), (1, 5)) == [0, int(stops), 0, 1]
