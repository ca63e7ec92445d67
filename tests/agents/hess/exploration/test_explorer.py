"""What the agent notes of every episode, and how it measures itself after φ has changed."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from hess.agents.hess.exploration import explorer as explorer_module
from hess.agents.hess.exploration.explorer import Explorer
from hess.agents.hess.rollouts import ViewedActor
from hess.arrays import Floats
from hess.learning.inputs import HighView
from hess.replay.episode import Episode, empty_episode
from hess.replay.ring import Replay
from tests.agents.hess.test_acting import HIGH
from tests.agents.tiny import INTERVAL, SHAPE, first_coordinates, linear, stack, tiny_config

PHI = first_coordinates(SHAPE.observation_dim)
SEEING = ViewedActor(HIGH, HighView(PHI))


def explorer(**fields: Any) -> Explorer:
    """Cells of edge 1, in φ's own units."""
    settings = {"exploration__cell_size": 1.0, "exploration__units": "fixed"}
    config = tiny_config(**(settings | fields))
    return Explorer(config, config.representation.dimensions(SHAPE.observation_dim))


def episode(length: int = 20, *, success: bool = False, embedded: bool = True) -> Episode:
    """φ moves by (1, 0) a step, from (0.5, 0.5)."""
    made = empty_episode(SHAPE)
    made.observations[: length + 1, :2] = [(0.5 + step, 0.5) for step in range(length + 1)]
    made.embeddings[: length + 1] = made.observations[: length + 1, :2]
    made.successes[length - 1] = success
    made.length[...] = length
    made.embedded[...] = embedded
    return made


def visits(exploring: Explorer) -> Floats:
    """n of every visited cell."""
    return exploring.measures.visited()[1]


def at(*points: tuple[float, float]) -> Floats:
    return np.array(points)


def test_every_state_but_the_last_is_a_visit() -> None:
    exploring = explorer()
    exploring.record(episode(length=3))
    exploring.record(episode(length=3))
    assert visits(exploring).tolist() == [2, 2, 2]


def test_an_episode_without_embeddings_is_not_counted() -> None:
    exploring = explorer()
    exploring.record(episode(embedded=False, success=True))
    assert exploring.measures.visits.number == 0


def test_attempts_end_with_their_segment_or_their_episode() -> None:
    exploring = explorer()
    made = episode(length=8)  # the second segment has three steps
    made.active[:2] = True
    made.selected[:2] = [[2.5, 0.5], [6.5, 0.5]]
    made.subgoals[:2] = [[5.5, 2.5], [9.5, 0.5]]
    made.selected[2:] = 0.5
    exploring.record(made)
    # φ(s_5) = (5.5, 0.5) is 2 from its subgoal, φ(s_8) = (8.5, 0.5) is 1 from its own.
    assert exploring.measures.potential(at((2.5, 0.5), (6.5, 0.5))).tolist() == [-2, -1]
    # Segments by the policy, or never begun, say nothing about active selection.
    assert exploring.measures.potential(at((0.5, 0.5), (0.0, 0.0))).tolist() == [0, 0]


def test_without_active_selection_every_begun_segment_is_an_attempt() -> None:
    exploring = explorer(exploration__attempts="all")
    made = episode(length=8)
    made.active[0] = True
    made.subgoals[:2] = made.selected[:2] = [[5.5, 2.5], [9.5, 0.5]]
    exploring.record(made)
    assert exploring.measures.potential(at((5.5, 2.5), (9.5, 0.5))).tolist() == [-2, -1]
    assert exploring.measures.state()["potential_weights.values"].tolist() == [1, 1]


def test_an_episode_ages_earlier_attempts_and_not_its_own() -> None:
    exploring = explorer(exploration__age_discount=0.5)
    for distance in (4.0, 1.0):
        made = episode()
        made.active[0] = True
        made.selected[0] = [2.5, 0.5]
        made.subgoals[0] = [5.5, 0.5 + distance]
        exploring.record(made)
    expected = -(0.5 * 4 + 1) / 1.5
    assert exploring.measures.potential(at((2.5, 0.5)))[0] == pytest.approx(expected)


