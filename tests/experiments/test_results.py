"""Recorded runs: what is kept of them, and the tables made from that."""

from __future__ import annotations

from pathlib import Path

import pytest

from hess.api import make_config
from hess.config import Config
from hess.errors import HessError
from hess.experiments.results import Curve, markdown_table, read_curves, record_run, update_tables
from hess.files import read_json
from hess.training.folder import RunFolder


def make_run(folder: Path, config: Config, success: list[float]) -> Path:
    """A run folder as the trainer leaves it, with evaluations evenly spread over its steps."""
    run = RunFolder(folder)
    folder.mkdir(parents=True)
    run.write_config(config)
    run.write_metadata()
    steps = [config.steps * index // (len(success) - 1) for index in range(len(success))]
    rows = [f"{step},10,{rate},0,{rate / 2}" for step, rate in zip(steps, success, strict=True)]
    header = "step,episodes,success_rate,mean_return,train_success"
    run.evaluations_file.write_text("\n".join([header, *rows]) + "\n")
    return folder


def test_a_recorded_run_can_be_read_back(tmp_path: Path) -> None:
    config = make_config("PointMaze", seed=3, steps=1000)
    run = make_run(tmp_path / "run", config, [0.0, 0.5, 1.0])
    table = record_run(run, tmp_path / "results", "main")
    assert table == tmp_path / "results/main/hess/PointMaze.csv"
    assert table.read_text().splitlines()[2] == "500,3,0.5,0.25"
    expected = Curve("main", "hess", "PointMaze", 3, (0, 500, 1000), (0.0, 0.5, 1.0))
    assert read_curves(tmp_path / "results") == [expected]
    about = read_json(table.with_suffix(".json"))["3"]
    assert about["command"] == "hess train PointMaze --seed 3 --steps 1000"
    assert about["config"]["low"]["batch_size"] == config.low.batch_size
    assert str(tmp_path) not in table.with_suffix(".json").read_text()


def test_recording_a_seed_again_replaces_it_and_keeps_others(tmp_path: Path) -> None:
    for number, (seed, rate) in enumerate([(1, 0.2), (0, 0.4), (1, 0.6)]):
        config = make_config("PointMaze", seed=seed, steps=100)
        run = make_run(tmp_path / str(number), config, [0.0, rate])
        record_run(run, tmp_path / "results", "main")
    curves = read_curves(tmp_path / "results")
    assert [(curve.seed, curve.success[-1]) for curve in curves] == [(0, 0.4), (1, 0.6)]


def test_an_unfinished_run_is_refused(tmp_path: Path) -> None:
    config = make_config("PointMaze", steps=1000)
    run = make_run(tmp_path / "run", config, [0.0, 1.0])
    rows = RunFolder(run).evaluations_file
    rows.write_text("\n".join(rows.read_text().splitlines()[:-1]) + "\n")
    with pytest.raises(HessError, match="has not finished its 1,000 steps"):
        record_run(run, tmp_path / "results", "main")
    assert not (tmp_path / "results").exists()


def curve(seed: int, *success: float) -> Curve:
    steps = tuple(range(0, 25_000 * len(success), 25_000))
    return Curve("main", "hess", "AntMaze", seed, steps, success)


def test_the_final_success_is_the_mean_of_the_last_four_evaluations() -> None:
    assert curve(0, 0.0, 0.0, 1.0, 0.5, 0.9, 1.0).final == pytest.approx(0.85)


def test_steps_to_threshold_is_the_first_evaluation_at_or_above_it() -> None:
    assert curve(0, 0.0, 0.8, 0.9, 0.1).steps_to_threshold == 50_000
    assert curve(0, 0.0, 0.8).steps_to_threshold is None


def test_the_table_names_seeds_that_never_reached_the_threshold() -> None:
    row = markdown_table([curve(0, 0, 1, 1, 1, 1), curve(1, 0, 0, 0, 0, 0)], "main").splitlines()[2]
    assert row == "| AntMaze | hess | 2 | 100k | 0.50 (0.00 to 1.00) | 25k (1 of 2 seeds) |"


def test_the_table_shows_that_seeds_had_different_budgets() -> None:
    runs = [curve(seed, *[1.0] * evaluations) for seed, evaluations in enumerate((5, 9, 7))]
    row = markdown_table(runs, "main").splitlines()[2]
    assert row == "| AntMaze | hess | 3 | 100k to 200k | 1.00 (1.00 to 1.00) | 0k |"


def test_tables_are_written_between_the_markers(tmp_path: Path) -> None:
    config = make_config("PointMaze", steps=100)
    record_run(make_run(tmp_path / "run", config, [0.0, 1.0]), tmp_path / "results", "main")
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- results:start -->\nold\n<!-- results:end -->\nafter\n")
    update_tables(tmp_path / "results", readme)
    text = readme.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "| PointMaze | hess | 1 |" in text
    assert "old" not in text
    assert "## main" in (tmp_path / "results/README.md").read_text()
    readme.write_text("no markers")
    with pytest.raises(HessError, match="lacks the markers"):
        update_tables(tmp_path / "results", readme)
