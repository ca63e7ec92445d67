"""Environments with odd shapes, ends and words for success train like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hess
from hess.api import make_config
from hess.cli import main
from hess.config import Config
from hess.envs.adapter import Task
from hess.errors import HessError
from hess.replay.episode import Episode
from hess.runs.folder import RunFolder
from hess.runs.logs import read_evaluations, read_metrics
from hess.training.collector import Collector
from hess.training.probe import probe
from tests.training.kinds import AGENTS
from tests.training.strange_tasks import ENDLESS, FALL, FALLING, RICH, RICH_HORIZON, SILENT
from tests.training.stub import TINY, StubPolicy

FIELDS: dict[str, Any] = {
    name.replace(".", "__"): value for name, value in TINY.items() if name not in ("task", "method")
}


def collected(config: Config, rounds: int = 3) -> list[Episode]:
    source = Collector(config, 1)
    episodes = [
        source.submit(StubPolicy(0, 0.0), number)[0].result().episode for number in range(rounds)
    ]
    source.close()
    return episodes


def config_of(task: str, **fields: Any) -> Config:
    return make_config(task, **(FIELDS | {"subgoal_interval": 5} | fields))


def test_a_horizon_that_c_does_not_divide_has_a_shorter_last_segment() -> None:
    config = config_of(RICH)
    task = Task(config)
    assert task.shape(config).segments == 5  # 5, 5, 5, 5 and 3 steps
    task.close()
    for episode in collected(config):
        assert len(episode.subgoals) == 5
        assert int(episode.length) == RICH_HORIZON
        assert not episode.terminated


def test_more_keys_other_dtypes_and_the_missing_place_are_seen_in_a_fixed_order() -> None:
    task = Task(config_of(RICH))
    assert task.observer.keys == ("observation", "battery", "camera", "achieved_goal")
    assert (task.observation_dim, task.goal_dim, task.action_dim) == (9, 2, 2)
    state = task.reset(0)
    assert state.observation[2] == 0.5
    np.testing.assert_allclose(state.observation[-2:], state.position)
    task.close()


def test_actions_reach_their_bounds() -> None:
    task = Task(config_of(RICH))
    before = task.reset(0).position
    after = task.step(np.array([1.0, -1.0], np.float32), 0).state
    np.testing.assert_allclose(after.position - before, [0.4, -0.4])
    task.close()


def test_an_episode_may_end_in_the_middle_of_a_segment() -> None:
    for episode in collected(config_of(FALLING)):
        assert int(episode.length) == FALL
        assert episode.terminated
        assert not episode.observations[FALL + 1 :].any()


def test_hopper_falls_in_the_middle_of_a_segment() -> None:
    episodes = collected(config_of("Hopper-v5", success="reward>=1", observe=()), rounds=5)
    lengths = [int(episode.length) for episode in episodes]
    assert all(episode.terminated for episode in episodes)
    assert any(length % 5 for length in lengths), lengths


def test_a_shorter_pendulum_trains(tmp_path: Path) -> None:
    fields = FIELDS | {"horizon": 30, "subgoal_interval": 7, "capacity": 300, "steps": 90}
    run = hess.train("Pendulum-v1", success="reward>=-1", runs=tmp_path, **fields)
    assert (run.result.finished, run.result.step) == (True, 90)
    assert hess.load(run.path).evaluate(1).episodes[0].length == 30


def test_episodes_that_end_before_c_steps_are_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    expected = rf"with subgoal_interval={FALL + 1}: of \d+ random episodes the longest had {FALL}"
    fields = FIELDS | {"subgoal_interval": FALL + 1}
    with pytest.raises(HessError, match=expected):
        hess.train(FALLING, runs=tmp_path, **fields)
    assert not list(tmp_path.iterdir())
    probe(make_config(FALLING, **(FIELDS | {"subgoal_interval": FALL})))
    probe(make_config(FALLING, "sac", **fields))  # needs no segments


@pytest.mark.parametrize(
    ("task", "fields", "fits"),
    [
        (RICH, {"subgoal_interval": 5}, True),
        (RICH, {"subgoal_interval": RICH_HORIZON + 1}, False),
        (FALLING, {"subgoal_interval": FALL + 1}, False),
        (SILENT, {"subgoal_interval": 5}, False),
        (ENDLESS, {"subgoal_interval": 5}, False),
        (RICH, {"subgoal_interval": 5, "capacity": 10**12}, False),
    ],
)
def test_check_env_says_what_training_does(task: str, fields: dict[str, Any], fits: bool) -> None:
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in fields.items()]
    assert main(["check-env", task, *flags]) == (0 if fits else 2)
    config = make_config(task, **fields)
    if fits:
        probe(config)
    else:
        with pytest.raises(HessError):
            probe(config)


def test_success_at_any_step_is_not_success_at_the_last(tmp_path: Path) -> None:
    # It drifts to the goal and beyond.
    run = hess.train(
        RICH,
        "sac",
        runs=tmp_path,
        env={"reach": 0.8, "goal": (0.3, 0.3)},
        **(FIELDS | {"steps": 5 * RICH_HORIZON, "evaluation__episodes": 6, "capacity": 500}),
    )
    rows, lines = read_evaluations(RunFolder(run.path)), read_metrics(RunFolder(run.path))
    assert list(rows)[-1] == "success_at_end"
    pairs = list(zip(rows["success_rate"], rows["success_at_end"], strict=True))
    assert all(last <= reached for reached, last in pairs)
    assert any(last < reached for reached, last in pairs)
    assert all(line["train/success_at_end"] <= line["train/success"] for line in lines)
    evaluation = hess.load(run.path).evaluate(6)
    ends = [each.successes[int(each.length) - 1] for each in evaluation.episodes]
    assert evaluation.success_at_end == np.mean(ends)
    assert evaluation.success_at_end <= evaluation.success_rate


# Ends in the middle of a segment are those of Slope in test_any_environment.py, too.
@pytest.mark.parametrize(
    ("method", "task"), [*((name, RICH) for name in AGENTS), ("hess", FALLING)]
)
def test_every_kind_of_agent_trains(method: str, task: str, tmp_path: Path) -> None:
    steps = 5 * RICH_HORIZON
    fields = FIELDS | {"steps": steps, "capacity": 200, "subgoal_interval": 5, "num_envs": 1}
    run = hess.train(task, method, runs=tmp_path, **fields)
    assert run.result.finished
    lines = read_metrics(RunFolder(run.path))
    assert any("low/critic_loss" in line for line in lines), "it never came to learning"
    assert all(np.isfinite(value) for line in lines for value in line.values())
    agent = hess.load(run.path)
    assert agent.evaluate(2).episodes[0].length in (RICH_HORIZON, FALL)


def test_importance_novelty_works_with_a_shorter_last_segment(tmp_path: Path) -> None:
    fields = FIELDS | {"steps": 120, "capacity": 200, "subgoal_interval": 5}
    run = hess.train(RICH, "hess-importance-novelty", runs=tmp_path, **fields)
    assert run.result.finished


# --- before anything is written ------------------------------------------------------------------


def test_what_is_unusual_is_said() -> None:
    assert probe(config_of(RICH)) == [
        "success is info['success']",
        "the agent sees observation + battery + camera + achieved_goal, 9 numbers; goal 2 numbers",
        "c = 5 does not divide the 23 steps of an episode: its last segment has 3",
    ]
    assert probe(make_config("PointMaze")) == []


@pytest.mark.parametrize(
    ("task", "fields", "sentence"),
    [
        (SILENT, {}, "'HessTests/Silent-v0' never said whether it succeeded: info had speed"),
        (SILENT, {"success": "sped"}, "never put 'sped' into info; did you mean 'speed'?"),
        (SILENT, {"success": "reward>1"}, "success='reward>1' is impossible"),
        (ENDLESS, {}, "its horizon is unknown; give --horizon STEPS"),
        (ENDLESS, {"horizon": 0}, "horizon=0 is impossible; it must be at least 1"),
        (RICH, {"subgoal_interval": 24}, "subgoal_interval=24 is impossible; it may be 1 to 23"),
        (RICH, {"env": {"raech": 1}}, "unknown HessTests/Rich-v0 argument 'raech'; did you mean"),
        (RICH, {"observe": ("camra",)}, "unknown observation key 'camra'; did you mean"),
        (RICH, {"capacity": 10**12}, "a replay of capacity=1,000,000,000,000 steps"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_written(
    tmp_path: Path, task: str, fields: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(HessError) as caught:
        hess.train(task, runs=tmp_path, **(FIELDS | fields))
    assert sentence in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("fields", "horizon"), [({"horizon": 7}, 7), ({"horizon": 30, "success": "reward>=1"}, 30)]
)
def test_a_horizon_can_be_given(fields: dict[str, Any], horizon: int) -> None:
    for task in (ENDLESS, RICH):
        config = config_of(task, **fields)
        probe(config)
        assert all(int(episode.length) == horizon for episode in collected(config, 1))


def test_explicit_rules_are_used() -> None:
    for episode in collected(config_of(SILENT, success="terminated")):
        assert episode.successes[: FALL - 1].sum() == 0
        assert episode.successes[FALL - 1]
    for episode in collected(config_of(SILENT, success="reward>=1")):
        assert np.array_equal(episode.successes[:FALL], episode.rewards[:FALL] >= 1)


def test_keys_can_be_chosen_and_are_part_of_the_run() -> None:
    task = Task(config_of(RICH, observe=("achieved_goal",)))
    assert task.observation_dim == 2
    task.close()
    assert config_of(RICH, env={"reach": 1}).env == ("reach=1",)
