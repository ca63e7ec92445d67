"""`hess compare`: which runs count, what the table says, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hess.analysis.comparison import (
    ALL_TASKS,
    ComparedRun,
    ComparisonRow,
    Measure,
    compare,
    read_compared,
)
from hess.analysis.recorded import table_path, write_table
from hess.analysis.tables import FORMATS
from hess.api import make_config
from hess.cli import main
from hess.errors import HessError
from hess.runs.logs import Series
from tests.analysis.recorded import make_run, recorded

STEPS = 1_000


def table_of(results: Path, method: str, *success: float) -> Path:
    table = table_path(results, "main", method, "PointMaze")
    write_table(table, [recorded(0, *success, task="PointMaze", method=method, steps=STEPS)])
    return table


def trained(
    runs: Path, method: str, seed: int, success: list[float], task: str = "PointMaze", **fields: Any
) -> Path:
    config = make_config(task, method, seed=seed, steps=STEPS, **fields)
    name = "-".join([*map(str, fields.values()), str(seed)])
    return make_run(runs / task / method / name, config, success)


def outcome(method: str, seed: int, *success: float, task: str = "AntMaze") -> ComparedRun:
    steps = np.arange(len(success)) * 1_000.0
    return ComparedRun(task, method, seed, Series(steps, np.array(success)), Path("somewhere"))


def row_of(rows: Sequence[ComparisonRow], method: str, task: str = "AntMaze") -> ComparisonRow:
    (row,) = [row for row in rows if (row.method, row.task) == (method, task)]
    return row


OUTCOMES = [
    outcome("hess", 0, 0, 1, 1, 1, 1),
    outcome("hess", 1, 0, 0, 0, 1, 1),
    outcome("hess", 2, 0, 0, 0, 0, 0),
    outcome("sac", 0, 0, 0, 0, 0, 0),
    outcome("sac", 1, 0, 0, 0, 0, 0.4),
]


def test_a_row_says_what_its_runs_say() -> None:
    row = row_of(compare(OUTCOMES, Measure(last=2)), "hess")
    assert row.runs == 3
    assert row.final is not None
    assert row.final.value == pytest.approx(2 / 3)
    assert row.interquartile.value == pytest.approx(2 / 3)
    assert row.median_steps is not None
    assert row.median_steps.value == 3_000
    assert row.mean_steps is not None
    assert row.mean_steps.value == pytest.approx((1_000 + 3_000 + 4_000) / 3)
    assert row.reached == 2
    assert row.improvement is None  # over itself


def test_others_are_compared_with_the_reference() -> None:
    sac = row_of(compare(OUTCOMES, Measure(last=2)), "sac")
    assert sac.improvement is not None
    # Finals 0, 0.2 against 1, 1, 0: of six pairs one is won and one is a tie.
    assert sac.improvement.value == pytest.approx((1 + 0.5) / 6)
    assert sac.median_steps is not None
    assert sac.median_steps.value == math.inf
    hess = row_of(compare(OUTCOMES, Measure(last=2, reference="sac")), "hess")
    assert hess.improvement is not None
    assert hess.improvement.value == pytest.approx(1 - 1.5 / 6)


def test_over_all_tasks_only_who_has_runs_on_all() -> None:
    more = [outcome("hess", seed, 0, 1, task="AntPush") for seed in range(3)]
    rows = compare([*OUTCOMES, *more], Measure(last=2))
    over_all = row_of(rows, "hess", ALL_TASKS)
    assert over_all.runs == 6
    assert over_all.final is None
    assert [row.method for row in rows if row.task == ALL_TASKS] == ["hess"]


def test_a_further_method_moves_no_interval() -> None:
    alone = row_of(compare(OUTCOMES[:3], Measure()), "hess")
    assert row_of(compare(OUTCOMES, Measure()), "hess") == alone


def test_an_unknown_reference_is_refused() -> None:
    with pytest.raises(HessError, match="unknown reference method 'sacc'; did you mean 'sac'"):
        compare(OUTCOMES, Measure(reference="sacc"))


# --- reading ------------------------------------------------------------------------------------


def test_runs_that_differ_in_a_field_are_told_apart(tmp_path: Path) -> None:
    for seed in range(2):
        trained(tmp_path, "hess", seed, [0, 1])
    trained(tmp_path, "hess", 0, [0, 0.5], exploration__extension=2.0)
    found = read_compared([tmp_path], None, pytest.fail)
    assert [each.method for each in found] == ["hess", "hess", "hess exploration.extension=2.0"]


def test_runs_and_recorded_tables_stand_side_by_side(tmp_path: Path) -> None:
    run = trained(tmp_path / "runs", "hess", 0, [0, 1])
    table = table_of(tmp_path / "results", "lesson", 0, 0)
    (tmp_path / "results" / "a folder.csv").mkdir()
    for place in (table, tmp_path / "results"):
        found = read_compared([run, place], None, pytest.fail)
        assert {(each.method, each.seed) for each in found} == {("hess", 0), ("lesson", 0)}


def test_unfinished_runs_are_named_and_left_out(tmp_path: Path) -> None:
    trained(tmp_path, "hess", 0, [0, 0.5, 1])
    half = trained(tmp_path, "hess", 1, [0, 1, 1])
    table = half / "eval.csv"
    table.write_text("\n".join(table.read_text().splitlines()[:-1]) + "\n")
    notes: list[str] = []
    (found,) = read_compared([tmp_path], None, notes.append)
    assert found.seed == 0
    assert notes == [f"left out: {half} has done 500 of 1,000 steps"]
    both = read_compared([tmp_path], 500, pytest.fail)
    assert [each.success.values.tolist() for each in both] == [[0, 0.5], [0, 1]]


def test_a_run_that_was_evaluated_later_only_is_left_out(tmp_path: Path) -> None:
    trained(tmp_path, "hess", 0, [0, 0.5, 1])
    late = trained(tmp_path, "hess", 1, [0, 1, 1])
    header, _, *rows = (late / "eval.csv").read_text().splitlines()
    (late / "eval.csv").write_text("\n".join([header, *rows]) + "\n")
    notes: list[str] = []
    (found,) = read_compared([tmp_path], 100, notes.append)
    assert found.seed == 0
    assert notes == [f"left out: {late} was not evaluated in its first 100 steps"]


def test_one_run_twice_is_refused(tmp_path: Path) -> None:
    run = trained(tmp_path / "runs", "hess", 0, [0, 1])
    table = table_of(tmp_path / "results", "hess", 0, 1)
    assert len(read_compared([run, run.parent], None, pytest.fail)) == 1
    with pytest.raises(HessError, match="hess on PointMaze has seed 0 twice"):
        read_compared([run, table], None, pytest.fail)


# --- the command --------------------------------------------------------------------------------


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for seed in range(3):
        trained(tmp_path / "runs", "hess", seed, [0, 1, 1])
        trained(tmp_path / "runs", "sac", seed, [0, 0, 0.2 * seed])
    return tmp_path / "runs"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["compare", *arguments]) == 0
    return capsys.readouterr().out


def test_the_table_as_text(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    title, hess, sac = printed(capsys, str(runs), "--last", "1").splitlines()
    assert " ".join(title.split()) == (
        "task method runs final success IQM P(improvement) steps to 0.9"
    )
    assert " ".join(hess.split()) == (
        "PointMaze hess 3 1.00 [1.00, 1.00] 1.00 [1.00, 1.00] 0.5k [0.5k, 0.5k]; 3 of 3 reached it"
    )
    assert "0.20 [0.00, 0.70]" in sac
    assert sac.endswith("not reached")


def test_the_other_formats_hold_the_same(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = json.loads(printed(capsys, str(runs), "--format", "json"))
    table = printed(capsys, str(runs), "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [row["method"] for row in rows] == [each["method"] for each in records]
    assert float(rows[1]["improvement_high"]) == records[1]["improvement_high"] == 0.0
    assert rows[1]["median_steps"] == "inf"
    assert records[1]["median_steps"] is None
    markdown = printed(capsys, str(runs), "--format", "markdown")
    assert markdown.splitlines()[1] == "| --- | --- | --- | --- | --- | --- | --- |"
    out = tmp_path / "table.md"
    assert printed(capsys, str(runs), "--out", str(out)) == f"table  {out}\n"
    assert out.read_text() == markdown


def test_every_format_has_a_flag() -> None:
    assert {"text", "markdown", "csv", "json"} == set(FORMATS)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["{runs}", "--reference", "hes"], "unknown reference method 'hes'; did you mean 'hess'?"),
        (["{runs}", "--out", "table.xls"], "cannot tell the format of 'table.xls'"),
        (["{runs}", "--threshold", "2"], "threshold=2.0 is impossible"),
        (["{runs}", "--last", "0"], "last=0 is impossible; it must be at least 1"),
        (["{runs}", "--until", "99999"], "no run has come far enough"),
        (["{runs}/nowhere"], "is not a folder"),
        (["{empty}"], "there is neither a run nor a table of results"),
        (["{broken}"], "is damaged or no table of results"),
    ],
)
def test_bad_input_is_a_sentence(
    arguments: list[str],
    problem: str,
    runs: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.csv").write_text("step,seed,success_rate\n0,0,much\n")
    places = {"runs": runs, "empty": tmp_path / "empty", "broken": tmp_path / "broken.csv"}
    assert main(["compare", *(word.format(**places) for word in arguments)]) == 2
    assert problem in capsys.readouterr().err
