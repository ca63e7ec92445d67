"""Recorded seeds: what is kept of them in files."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from hess.analysis.recorded import read_curves, read_table, table_path, write_table
from hess.errors import HessError
from hess.files import read_json, write_json
from hess.runs.folder import folder_name
from tests.analysis.recorded import recorded
from tools.results.protocol import settings

ROOT = Path(__file__).parents[2]


def test_a_row_can_be_read_back(tmp_path: Path) -> None:
    table = table_path(tmp_path, "main", "hess", "AntMaze")
    row = [recorded(3, 0.0, 0.5, 1.0), recorded(1, 0.0, 0.25, 0.5)]
    write_table(table, row)
    assert table.read_text().splitlines()[:3] == [
        "step,seed,success_rate,train_success,success_at_end",
        "0,1,0.0,0.0,0.0",
        "250000,1,0.25,0.25,0.25",
    ]
    assert list(read_json(tmp_path / "main/hess/AntMaze.json")) == ["1", "3"]
    found = read_curves(tmp_path)
    assert [dataclasses.replace(each, about={}) for each in found] == [
        dataclasses.replace(each, about={}) for each in reversed(row)
    ]
    assert [settings(each) for each in found] == [settings(each) for each in reversed(row)]


@pytest.mark.parametrize("column", ["", ",success_at_end"])
def test_a_row_from_before_the_last_step_was_recorded_stays_as_it_is(
    tmp_path: Path, column: str
) -> None:
    table = table_path(tmp_path, "main", "hess", "AntMaze")
    table.parent.mkdir(parents=True)
    end = "," if column else ""
    table.write_text(f"step,seed,success_rate,train_success{column}\n0,1,0.0,0.0{end}\n")
    (curve,) = read_table(table)
    assert curve.success_at_end == ()
    write_table(table, [curve])
    assert table.read_text().splitlines()[1] == "0,1,0.0,0.0,"
    assert read_table(table) == [curve]


def test_writing_a_row_leaves_nothing_of_the_old_one(tmp_path: Path) -> None:
    table = table_path(tmp_path, "main", "hess", "AntMaze")
    write_table(table, [recorded(seed, 0.0, 1.0) for seed in range(3)])
    write_table(table, [recorded(5, 0.0, 0.5)])
    assert [curve.seed for curve in read_table(table)] == [5]


def test_a_table_without_its_json_is_read(tmp_path: Path) -> None:
    table = table_path(tmp_path, "main", "hess", "AntMaze")
    write_table(table, [recorded(0, 0.0, 1.0)])
    table.with_suffix(".json").unlink()
    (curve,) = read_table(table)
    assert curve.about == {}


@pytest.mark.parametrize("step", ["nan", "inf"])
def test_a_step_that_is_no_number_is_named(tmp_path: Path, step: str) -> None:
    table = tmp_path / "table.csv"
    table.write_text(f"step,seed,success_rate,train_success\n{step},0,0.5,0.5\n")
    with pytest.raises(HessError, match=r"table.csv' is damaged or no table of results"):
        read_table(table)


def test_a_damaged_json_is_named(tmp_path: Path) -> None:
    table = table_path(tmp_path, "main", "hess", "AntMaze")
    write_table(table, [recorded(0, 0.0, 1.0)])
    write_json(table.with_suffix(".json"), {"0": 1})
    with pytest.raises(HessError, match=r"AntMaze.json' is damaged"):
        read_table(table)


def test_what_is_committed_is_readable_with_all_its_settings() -> None:
    curves = read_curves(ROOT / "results")
    assert curves
    for curve in curves:
        fields = settings(curve)
        task = folder_name(str(fields["task"]))  # arguments of the environment follow its name
        assert (task, fields["seed"]) == (curve.task.partition(",")[0], curve.seed)
        assert "exploration.waypoints" in fields  # newer than the first recorded files
