"""The agent between episodes: what it learns when, and that its policies do not move."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.agents.agent import Policy
from hess.agents.hess.acting import HierarchyPolicy
from hess.agents.hess.agent import Hess
from hess.agents.hess.random_episodes import RandomPolicy
from hess.arrays import Floats
from hess.config import override
from hess.replay.episode import Episode, empty_episode
from hess.replay.ring import Replay
from tests.agents.tiny import INTERVAL, SHAPE, play, tiny_config

ROUNDS = 9
LOW_RATE, HIGH_RATE = 0.33, 2.0


def ignore(what: str, share: float) -> None:
    """Nobody watches the progress."""


class Moment(NamedTuple):
    """The agent after a round."""

    policy: Policy  # that collected the round
    episode: Episode
    metrics: dict[str, float]
    replay: Replay  # a copy
    low_updates: int
    high_updates: int
    counted: float
    attempts: float


class Story(NamedTuple):
    """An agent and what it did so far."""

    agent: Hess
    moments: list[Moment]


def copy(replay: Replay) -> Replay:
    return jax.tree.map(np.array, replay)


@pytest.fixture(scope="module")
def story() -> Story:
    """Nine rounds of one episode; the sixth is solved, the fourth ends early."""
    config = tiny_config(
        low__updates_per_decision=LOW_RATE,
        high__updates_per_decision=HIGH_RATE,
        exploration__probability=1.0,
        exploration__decided="segment",
        exploration__least_weight=0.25,
    )
    agent = Hess(config, SHAPE)
    moments = []
    for number in range(ROUNDS):
        policy = agent.policy(number / ROUNDS)
        episode = play(
            policy,
            number,
            length=13 if number == 3 else None,
            success_at=7 if number == 5 else None,
        )
        metrics = agent.learn([episode], ignore)
        moments.append(
            Moment(
                policy,
                episode,
                metrics,
                copy(agent.replay),
                int(agent.networks.low.critic_optimiser[0].count),
                int(agent.networks.high.critic_optimiser[0].count),
                agent.explorer.measures.state()["counts.values"].sum(),
                agent.explorer.measures.state()["potential_weights.values"].sum(),
            )
        )
    return Story(agent, moments)


def test_the_first_episodes_are_random(story: Story) -> None:
    kinds = [type(moment.policy) for moment in story.moments]
    assert kinds == [RandomPolicy] * 2 + [HierarchyPolicy] * (ROUNDS - 2)


def test_the_representation_is_updated_early_once_and_then_every_interval(story: Story) -> None:
    updated = [
        number + 1
        for number, moment in enumerate(story.moments)
        if "representation/change" in moment.metrics
    ]
    assert updated == [2, 4, 8]
    for number in updated:
        metrics = story.moments[number - 1].metrics
        assert metrics["representation/change"] > 0
        assert metrics["representation/span"] > 0
        assert 0 <= metrics["representation/position_fit"] <= 1


def test_the_first_update_embeds_the_random_episodes(story: Story) -> None:
    before, after = (story.moments[number].replay.episodes for number in (0, 1))
    assert not before.embedded.any()
    assert not before.embeddings.any()
    assert after.embedded[:2].all()
    # φ as it was then: the third episode was collected with it.
    policy = story.moments[2].policy
    assert isinstance(policy, HierarchyPolicy)
    for slot in range(2):
        expected = [policy.representation(state) for state in after.observations[slot]]
        np.testing.assert_allclose(after.embeddings[slot], expected, rtol=1e-4, atol=1e-5)
    radius = policy.unit * policy.config.subgoal_radius
    expected = after.embeddings[:2, :-1:INTERVAL] + radius * after.high_actions[:2]
    np.testing.assert_allclose(after.subgoals[:2], expected, rtol=1e-5, atol=1e-6)
    assert np.array_equal(after.selected, after.subgoals)
    assert story.agent.replay_revision == 1


def test_later_updates_leave_stored_embeddings_alone(story: Story) -> None:
    before, after = (story.moments[number].replay.episodes for number in (2, 3))
    assert np.array_equal(before.embeddings[:3], after.embeddings[:3])
    assert np.array_equal(before.subgoals[:3], after.subgoals[:3])


def test_policies_learn_once_there_is_a_representation(story: Story) -> None:
    learned = ["low/critic_loss" in moment.metrics for moment in story.moments]
    assert learned == [False] * 2 + [True] * (ROUNDS - 2)
    assert all("low/progress" in moment.metrics for moment in story.moments[2:])


def test_the_high_level_waits_for_the_first_success(story: Story) -> None:
    learned = ["high/critic_loss" in moment.metrics for moment in story.moments]
    assert learned == [False] * 5 + [True] * (ROUNDS - 5)


def test_updates_follow_the_decisions_and_fractions_are_carried_over(story: Story) -> None:
    steps = np.cumsum([20, 13, 20, 20, 20, 20, 20])
    segments = np.cumsum([0, 0, 0, 4, 4, 4, 4])
    assert [moment.low_updates for moment in story.moments[2:]] == [
        int(LOW_RATE * taken) for taken in steps
    ]
    assert [moment.high_updates for moment in story.moments[2:]] == [
        int(HIGH_RATE * taken) for taken in segments
    ]


def test_visits_are_counted_from_the_first_representation_on(story: Story) -> None:
    lengths = np.cumsum([int(moment.episode.length) for moment in story.moments])
    counted = [moment.counted for moment in story.moments]
    # Counting anew, when the space has grown, forgets the first episode, which the full ring
    # has dropped by then.
    assert counted[:8] == [0, *lengths[1:8]]
    assert counted[8] in (lengths[8], lengths[8] - 20)


def test_attempts_are_counted_with_their_age(story: Story) -> None:
    active = [int(moment.episode.active.sum()) for moment in story.moments]
    assert sum(active) > 0
    weights = [0.0]
    for count in active:
        weights.append(0.995 * weights[-1] + count)
    assert [moment.attempts for moment in story.moments] == pytest.approx(weights[1:])


def test_subgoals_come_from_the_policy_after_the_first_success(story: Story) -> None:
    hierarchies = [moment.policy for moment in story.moments[2:]]
    warming_up = [
        isinstance(each, HierarchyPolicy) and each.uniform_subgoals for each in hierarchies
    ]
    assert warming_up == [True] * 4 + [False] * 3
    chances = [moment.metrics["exploration/probability"] for moment in story.moments]
    assert chances[:2] == [0.0, 0.0]
    assert chances[2:6] == [1.0] * 4
    assert chances[6] == pytest.approx(1 - 1 / 6)


def actions_of(policy: Policy) -> Floats:
    episode = play(policy, seed=99)
    return np.concatenate([episode.actions.ravel(), episode.subgoals.ravel()])


def test_a_policy_does_not_change_while_the_agent_learns(story: Story) -> None:
    agent = story.agent
    policies = [agent.policy(0.5), agent.evaluation_policy()]
    before = [actions_of(policy) for policy in policies]
    for number in range(4):  # 10 to 13: with an update of φ
        agent.learn([play(policies[0], 100 + number)], ignore)
    after = [actions_of(policy) for policy in policies]
    assert np.array_equal(before, after)
    assert not np.array_equal(before[0], actions_of(agent.policy(0.5)))


def test_evaluation_has_no_candidates(story: Story) -> None:
    policy = story.agent.evaluation_policy()
    assert isinstance(policy, HierarchyPolicy)
    assert policy.probability == 0.0
    assert policy.pool is None


def test_samples_are_drawn_in_every_episode_of_an_evaluation_policy() -> None:
    agent = Hess(tiny_config(exploration__greedy_share=1.0), SHAPE)
    for seed in range(2):
        agent.learn([play(agent.policy(0.0), seed, success_at=3)], ignore)
    policy = agent.evaluation_policy()
    assert isinstance(policy, HierarchyPolicy)
    drawn = [policy.start(empty_episode(SHAPE), np.random.default_rng(seed)) for seed in range(3)]
    assert len({tuple(rollout.act(0)) for rollout in drawn}) == 3


def test_a_random_round_that_comes_late_is_embedded_when_it_is_stored(story: Story) -> None:
    """With a pipeline, the round after the first update was begun before it."""
    agent = story.agent
    late = play(RandomPolicy(agent.config), seed=7)
    phi = agent.embed(late.observations)
    radius = agent.explorer.radius
    slot = agent.episodes % agent.replay.slots
    agent.learn([late], ignore)
    stored = agent.replay.episodes
    np.testing.assert_allclose(stored.embeddings[slot], phi, rtol=1e-4, atol=1e-5)
    expected = phi[:-1:INTERVAL] + radius * late.high_actions
    np.testing.assert_allclose(stored.subgoals[slot], expected, rtol=1e-4, atol=1e-4)
    assert bool(stored.embedded[slot])


def test_a_restored_agent_learns_the_same(story: Story) -> None:
    agent = story.agent
    twin = Hess(agent.config, SHAPE)
    twin.restore({name: np.array(array) for name, array in agent.state().items()})
    twin.replay = jax.tree.map(jnp.array, copy(agent.replay))
    # The compiled functions depend on the config alone; compiling them again would take long.
    twin._learn_low, twin._learn_high = agent._learn_low, agent._learn_high
    twin._representation = agent._representation
    for _ in range(4):  # φ is updated in one of them
        episodes = [play(each.policy(0.7), seed=50) for each in (agent, twin)]
        for one, two in zip(*episodes, strict=True):
            assert np.array_equal(one, two)
        metrics = [
            each.learn([episode], ignore)
            for each, episode in zip((agent, twin), episodes, strict=True)
        ]
        first, second = (
            {name: value for name, value in each.items() if not name.startswith("time/")}
            for each in metrics
        )
        assert first == second
    one, two = agent.state(), twin.state()
    assert one.keys() == two.keys()
    for name in one:
        assert np.array_equal(one[name], two[name]), name


def test_a_snapshot_is_small_and_shows_what_was_explored(story: Story) -> None:
    assert Hess(story.agent.config, SHAPE).snapshot() == {}
    snapshot = story.agent.snapshot()
    assert sum(array.nbytes for array in snapshot.values()) < 1_000_000
    measures = story.agent.explorer.measures
    cells = measures.visits.number
    assert snapshot["cells.centres"].shape == (cells, 2)
    assert snapshot["cells.counts"].sum() == measures.state()["counts.values"].sum()
    assert snapshot["states.embeddings"].shape[1] == 2
    assert len(snapshot["states.positions"]) == len(snapshot["states.embeddings"])
    assert len(snapshot["latest.lengths"]) == 8  # all that the ring holds
    assert snapshot["latest.subgoals"].shape == (8, SHAPE.segments, 2)


@pytest.mark.parametrize(
    ("size", "updates", "refreshes"),
    [(1, [2, 5, 10, 15], [3, 6, 9, 12, 15]), (3, [3, 6, 12, 15], [3, 6, 9, 12, 15])],
)
def test_rounds_of_many_environments_keep_the_rhythm(
    monkeypatch: pytest.MonkeyPatch, size: int, updates: list[int], refreshes: list[int]
) -> None:
    agent = Hess(tiny_config(representation__interval=5, exploration__novelty_interval=3), SHAPE)
    updated, refreshed = list[int](), list[int]()

    def update(report: Any) -> dict[str, float]:
        updated.append(agent.episodes)
        agent.networks = eqx.tree_at(
            lambda networks: networks.representation.updates, agent.networks, jnp.asarray(1)
        )
        return {}

    monkeypatch.setattr(agent, "_update_representation", update)
    monkeypatch.setattr(agent, "_improve_policies", lambda episodes: {})
    monkeypatch.setattr(agent, "_refresh_novelty", lambda: refreshed.append(agent.episodes))
    episode = play(RandomPolicy(agent.config), seed=0)
    for _ in range(15 // size):
        agent.learn([episode] * size, ignore)
    assert updated == updates
    assert refreshed == refreshes


def test_networks_depend_on_the_seed_alone() -> None:
    first, again, other = (Hess(tiny_config(seed=seed), SHAPE).state() for seed in (0, 0, 1))
    name = next(name for name in first if name.endswith("low.actor.weights[0]"))
    assert np.array_equal(first[name], again[name])
    assert not np.array_equal(first[name], other[name])


def test_directions_that_lead_nowhere_weigh_less_in_the_low_level(story: Story) -> None:
    agent = story.agent
    weights = np.linalg.eigvalsh(agent.explorer.metric)
    assert weights.max() == pytest.approx(1.0, abs=1e-5)
    assert 0.25 - 1e-5 <= weights.min() < 1.0
    np.testing.assert_array_equal(agent._scaling().metric, agent.explorer.metric)
    assert Hess(tiny_config(), SHAPE)._scaling().metric is None


def test_the_low_level_does_not_see_where_it_has_got_beyond_random_moves(story: Story) -> None:
    agent = story.agent
    shown = Hess(override(agent.config, {"low.hide_explained": False}), SHAPE)
    shown.restore(agent.state())
    arrays = agent.state()
    hidden = arrays["known"] * agent.moments.growth(arrays["random_variance"])
    assert 0.0 < hidden.max() <= 1.0
    difference = agent._scaling().factor / shown._scaling().factor
    assert difference == pytest.approx(1.0 - hidden, abs=1e-6)


@pytest.mark.parametrize(
    ("decided", "judged"), [("episode", [True, False]), ("segment", [True, True, True, False])]
)
def test_success_is_judged_by_episodes_that_did_not_explore(
    decided: str, judged: list[bool]
) -> None:
    agent = Hess(tiny_config(exploration__decided=decided, representation__first_update=9), SHAPE)
    for success, active in ((True, True), (True, True), (True, False), (False, False)):
        episode = play(agent.policy(0.0), seed=0, success_at=3 if success else None)
        episode.active[1] = active
        agent.learn([episode], ignore)
    assert list(agent.recent) == judged
    assert agent.successes == 3  # what ends the warm-up is any success
