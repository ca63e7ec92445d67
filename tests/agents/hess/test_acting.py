"""Acting with two levels: the clock of c steps, neighbourhoods, and what is written down."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hess.agents.hess.acting import HierarchyPolicy, into_ball, uniform_offset
from hess.agents.hess.exploration.cells import cell_keys
from hess.agents.hess.exploration.graph import PlaceGraph
from hess.agents.hess.exploration.places import GridCells
from hess.agents.hess.exploration.selection import CandidatePool
from hess.agents.hess.random_episodes import RandomPolicy
from hess.arrays import Floats
from hess.learning.networks import MLP, HostActor, HostMLP
from hess.learning.subgoal_box import SubgoalBox, weighted_box
from hess.replay.episode import Episode, empty_episode
from tests.agents.tiny import (
    FIELDS,
    INTERVAL,
    SHAPE,
    first_coordinates,
    linear,
    network,
    play,
    tiny_config,
)

RADIUS = FIELDS["subgoal_radius"]
LOW = network([SHAPE.observation_dim + 4, 16, 4], 1)
# It takes s ‖ φ(s) ‖ goal, whatever it makes of them.
HIGH_INPUT = SHAPE.observation_dim + 2 * SHAPE.subgoal_dim + SHAPE.goal_dim
HIGH = network([HIGH_INPUT, 16, 4], 2)


def policy(
    *, probability: float = 0.0, pool: CandidatePool | None = None, unit: float = 1.0,
    high: MLP = HIGH, uniform: bool = False, **fields: Any,
) -> HierarchyPolicy:  # fmt: skip
    """φ(s) = the first two numbers of s."""
    config = tiny_config(**fields)
    return HierarchyPolicy(
        config=config,
        representation=HostMLP(first_coordinates(SHAPE.observation_dim)),
        low=HostActor(LOW),
        high=HostActor(high),
        uniform_subgoals=uniform,
        box=SubgoalBox(unit * config.subgoal_radius),
        unit=unit,
        probability=probability,
        pool=pool,
    )


def pool_at(*points: tuple[float, float]) -> CandidatePool:
    """Candidates that are the better the earlier they come."""
    order = np.arange(len(points), dtype=np.float64)
    return CandidatePool(np.array(points, np.float32), order, np.zeros(len(points)))


def starts(episode: Episode) -> Floats:
    """φ at the beginning of each segment. [S, 2]."""
    return episode.embeddings[:-1:INTERVAL]


def high_inputs(episode: Episode, step: int) -> Floats:
    """s ‖ φ(s) ‖ memory ‖ goal."""
    memory = episode.embeddings[: step + 1 : INTERVAL].mean(0)
    seen = (episode.observations[step], episode.embeddings[step], memory, episode.goals[step])
    return np.concatenate(seen)


def test_embeddings_are_those_of_the_time_of_acting_and_cover_the_last_state() -> None:
    episode = play(policy(), seed=0)
    np.testing.assert_allclose(episode.embeddings, episode.observations[:, :2], atol=1e-6)
    assert episode.embedded
    # Nothing is left to be embedded later: another φ does not change what is stored.
    assert np.abs(episode.embeddings).max() > 0.1


def test_embeddings_of_a_short_episode_end_with_its_last_state() -> None:
    episode = play(policy(), seed=0, length=7)
    assert episode.embeddings[7].any()
    assert not episode.embeddings[8:].any()
    assert episode.subgoals[1].any()
    assert not episode.subgoals[2:].any()


def test_a_subgoal_is_set_every_c_steps_and_kept_between() -> None:
    """The low level is a spy that shows the subgoal it was given as its action."""
    spy = np.zeros((SHAPE.observation_dim + 4, 4))
    spy[-2, 0] = spy[-1, 1] = 0.1
    acting = policy()._replace(low=HostActor(linear(spy, [0, 0, -5, -5])))
    episode = empty_episode(SHAPE)
    rollout = acting.start_evaluation(episode)
    rng = np.random.default_rng(0)
    seen = []
    for step in range(SHAPE.horizon):
        episode.observations[step] = rng.normal(0, 1, SHAPE.observation_dim)
        seen.append(np.arctanh(rollout.act(step)) / 0.1)
    for step, subgoal in enumerate(seen):
        np.testing.assert_allclose(subgoal, episode.subgoals[step // INTERVAL], rtol=1e-3)
    assert len({tuple(np.round(subgoal, 3)) for subgoal in seen}) == SHAPE.segments


def test_the_low_level_sees_state_embedding_and_subgoal() -> None:
    episode = play(policy(), seed=3)
    inputs = np.concatenate(
        [episode.observations[7], episode.embeddings[7], episode.subgoals[7 // INTERVAL]]
    )
    again = empty_episode(SHAPE)
    again.observations[:] = episode.observations
    again.goals[:] = episode.goals
    rollout = policy().start_evaluation(again)
    actions = [rollout.act(step) for step in range(8)]
    inputs[-2:] = again.subgoals[1]
    np.testing.assert_allclose(actions[7], HostActor(LOW).act(inputs, None), rtol=1e-5)


@pytest.mark.parametrize("unit", [1.0, 3.0])
def test_policy_subgoals_are_relative_to_the_embedding_in_units_of_the_radius(
    unit: float,
) -> None:
    episode = play(policy(high__subgoal_shape="box", unit=unit), seed=0)
    expected = starts(episode) + unit * RADIUS * episode.high_actions
    np.testing.assert_allclose(episode.subgoals, expected, rtol=1e-5)
    assert np.array_equal(episode.selected, episode.subgoals)
    assert not episode.active.any()


def test_directions_that_lead_nowhere_are_asked_for_less() -> None:
    weights = np.array([[0.8, 0.3], [0.3, 0.5]], np.float32)
    acting = policy(high__subgoal_shape="box")._replace(box=weighted_box(RADIUS, weights))
    episode = play(acting, seed=0)
    expected = starts(episode) + RADIUS * episode.high_actions @ weights
    np.testing.assert_allclose(episode.subgoals, expected, rtol=1e-4)


CORNER = linear(np.zeros((HIGH_INPUT, 4)), [3.0, 3.0, -5.0, -5.0])


@pytest.mark.parametrize(
    ("shape", "distance"), [("box", np.sqrt(2) * np.tanh(3.0) * RADIUS), ("ball", RADIUS)]
)
def test_the_ball_projects_what_the_box_leaves_in_its_corner(shape: str, distance: float) -> None:
    episode = empty_episode(SHAPE)
    rollout = policy(high=CORNER, high__subgoal_shape=shape).start_evaluation(episode)
    rollout.act(0)
    offset = episode.subgoals[0] - episode.embeddings[0]
    assert np.linalg.norm(offset) == pytest.approx(distance, rel=1e-5)
    assert offset[0] == pytest.approx(offset[1])


def test_projection_leaves_the_inside_of_the_ball_alone() -> None:
    assert into_ball(np.array([0.3, -0.4])).tolist() == [0.3, -0.4]
    np.testing.assert_allclose(into_ball(np.array([3.0, -4.0])), [0.6, -0.8])


@pytest.mark.parametrize(("shape", "share"), [("box", np.pi / 4), ("ball", 1.0)])
def test_uniform_offsets_fill_their_shape_evenly(shape: str, share: float) -> None:
    rng = np.random.default_rng(0)
    offsets = np.array([uniform_offset(shape, 2, rng) for _ in range(4000)])
    radii = np.linalg.norm(offsets, axis=-1)
    assert (radii <= 1).mean() == pytest.approx(share, abs=0.02)
    # In the disc, a quarter of the area lies within half the radius.
    assert (radii[radii <= 1] <= 0.5).mean() == pytest.approx(0.25, abs=0.03)
    assert np.abs(offsets.mean(0)).max() < 0.05


def test_warm_up_draws_uniform_subgoals_in_training_only() -> None:
    drawn = [play(policy(uniform=True), seed).high_actions for seed in range(50)]
    spread = np.std(np.concatenate(drawn), axis=0)
    np.testing.assert_allclose(spread, 1 / np.sqrt(3), atol=0.06)
    evaluated = empty_episode(SHAPE)
    policy(uniform=True).start_evaluation(evaluated).act(0)
    inputs = high_inputs(evaluated, 0)
    np.testing.assert_allclose(evaluated.high_actions[0], HostActor(HIGH).act(inputs, None), 1e-5)


def test_with_p_one_every_subgoal_is_selected_and_extended() -> None:
    acting = policy(
        probability=1.0,
        pool=pool_at((1.0, 0.0)),
        exploration__extension=0.5,
        subgoal_radius=100.0,
        exploration__decided="segment",
    )
    episode = play(acting, seed=0)
    assert episode.active.all()
    np.testing.assert_allclose(episode.selected, [[1, 0]] * SHAPE.segments)
    direction = episode.selected - starts(episode)
    length = np.linalg.norm(direction, axis=-1, keepdims=True)
    expected = episode.selected + 0.5 * direction / length
    np.testing.assert_allclose(episode.subgoals, expected, rtol=1e-5)


def test_actions_of_selected_subgoals_are_clipped_to_the_box() -> None:
    # Selected within the radius of 2, imagined 5 beyond: more than the radius away.
    acting = policy(
        probability=1.0,
        pool=pool_at((1.0, 0.0)),
        exploration__extension=5.0,
        exploration__decided="segment",
    )
    episode = play(acting, seed=0)
    offsets = (episode.subgoals - starts(episode)) / RADIUS
    assert np.abs(offsets).max() > 1.0
    np.testing.assert_allclose(episode.high_actions, np.clip(offsets, -1, 1), rtol=1e-5)


def test_p_is_how_often_a_subgoal_is_selected_actively() -> None:
    acting = policy(
        probability=0.3,
        pool=pool_at((0.0, 0.0)),
        subgoal_radius=100.0,
        exploration__decided="segment",
    )
    active = np.concatenate([play(acting, seed).active for seed in range(150)])
    assert active.mean() == pytest.approx(0.3, abs=0.05)


def deciding(p0: float, **fields: Any) -> HierarchyPolicy:
    """p is 0.3 and decides for whole episodes."""
    settings: dict[str, Any] = {"subgoal_radius": 100.0, "exploration__decided": "episode"}
    settings |= fields
    pool = pool_at((0.0, 0.0))
    return policy(probability=0.3, pool=pool, exploration__probability=p0, **settings)


def activity(acting: HierarchyPolicy, episodes: int = 60) -> Floats:
    """The share of active subgoals in each of some episodes."""
    return np.array([play(acting, seed).active.mean() for seed in range(episodes)])


def test_p_decides_for_an_episode_whether_it_explores() -> None:
    assert set(activity(deciding(1.0)).tolist()) == {0.0, 1.0}


def test_an_exploring_episode_selects_as_often_as_p_is_at_the_start() -> None:
    rng, acting = np.random.default_rng(0), deciding(0.7)
    drawn = np.array([acting.active_probability(rng) for _ in range(4_000)])
    assert set(drawn.tolist()) == {0.0, 0.7}
    assert (drawn > 0).mean() == pytest.approx(0.3, abs=0.03)
    assert acting.active_probability(None) == 0.0
    assert acting._replace(pool=None).active_probability(rng) == 0.0


def test_before_the_first_success_every_episode_explores() -> None:
    assert (activity(deciding(1.0, uniform=True)) == 1.0).all()
    assert activity(deciding(0.8, uniform=True)).mean() == pytest.approx(0.8, abs=0.08)


def leading(*points: tuple[float, float]) -> CandidatePool:
    """The same with a graph of cells of edge 1, whose chains lead to the last of the points."""
    pool = pool_at(*points)
    keys = np.unique(cell_keys(pool.embeddings, 1.0))
    cells = np.searchsorted(keys, cell_keys(pool.embeddings, 1.0))
    edges = np.stack([cells[:-1], cells[1:]], -1)
    log_counts = np.full(len(keys), 5.0)
    log_counts[cells[-1]] = 0.0
    graph = PlaceGraph(keys, log_counts, edges, 0.1, np.zeros(len(keys)))
    places = GridCells(2, 1.0)
    return pool._replace(graph=graph, cells=cells, places=places, wear=PlaceGraph.reachable)


ROW = ((1.5, 0.5), (1.5, 1.5), (1.5, 2.5))
EXPLORING: dict[str, Any] = {
    "probability": 1.0, "subgoal_radius": 100.0, "exploration__probability": 1.0,
    "exploration__potential_weight": 0.0, "exploration__extension": 0.0,
}  # fmt: skip


def test_an_exploring_episode_asks_the_graph_and_not_the_pool() -> None:
    fields = EXPLORING | {"exploration__waypoints": 0.0, "exploration__revisit_cost": 0.0}
    fields |= {"exploration__least_progress": 0.0}  # nobody moves in these episodes
    assert (play(policy(pool=pool_at(*ROW), **fields), seed=0).selected == ROW[0]).all()
    assert (play(policy(pool=leading(*ROW), **fields), seed=0).selected == ROW[2]).all()


def test_an_exploring_episode_goes_to_its_waypoint_first() -> None:
    fields = EXPLORING | {"exploration__waypoints": 1.0, "exploration__revisit_cost": 0.0}
    acting = policy(pool=leading((40.5, 0.5), (40.5, 1.5), (40.5, 2.5)), **fields)
    episodes = [play(acting, seed).selected for seed in range(20)]
    # Too far to be reached: given up after two of four segments.
    assert {float(selected[0, 1]) for selected in episodes} == {1.5, 2.5}
    for selected in episodes:
        assert selected[0].tolist() == selected[1].tolist()
        assert (selected[2:] == [40.5, 2.5]).all()


def test_an_episode_of_its_own_has_no_excursion() -> None:
    acting = policy(pool=leading(*ROW), exploration__decided="episode")
    rng = np.random.default_rng(0)
    assert acting.excursion(SHAPE.segments, 0.0, rng) is None
    assert acting.excursion(SHAPE.segments, 0.8, None) is None
    assert acting.excursion(SHAPE.segments, 0.8, rng) is not None
    assert policy(pool=pool_at(*ROW)).excursion(SHAPE.segments, 0.8, rng) is None


def test_where_nothing_is_in_reach_the_high_level_decides() -> None:
    far = pool_at((50.0, 50.0))
    episode = play(policy(probability=1.0, pool=far, exploration__decided="segment"), seed=0)
    assert not episode.active.any()
    assert episode.subgoals.any()


def test_reach_grows_with_the_unit() -> None:
    far = pool_at((3.5, 0.0))
    fields: dict[str, Any] = {"probability": 1.0, "exploration__decided": "segment"}
    assert not play(policy(pool=far, **fields), seed=0).active[0]
    assert play(policy(pool=far, unit=2.0, **fields), seed=0).active[0]


def test_evaluation_is_deterministic_and_never_active() -> None:
    acting = policy(probability=1.0, pool=pool_at((1.0, 0.0)))
    runs = []
    for _ in range(2):
        episode = empty_episode(SHAPE)
        rollout = acting.start_evaluation(episode)
        runs.append(np.array([rollout.act(step) for step in range(SHAPE.horizon)]))
        assert not episode.active.any()
    assert np.array_equal(runs[0], runs[1])


def test_training_depends_on_its_seed_alone() -> None:
    acting = policy(probability=0.5, pool=pool_at((1.0, 0.0), (0.0, 1.0)))
    first, again, other = (play(acting, seed) for seed in (1, 1, 2))
    for one, two in zip(first, again, strict=True):
        assert np.array_equal(one, two)
    assert not np.array_equal(first.actions, other.actions)


def test_log_probabilities_are_kept_for_importance_weights_only() -> None:
    assert not play(policy(), seed=0).log_probabilities.any()
    episode = play(policy(exploration__novelty="importance"), seed=0)
    inputs = high_inputs(episode, INTERVAL)
    expected = HostActor(HIGH).log_probability(inputs, episode.high_actions[1])
    assert episode.log_probabilities[1] == pytest.approx(expected, rel=1e-5)


def test_before_the_first_representation_everything_is_uniform() -> None:
    acting = RandomPolicy(tiny_config(high__subgoal_shape="ball"))
    episodes = [play(acting, seed) for seed in range(40)]
    actions = np.concatenate([episode.actions for episode in episodes])
    np.testing.assert_allclose(actions.std(0), 1 / np.sqrt(3), atol=0.03)
    offsets = np.concatenate([episode.high_actions for episode in episodes])
    assert np.linalg.norm(offsets, axis=-1).max() <= 1.0
    assert not any(episode.embedded for episode in episodes)


def test_evaluation_before_the_first_representation_is_a_fixed_stream() -> None:
    acting = RandomPolicy(tiny_config())
    first, second = (acting.start_evaluation(empty_episode(SHAPE)) for _ in range(2))
    assert np.array_equal(first.act(0), second.act(0))


@pytest.mark.parametrize(("share", "greedy"), [(0.0, 0), (1.0, 20), (0.5, 10)])
def test_a_share_of_the_policy_s_own_episodes_acts_greedily(share: float, greedy: int) -> None:
    acting = policy(exploration__greedy_share=share)
    episodes = [play(acting, seed) for seed in range(20)]
    modes = [HostActor(HIGH).act(high_inputs(each, 0), None) for each in episodes]
    same = [
        np.allclose(each.high_actions[0], mode, rtol=1e-4)
        for each, mode in zip(episodes, modes, strict=True)
    ]
    assert sum(same) == pytest.approx(greedy, abs=4 if 0 < share < 1 else 0)


def test_exploring_and_uniform_episodes_never_act_by_modes() -> None:
    rng = np.random.default_rng(0)
    acting = policy(exploration__greedy_share=1.0)
    assert acting.acts_greedily(0.0, rng)
    assert not acting.acts_greedily(0.8, rng)
    assert not acting._replace(uniform_subgoals=True).acts_greedily(0.0, rng)
    sampling = policy(exploration__greedy_share=1.0, exploration__probability=0.0)
    assert not sampling.acts_greedily(0.0, rng)