def test_p_follows_the_schedule() -> None:
    exploring = explorer(exploration__episode_share=0.8, exploration__schedule="success")
    assert exploring.set_probability(0.9, success=0.0) == pytest.approx(0.8)
    assert exploring.set_probability(0.9, success=0.5) == pytest.approx(0.4)
    assert exploring.metrics()["exploration/probability"] == pytest.approx(0.4)


@pytest.fixture(scope="module")
def replay() -> Replay:
    return stack([episode(), episode(length=10)], slots=4)


def test_the_first_representation_counts_everything_stored(replay: Replay) -> None:
    exploring = explorer()
    exploring.fit_to_representation(PHI, replay, None)
    assert visits(exploring).tolist() == [2] * 10 + [1] * 10
    assert exploring.unit == 1.0


@pytest.mark.parametrize(("recount", "total"), [(False, 3), (True, 30)])
def test_later_ones_count_anew_only_if_asked(replay: Replay, recount: bool, total: int) -> None:
    exploring = explorer(exploration__recount=recount)
    exploring.record(episode(length=3))
    exploring.fit_to_representation(PHI, replay, PHI)
    assert visits(exploring).sum() == total


def test_a_wider_space_widens_radius_and_cells(replay: Replay) -> None:
    exploring = explorer(exploration__units="span", exploration__reference_span=10.0)
    exploring.fit_to_representation(PHI, replay, None)
    unit = exploring.unit
    assert unit == pytest.approx(1.9, abs=0.05)  # φ spans 19 of the 10 that are meant
    assert exploring.radius == pytest.approx(unit * 2.0)
    assert exploring.measures.visits.places.size == pytest.approx(unit)
    doubled = linear(2 * np.eye(SHAPE.observation_dim, 2), np.zeros(2))
    exploring.fit_to_representation(doubled, replay, PHI)
    assert exploring.unit == pytest.approx(2 * unit)
    assert visits(exploring).sum() == 30
    assert exploring.metrics()["exploration/unit"] == exploring.unit


