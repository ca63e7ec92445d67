"""The Python interface: configs, training, loading, acting."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hess
from hess.api import LoadedAgent, TrainedRun, make_config, with_usual_steps
from hess.cli import main, parse
from hess.cli.train import Train
from hess.config import Config
from hess.errors import HessError
from hess.runs.folder import RunFolder, run_path
from hess.runs.logs import read_evaluations
from hess.runs.manifest import checkpoint_folders
from tests.training.stub import TINY
from tests.training.toy_tasks import FIELD, HORIZON

FIELDS: dict[str, Any] = {
    name.replace(".", "__"): value for name, value in TINY.items() if name not in ("task", "method")
}
FIELDS["steps"] = 5 * HORIZON


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def run(runs: Path) -> TrainedRun:
    return hess.train(FIELD, runs=runs, **FIELDS)


@pytest.fixture
def agent(run: TrainedRun) -> LoadedAgent:
    return hess.load(run.path)


def test_a_config_is_preset_then_method_then_fields() -> None:
    config = make_config("AntMaze", "lesson", "paper", low__hindsight=0.25, steps=10)
    assert config.task == "AntMaze"
    assert config.method == "lesson"
    assert config.representation.minibatches == 50_000  # of the preset
    assert config.exploration.probability == 0.0  # of the method
    assert (config.low.hindsight, config.steps) == (0.25, 10)


@pytest.mark.parametrize(
    ("task", "steps"), [("PointMaze", 150_000), ("hess/AntFourRooms-v0", 1_500_000), (FIELD, 10**6)]
)
def test_without_steps_a_new_run_has_the_budget_of_its_task(
    task: str, steps: int, tmp_path: Path
) -> None:
    assert with_usual_steps(make_config(task), tmp_path, None).steps == steps
    command = [task, "--runs", str(tmp_path)]
    assert parse(Train, "hess train", command).config().steps == steps
    assert parse(Train, "hess train", [*command, "--steps", "7"]).config().steps == 7


def test_without_steps_a_run_goes_on_to_those_that_it_was_made_for(
    run: TrainedRun, runs: Path
) -> None:
    fields = {name: value for name, value in FIELDS.items() if name != "steps"}
    assert hess.train(FIELD, runs=runs, **fields) == run
    command = [FIELD, "--runs", str(runs)]
    assert parse(Train, "hess train", command).config().steps == FIELDS["steps"]


@pytest.mark.parametrize(
    ("keywords", "sentence"),
    [
        ({"method": "hes"}, "unknown method 'hes'; did you mean 'hess'"),
        ({"preset": "papr"}, "unknown preset 'papr'; did you mean 'paper'"),
        ({"low__hindsigth": 1}, "unknown field 'low.hindsigth'; did you mean 'low.hindsight'"),
        ({"step": 1}, "unknown field 'step'; did you mean 'steps'"),
    ],
)
def test_a_typing_error_is_answered_with_the_closest_name(
    keywords: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(HessError, match=sentence):
        make_config("PointMaze", **keywords)


@pytest.mark.parametrize(
    ("task", "name", "expected"),
    [
        ("PointMaze", None, "PointMaze/hess/seed-4"),
        ("hess/PointMaze-v0", "mine", "PointMaze/hess/mine"),
        ("module:Some/Env-v1", None, "module-Some-Env-v1/hess/seed-4"),
    ],
)
def test_runs_have_their_place(task: str, name: str | None, expected: str) -> None:
    assert run_path(Config(task=task, seed=4), Path("runs"), name) == Path("runs") / expected


def test_arguments_and_foreign_methods_are_part_of_the_place() -> None:
    config = Config(method="mine:own", env=("random_goal=True", "reward=dense"))
    expected = "PointMaze/mine-own/random_goal=True,reward=dense,seed-0"
    assert run_path(config, Path("runs"), None) == Path("runs") / expected


def test_training_says_where_the_run_lies(run: TrainedRun, runs: Path) -> None:
    assert run.path == runs / "HessTests-Field" / "hess" / "seed-0"
    assert run.result.finished
    assert run.result.step == 5 * HORIZON
    for name in ("config.json", "metadata.json", "metrics.jsonl", "eval.csv"):
        assert (run.path / name).exists()
    assert run.result.success_rate == read_evaluations(RunFolder(run.path))["success_rate"][-1]


def test_the_same_call_resumes_and_another_config_is_refused(run: TrainedRun, runs: Path) -> None:
    again = hess.train(FIELD, runs=runs, **FIELDS)
    assert again.result == run.result
    with pytest.raises(HessError, match=r"another config \(subgoal_radius: 2.0 -> 3.0\)"):
        hess.train(FIELD, runs=runs, **(FIELDS | {"subgoal_radius": 3.0}))


@pytest.mark.parametrize(
    ("task", "fields", "sentence"),
    [
        ("PointMase", {}, "unknown task 'PointMase'"),
        (FIELD, {"subgoal_interval": 21}, "subgoal_interval=21 is impossible; it may be 1 to 20"),
        (FIELD, {"env": {"colour": 1}}, "unknown HessTests/Field-v0 argument 'colour'"),
        ("PointMaze", {"env": {"random_gaol": True}}, "did you mean 'random_goal'"),
        (FIELD, {"exploration__probability": 1.5}, r"exploration\.probability=1\.5 is impossible"),
        (FIELD, {"name": "../elsewhere"}, "a run cannot be named '../elsewhere'"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_written(
    tmp_path: Path, task: str, fields: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(HessError, match=sentence):
        hess.train(task, runs=tmp_path, **(FIELDS | fields))
    assert list(tmp_path.iterdir()) == []


def test_a_loaded_agent_acts_the_same_after_a_reset(agent: LoadedAgent) -> None:
    rng = np.random.default_rng(0)
    observations, goal = rng.normal(0, 1, (12, 4)), np.array([1.5, 0.5])
    first = [agent.act(observation, goal) for observation in observations]
    subgoal = agent.subgoal.copy()
    agent.reset()
    again = [agent.act(observation, goal) for observation in observations]
    assert np.array_equal(first, again)
    assert np.array_equal(subgoal, agent.subgoal)
    assert all(np.abs(action).max() <= 1 for action in first)


def test_a_new_subgoal_is_set_every_c_steps(agent: LoadedAgent) -> None:
    rng = np.random.default_rng(0)
    subgoals = []
    for _ in range(10):
        agent.act(rng.normal(0, 1, 4), np.zeros(2))
        subgoals.append(tuple(agent.subgoal.tolist()))
    assert len(set(subgoals)) == 2
    assert subgoals == [subgoals[0]] * 5 + [subgoals[5]] * 5


def test_acting_beyond_the_horizon_is_an_error_that_says_what_to_do(agent: LoadedAgent) -> None:
    for _ in range(HORIZON):
        agent.act(np.zeros(4), np.zeros(2))
    with pytest.raises(HessError, match=r"over after 20 steps; call reset\(\) first"):
        agent.act(np.zeros(4), np.zeros(2))


def test_embeddings_are_those_of_the_representation(agent: LoadedAgent) -> None:
    observations = np.random.default_rng(0).normal(0, 1, (7, 4))
    embedded = agent.embed(observations)
    assert embedded.shape == (7, 2)
    agent.reset()
    agent.act(observations[0], np.zeros(2))
    assert np.ptp(embedded, axis=0).min() > 0


def test_evaluation_is_deterministic_in_its_seed(run: TrainedRun, agent: LoadedAgent) -> None:
    first, again = agent.evaluate(episodes=3, seed=1), hess.evaluate(run.path, 3, seed=1)
    assert len(first.episodes) == 3
    assert first.success_rate == again.success_rate
    assert first.mean_return == again.mean_return
    rewards = [[each.rewards.tolist() for each in done.episodes] for done in (first, again)]
    assert rewards[0] == rewards[1]
    expected = np.mean([each.successes.any() for each in first.episodes])
    assert first.success_rate == expected


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"episodes": 0}, "episodes=0 is impossible; it must be at least 1"),
        ({"seed": -1}, "seed=-1 is impossible; it must be at least 0"),
    ],
)
def test_an_evaluation_that_cannot_be_is_refused(
    agent: LoadedAgent, fields: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(HessError, match=sentence):
        agent.evaluate(**fields)


def test_the_command_prints_what_the_call_returns(
    run: TrainedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = hess.evaluate(run.path, 3, seed=1)
    capsys.readouterr()
    assert main(["evaluate", str(run.path), "--episodes", "3", "--seed", "1"]) == 0
    assert capsys.readouterr().out == (
        f"success rate {expected.success_rate:.2f} ({expected.success_at_end:.2f} at the last "
        f"step), mean return {expected.mean_return:.2f} over 3 episodes at step {5 * HORIZON}\n"
    )
    assert main(["evaluate", str(run.path), "--episodes", "0"]) == 2
    assert "episodes=0 is impossible; it must be at least 1" in capsys.readouterr().err


def test_loading_a_run_without_a_whole_manifest_says_what_is_damaged(
    run: TrainedRun, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run.path, copy)
    for folder in checkpoint_folders(copy):
        (folder / "manifest.json").write_text("{}")
    with pytest.raises(
        HessError, match=r"no usable checkpoint: .*json' is damaged: it has no digest"
    ):
        hess.load(copy)


def test_loading_what_is_no_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(HessError, match=r"is not a run folder: it has no config\.json"):
        hess.load(tmp_path / "nothing")
