"""The loop around an agent: rounds, lag, evaluations, snapshots, stopping and failing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hess.errors import HessError
from hess.runs.folder import RunFolder
from hess.runs.logs import read_evaluations, read_metrics
from hess.runs.snapshots import list_snapshots, read_snapshot
from hess.training.trainer import Trainer
from tests.training import stub
from tests.training.stub import Stub, Watcher, tiny_run, train
from tests.training.toy_tasks import FRAGILE, HORIZON, SLOPE


@pytest.fixture(autouse=True)
def method() -> Iterator[None]:
    with stub.registered():
        yield


@pytest.mark.parametrize(("pipeline", "lag"), [(True, 1), (False, 0)])
@pytest.mark.parametrize("num_envs", [1, 2])
def test_the_lag_is_exactly_one_round_with_a_pipeline(
    tmp_path: Path, pipeline: bool, lag: int, num_envs: int
) -> None:
    _, watcher = train(tiny_run(pipeline=pipeline, num_envs=num_envs), tmp_path)
    lags = [values["stub/lag"] for _, values in watcher.rounds]
    assert lags == [0] + [lag * num_envs] * (8 // num_envs - 1)


def test_policies_know_how_much_of_training_is_done(tmp_path: Path) -> None:
    _, watcher = train(tiny_run(pipeline=False), tmp_path)
    shares = [values["stub/progress"] for _, values in watcher.rounds]
    assert shares == pytest.approx([number / 8 for number in range(8)])


def test_a_run_ends_after_its_steps(tmp_path: Path) -> None:
    trainer, watcher = train(tiny_run(), tmp_path)
    assert [step for step, _ in watcher.rounds] == [HORIZON * n for n in range(1, 9)]
    assert trainer.step == 8 * HORIZON


def test_the_last_round_may_overshoot(tmp_path: Path) -> None:
    trainer, _ = train(tiny_run(steps=HORIZON + 1, num_envs=3), tmp_path)
    assert trainer.step == 3 * HORIZON


def test_steps_are_counted_as_taken_where_episodes_end_early(tmp_path: Path) -> None:
    trainer, watcher = train(tiny_run(task=SLOPE, steps=100), tmp_path)
    taken = [step for step, _ in watcher.rounds]
    assert trainer.step == taken[-1] >= 100
    assert len({after - before for before, after in zip(taken[:-1], taken[1:], strict=True)}) > 1


@pytest.mark.parametrize("pipeline", [True, False])
@pytest.mark.parametrize("num_envs", [1, 2])
def test_the_same_seed_gives_the_same_rounds(tmp_path: Path, pipeline: bool, num_envs: int) -> None:
    config = tiny_run(pipeline=pipeline, num_envs=num_envs)
    runs = [train(config, tmp_path / name)[1].lasting() for name in ("first", "again")]
    assert runs[0] == runs[1]
    other = train(tiny_run(pipeline=pipeline, num_envs=num_envs, seed=1), tmp_path / "other")[1]
    assert other.lasting() != runs[0]


def test_environments_side_by_side_are_not_copies_of_each_other(tmp_path: Path) -> None:
    trainer, _ = train(tiny_run(num_envs=2), tmp_path)
    actions = trainer.agent.replay.episodes.actions
    assert not (actions[0] == actions[1]).all()


def test_evaluations_are_at_the_start_every_interval_and_at_the_end(tmp_path: Path) -> None:
    config = tiny_run(steps=8 * HORIZON, evaluation__interval=3 * HORIZON)
    train(config, tmp_path)
    rows = read_evaluations(RunFolder(tmp_path))
    assert rows["step"] == [0, 3 * HORIZON, 6 * HORIZON, 8 * HORIZON]
    assert rows["episodes"] == [3, 3, 3, 3]
    assert rows["train_success"] == [0.25] * 4
    assert all(0 <= rate <= 1 for rate in rows["success_rate"])
    header = (tmp_path / "eval.csv").read_text().splitlines()[0]
    assert header == "step,episodes,success_rate,mean_return,train_success,success_at_end"


def test_an_interval_that_falls_within_a_round_is_evaluated_after_it(tmp_path: Path) -> None:
    train(tiny_run(steps=6 * HORIZON, evaluation__interval=50, num_envs=2), tmp_path)
    # Rounds end at 40, 80 and 120; 50 and 100 lie between.
    assert read_evaluations(RunFolder(tmp_path))["step"] == [0, 80, 120]


def test_success_is_reaching_the_goal_at_any_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hess.envs.adapter import Task

    original = Task.step

    def only_in_the_middle(self: Task, action: Any, number: int) -> Any:
        outcome = original(self, action, number)
        return outcome._replace(success=number == 7, reward=float(number == 7))

    monkeypatch.setattr(Task, "step", only_in_the_middle)
    _, watcher = train(tiny_run(steps=HORIZON), tmp_path)
    assert [row["success_rate"] for row in watcher.evaluations] == [1.0, 1.0]
    assert watcher.rounds[0][1]["train/success"] == 1.0
    assert watcher.rounds[0][1]["train/return"] == 1.0


def test_every_round_is_a_line_of_metrics(tmp_path: Path) -> None:
    _, watcher = train(tiny_run(steps=2 * HORIZON), tmp_path)
    lines = read_metrics(RunFolder(tmp_path))
    assert lines == [{"step": step} | values for step, values in watcher.rounds]
    wanted = {"stub/loss", "train/success", "train/return", "train/flipped_share"}
    wanted |= {"train/visited_squares", "time/collection", "time/learning"}
    assert wanted <= set(lines[0])


def test_snapshots_are_written_every_interval_and_at_the_end(tmp_path: Path) -> None:
    train(tiny_run(record__snapshot_interval=3 * HORIZON), tmp_path)
    found = list_snapshots(RunFolder(tmp_path))
    assert list(found) == [3 * HORIZON, 6 * HORIZON, 8 * HORIZON]
    assert read_snapshot(found[6 * HORIZON])["episodes"].tolist() == [6]


def test_a_stop_ends_the_run_after_the_round_and_saves_it(tmp_path: Path) -> None:
    watcher = Watcher(stop_at=3 * HORIZON)
    result = Trainer(tiny_run(), RunFolder(tmp_path), watcher).run()
    assert (result.step, result.finished) == (3 * HORIZON, False)
    assert len(watcher.rounds) == 3
    trainer, resumed = train(tiny_run(), tmp_path)
    assert trainer.step == 8 * HORIZON
    assert [step for step, _ in resumed.rounds] == [HORIZON * n for n in range(4, 9)]
    assert any("resumed at step 60" in text for text in resumed.messages)


def test_a_finished_run_has_nothing_left_to_do(tmp_path: Path) -> None:
    train(tiny_run(), tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.glob("*.*")}
    result = Trainer(tiny_run(), RunFolder(tmp_path), Watcher()).run()
    assert (result.step, result.finished) == (8 * HORIZON, True)
    assert {path: path.read_bytes() for path in tmp_path.glob("*.*")} == before


def test_a_finished_run_can_be_given_more_steps(tmp_path: Path) -> None:
    train(tiny_run(steps=4 * HORIZON), tmp_path)
    trainer, watcher = train(tiny_run(steps=6 * HORIZON), tmp_path)
    assert trainer.step == 6 * HORIZON
    assert [step for step, _ in watcher.rounds] == [5 * HORIZON, 6 * HORIZON]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_metric_that_is_not_finite_stops_the_run_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: float
) -> None:
    config = tiny_run(record__checkpoint_interval=2 * HORIZON)
    monkeypatch.setattr(Stub, "poison", (5, value))
    with pytest.raises(HessError, match=rf"stub/loss became {value} at step {5 * HORIZON}"):
        train(config, tmp_path)
    # What was saved before is intact, and goes on where it was.
    monkeypatch.setattr(Stub, "poison", (-1, 0.0))
    _, watcher = train(config, tmp_path)
    assert any(f"resumed at step {4 * HORIZON}" in text for text in watcher.messages)
    assert watcher.rounds[0][0] == 5 * HORIZON


def test_a_broken_environment_is_named_and_costs_nothing_that_was_learned(tmp_path: Path) -> None:
    config = tiny_run(task=FRAGILE, evaluation__episodes=1)
    with pytest.raises(HessError, match=r"'HessTests/Fragile-v0' step raised RuntimeError"):
        train(config, tmp_path)
    trainer = Trainer(config, RunFolder(tmp_path), Watcher())
    with pytest.raises(HessError, match="the motor is broken"):
        trainer.run()
    assert trainer.step > 2 * HORIZON  # two episodes before the fault, more after resuming