@pytest.mark.parametrize("count", [2, 3])
def test_a_checkpoint_has_as_many_directions_as_are_explored(
    replay: Replay, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {"representation__dim": 4, "exploration__directions": 3}
    exploring = explorer(**fields)
    monkeypatch.setattr(explorer_module, "explored_directions", lambda *_: np.eye(4, count))
    phi = linear(np.diag([1.0, 1.0, 0.9, 0.1]), np.zeros(4))
    exploring.fit_to_representation(phi, replay, None)
    exploring.refresh_novelty(phi, SEEING, replay)
    assert exploring.measures.project(np.zeros(4)).shape == (count,)
    assert exploring.state()["measures.plane"].shape == (4, 3)
    copy = Explorer(exploring.config, 4)
    copy.restore(exploring.state())
    assert copy.measures.visits.places == exploring.measures.visits.places
    points = np.random.default_rng(0).normal(0, 5, (50, 4))
    np.testing.assert_array_equal(copy.measures.novelty(points), exploring.measures.novelty(points))


def test_where_phi_has_three_dimensions_the_third_is_as_long_as_it_leads(replay: Replay) -> None:
    exploring = explorer(representation__dim=3, exploration__directions=3)
    phi = linear(np.eye(SHAPE.observation_dim, 3), np.zeros(3))
    random = np.random.default_rng(0).normal(0, 1, (200, 3))
    exploring.fit_to_representation(phi, replay, None, random)
    plane = exploring.measures.plane
    assert plane is not None
    first, second, third = np.linalg.norm(plane, axis=0)
    assert (first, second) == (pytest.approx(1.0), pytest.approx(1.0))
    assert third < 0.5


@pytest.mark.parametrize(("dim", "directions"), [(2, 3), (2, 2), (4, 0)])
def test_where_there_are_no_more_than_two_or_all_are_wanted_none_is_chosen(
    replay: Replay, dim: int, directions: int
) -> None:
    exploring = explorer(representation__dim=dim, exploration__directions=directions)
    phi = linear(np.eye(SHAPE.observation_dim, dim), np.zeros(dim))
    exploring.fit_to_representation(phi, replay, None)
    assert exploring.measures.plane is None


def test_how_many_directions_lead_somewhere_is_logged() -> None:
    exploring = explorer()
    assert exploring.metrics()["exploration/leading_directions"] == 2.0
    exploring.metric = np.array([[0.6, 0.3], [0.3, 0.7]], np.float32)
    assert exploring.metrics()["exploration/leading_directions"] == pytest.approx(1.3)


def test_potentials_follow_their_states_into_a_space_that_has_turned(replay: Replay) -> None:
    fields = {"representation__dim": 3, "exploration__directions": 2}
    exploring = explorer(exploration__potential_weight=0.5, **fields)
    was = linear(np.eye(SHAPE.observation_dim, 3), np.zeros(3))
    exploring.fit_to_representation(was, replay, None)
    tried, other = np.array([[15.5, 0.5, 0.0]]), np.array([[2.5, 0.5, 0.0]])
    exploring.measures.record_outcomes(tried, np.array([6.0]))
    turned = linear(np.eye(SHAPE.observation_dim, 3)[:, ::-1], np.array([0.0, 0.0, 7.0]))
    exploring.fit_to_representation(turned, replay, was)
    now = np.array([[0.0, 0.5, 22.5]])
    assert exploring.measures.potential(now).tolist() == [-6.0]
    assert exploring.measures.potential(other[:, ::-1] + [0, 0, 7.0]).tolist() == [0.0]


def test_lengths_follow_the_smaller_of_what_was_visited_and_what_a_segment_covers(
    replay: Replay,
) -> None:
    # φ spans 19, and every segment covers 5.
    fields = {"exploration__units": "segment", "exploration__reference_span": 10.0}
    exploring = explorer(exploration__reference_segment=10.0, **fields)
    exploring.fit_to_representation(PHI, replay, None)
    assert exploring.unit == pytest.approx(0.5)
    assert exploring.radius == pytest.approx(0.5 * 2.0)
    assert exploring.measures.visits.places.size == pytest.approx(0.5)
    wide = explorer(exploration__reference_segment=1.0, **fields)
    wide.fit_to_representation(PHI, replay, None)
    assert wide.unit == pytest.approx(1.9, abs=0.05)


def test_lengths_only_grow(replay: Replay) -> None:
    exploring = explorer(
        exploration__units="segment",
        exploration__reference_span=10.0,
        exploration__reference_segment=10.0,
    )
    exploring.fit_to_representation(PHI, replay, None)
    for factor, expected in ((0.5, 0.5), (1.05, 0.5), (3.0, 1.5), (1.0, 1.5)):
        scaled = linear(factor * np.eye(SHAPE.observation_dim, 2), np.zeros(2))
        exploring.fit_to_representation(scaled, replay, PHI)
        assert exploring.unit == pytest.approx(expected)


def test_where_no_segment_is_whole_the_span_decides() -> None:
    short = stack([episode(length=3), episode(length=4)])
    exploring = explorer(exploration__units="segment", exploration__reference_span=3.0)
    exploring.fit_to_representation(PHI, short, None)
    assert exploring.unit == pytest.approx(1.0, abs=0.05)  # φ spans 3


def test_moments_are_of_all_visits_under_the_newest_representation(replay: Replay) -> None:
    exploring = explorer()
    exploring.record(episode(length=4))
    assert exploring.embeddings.mean.tolist() == [2.0, 0.5]  # of 0.5, 1.5, 2.5 and 3.5
    doubled = linear(2 * np.eye(SHAPE.observation_dim, 2), np.zeros(2))
    exploring.fit_to_representation(doubled, replay, PHI)
    # Steps 0 to 19 and 0 to 9 of two episodes, each at twice 0.5 + step.
    mean = 2 * (0.5 + (np.arange(20).sum() + np.arange(10).sum()) / 30)
    np.testing.assert_allclose(exploring.embeddings.mean, [mean, 1.0], rtol=1e-6)
    assert exploring.embeddings.count == 30


def test_candidates_of_reachable_novelty_know_the_graph(replay: Replay) -> None:
    exploring = explorer(exploration__novelty="reachable")
    exploring.fit_to_representation(PHI, replay, None)
    exploring.refresh_novelty(PHI, SEEING, replay)
    pool = exploring.candidates(PHI, replay, jax.random.key(0))
    assert pool.graph is not None
    # Every step enters the next of 21 cells, and all lead to the last one.
    assert pool.cells.tolist() == np.floor(pool.embeddings[:, 0]).tolist()
    assert pool.graph.entered().tolist() == list(range(1, 21))
    np.testing.assert_allclose(pool.graph.reachable()[pool.cells], pool.novelty)


@pytest.mark.parametrize("counts", ["hashed", "neighbours"])
def test_landmarks_take_the_place_of_cells(replay: Replay, counts: str) -> None:
    exploring = explorer(exploration__counts=counts)
    exploring.fit_to_representation(PHI, replay, None)
    exploring.refresh_novelty(PHI, SEEING, replay)
    exploring.record(episode(length=20))
    exploring.refresh_novelty(PHI, SEEING, replay)
    pool = exploring.candidates(PHI, replay, jax.random.key(0))
    assert pool.graph is not None
    assert (pool.cells >= 0).all()
    # To the right end came one episode, and the other did not; from the middle on, all lead there.
    order = np.argsort(pool.embeddings[:, 0])
    right = pool.novelty[order][len(order) // 2 :]
    assert (np.diff(right) <= 1e-12).all()
    assert right[-1] == pool.novelty.min() < right[0]
    copy = Explorer(exploring.config, SHAPE.subgoal_dim)
    copy.restore(exploring.state())
    again = copy.candidates(PHI, replay, jax.random.key(0))
    assert again.novelty.tolist() == pool.novelty.tolist()


def test_candidates_carry_their_measures(replay: Replay) -> None:
    exploring = explorer(exploration__novelty="immediate", exploration__potential_weight=0.5)
    exploring.fit_to_representation(PHI, replay, None)
    exploring.measures.record_outcomes(at((2.5, 0.5)), np.array([6.0]))
    exploring.refresh_novelty(PHI, SEEING, replay)
    pool = exploring.candidates(PHI, replay, jax.random.key(0))
    assert pool.embeddings.shape == (50, 2)
    twice = pool.embeddings[:, 0] < 10
    np.testing.assert_allclose(pool.novelty, np.where(twice, 2, 1) / 30)
    tried = np.floor(pool.embeddings[:, 0]) == 2
    assert tried.any()
    np.testing.assert_allclose(pool.potential, np.where(tried, -6, 0))
    spread = exploring.metrics()["exploration/potential_spread"]
    assert spread == pytest.approx(0.5 * pool.potential.std())


def test_novelty_is_refreshed_from_the_stored_rollouts(replay: Replay) -> None:
    exploring = explorer(exploration__novelty="cumulative", exploration__count_discount=0.5)
    exploring.fit_to_representation(PHI, replay, None)
    exploring.refresh_novelty(PHI, SEEING, replay)
    # The long rollout sees n = 2, 2, 1, 1, 0 at its boundaries 0, 5, ... 20; the short one,
    # which is younger, 2, 2, 1 at 0, 5, 10.
    old, young = 0.995, 1.0
    at_five = (old * (2 + 0.5 * 1 + 0.25 * 1) + young * (2 + 0.5 * 1)) / (old + young)
    novelty = exploring.measures.novelty(at((INTERVAL + 0.5, 0.5)))
    assert novelty[0] == pytest.approx(at_five / 30)


def test_state_restores_everything(replay: Replay) -> None:
    exploring = explorer(exploration__units="span")
    exploring.record(episode(success=True))
    exploring.fit_to_representation(PHI, replay, None)
    exploring.refresh_novelty(PHI, SEEING, replay)
    exploring.set_probability(0.5, success=0.0)
    exploring.candidates(PHI, replay, jax.random.key(0))
    copy = Explorer(exploring.config, SHAPE.subgoal_dim)
    copy.restore(exploring.state())
    assert copy.metrics() == exploring.metrics()
    before, after = exploring.state(), copy.state()
    assert before.keys() == after.keys()
    for name, array in before.items():
        assert np.array_equal(array, after[name]), name
