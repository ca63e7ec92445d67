"""Episodes as they are collected."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from hess.config import Config, override
from hess.envs.adapter import StepOutcome, Task
from hess.errors import HessError
from hess.native import library
from hess.native.cores import change_busy
from hess.replay.episode import Episode, empty_episode
from hess.training.collector import Collector, run_episode, seed_stream
from tests.training.stub import StubPolicy
from tests.training.toy_tasks import FIELD, HORIZON, SLOPE

POLICY = StubPolicy(0, 0.0)
CONFIG = override(Config(subgoal_interval=5), {"representation.dim": 2})  # as stubs sign episodes


def collector(name: str, count: int = 1, seed: int = 0) -> Collector:
    return Collector(override(CONFIG, {"task": name, "seed": seed}), count)


@pytest.fixture
def pair() -> Iterator[Collector]:
    made = collector(FIELD, 2)
    yield made
    made.close()


def collect(source: Collector, number: int) -> list[Episode]:
    return [future.result().episode for future in source.submit(POLICY, number)]


def same(one: Episode, two: Episode) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


def test_a_full_episode_is_truncated_and_not_terminated(pair: Collector) -> None:
    for episode in collect(pair, 0):
        assert int(episode.length) == HORIZON
        assert not episode.terminated
        moves = np.diff(episode.observations[:, :2], axis=0)
        np.testing.assert_allclose(moves, 0.25 * episode.actions, atol=1e-5)
        assert np.array_equal(episode.positions, episode.observations[:, :2])
        assert (episode.goals == [1.5, 0.5]).all()


def test_a_core_counts_as_busy_during_an_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []

    def step(self: Task, action: Any, number: int) -> StepOutcome:
        counts.append(change_busy(0))
        return original(self, action, number)

    original = Task.step
    monkeypatch.setattr(Task, "step", step)
    before = change_busy(0)
    source = collector(FIELD)
    collect(source, 0)
    source.close()
    assert set(counts) == {before + 1 if library.is_loaded() else 0}
    assert change_busy(0) == before


def test_an_environment_lives_in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that draws has an OpenGL context of the thread that made it."""
    threads: dict[int, list[int]] = {}

    def noted(name: str) -> Callable[..., Any]:
        original = getattr(Task, name)

        def call(self: Task, *args: Any, **keywords: Any) -> Any:
            threads.setdefault(id(self), []).append(threading.get_ident())
            return original(self, *args, **keywords)

        return call

    for name in ("__init__", "reset", "step", "close"):
        monkeypatch.setattr(Task, name, noted(name))
    source = collector(FIELD, 2)
    collect(source, 0)
    source.evaluate(POLICY, 0, 4)
    source.close()
    assert len(threads) == 2
    assert [len(set(of_task)) for of_task in threads.values()] == [1, 1]
    assert len({of_task[0] for of_task in threads.values()} | {threading.get_ident()}) == 3


def test_an_episode_that_ends_by_itself_is_padded_with_zeros() -> None:
    source = collector(SLOPE)
    episodes = [collect(source, number)[0] for number in range(12)]
    source.close()
    short = [episode for episode in episodes if episode.length < HORIZON]
    assert short, "the ball should leave the slope now and then"
    for episode in short:
        length = int(episode.length)
        assert episode.terminated
        assert episode.observations[length].any()
        assert not episode.observations[length + 1 :].any()
        assert not episode.actions[length:].any()
        assert bool(episode.successes[length - 1]) == (episode.observations[length, 0] > 0.8)


def test_rounds_and_environments_have_their_own_streams(pair: Collector) -> None:
    rounds = [collect(pair, number) for number in (0, 1, 0)]
    assert same(rounds[0][0], rounds[2][0])
    assert same(rounds[0][1], rounds[2][1])
    assert not same(rounds[0][0], rounds[0][1])
    assert not same(rounds[0][0], rounds[1][0])


def test_evaluation_does_not_depend_on_how_many_environments_share_it(pair: Collector) -> None:
    alone = collector(FIELD, 1)
    one = [each.episode for each in alone.evaluate(POLICY, 5, 4)]
    two = [each.episode for each in pair.evaluate(POLICY, 5, 4)]
    alone.close()
    assert len(one) == len(two) == 4
    starts = [sorted(each.observations[0].tolist() for each in each) for each in (one, two)]
    assert starts[0] == starts[1]
    assert len({tuple(start) for start in starts[0]}) == 4


def test_evaluation_leaves_training_alone(pair: Collector) -> None:
    before = collect(pair, 3)
    pair.evaluate(POLICY, 0, 2)
    assert all(map(same, before, collect(pair, 3)))


def test_streams_differ_in_every_number() -> None:
    streams = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0, 0)]
    states = [seed_stream(*numbers).generate_state(1)[0] for numbers in streams]
    assert len(set(states)) == len(streams)


def test_an_environment_that_ignores_its_horizon_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = Task.step

    def endless(self: Task, action: Any, number: int) -> StepOutcome:
        return original(self, action, number)._replace(truncated=False)

    monkeypatch.setattr(Task, "step", endless)
    task = Task(Config(task=FIELD))
    episode = empty_episode(task.shape(CONFIG))
    rollout = POLICY.start(episode, np.random.default_rng(0))
    with pytest.raises(HessError, match="neither terminated nor truncated at its horizon, step 20"):
        run_episode(task, episode, rollout, np.random.SeedSequence(0))
    task.close()


def test_health_is_the_share_of_healthy_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Task.step

    def half_healthy(self: Task, action: Any, number: int) -> StepOutcome:
        return original(self, action, number)._replace(healthy=number % 4 == 0)

    monkeypatch.setattr(Task, "step", half_healthy)
    source = collector(FIELD)
    (collected,) = [future.result() for future in source.submit(POLICY, 0)]
    source.close()
    assert collected.healthy_share == 0.25
