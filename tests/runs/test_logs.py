"""Text files of runs, whole and in the making."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hess.errors import HessError
from hess.runs.folder import RunFolder
from hess.runs.logs import (
    GrowingMetrics,
    Series,
    evaluation_series,
    metric_series,
    read_evaluations,
    read_metrics,
    recent_metrics,
    running_mean,
)


def folder_with(tmp_path: Path, metrics: str = "", evaluations: str = "") -> RunFolder:
    (tmp_path / "metrics.jsonl").write_text(metrics)
    (tmp_path / "eval.csv").write_text(evaluations)
    return RunFolder(tmp_path)


def test_a_quantity_may_be_missing_in_some_lines(tmp_path: Path) -> None:
    lines = '{"step": 5, "a": 1}\n{"step": 10, "a": 2, "b": 3}\n'
    columns = metric_series(read_metrics(folder_with(tmp_path, lines)))
    assert columns["a"].steps.tolist() == [5, 10]
    assert columns["b"].steps.tolist() == [10]
    assert columns["b"].values.tolist() == [3]


def test_a_line_that_is_being_written_does_not_count_yet(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, '{"step": 5, "a": 1}\n{"step": 10, "a": 2', "step,x\n0,1\n5,0.")
    assert [row["step"] for row in read_metrics(folder)] == [5]
    assert [row["step"] for row in recent_metrics(folder)] == [5]
    assert read_evaluations(folder) == {"step": [0], "x": [1]}
    assert evaluation_series(read_evaluations(folder))["x"].values.tolist() == [1]


def test_files_that_are_not_there_yet_are_empty(tmp_path: Path) -> None:
    assert read_metrics(RunFolder(tmp_path)) == []
    assert recent_metrics(RunFolder(tmp_path)) == []
    assert read_evaluations(RunFolder(tmp_path)) == {}


@pytest.mark.parametrize(
    "line",
    [
        *("x", "[]", "3", '{"a": 1}', '{"step": "x"}', '{"step": 1, "a": []}'),
        '{"step": 1' + 400 * "0" + "}",
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    folder = folder_with(tmp_path, f'{{"step": 5, "a": 1}}\n{line}\n{{"step": 10}}\n')
    with pytest.raises(HessError, match=r"metrics.jsonl' is damaged in line 2"):
        read_metrics(folder)
    assert [row["step"] for row in recent_metrics(folder)] == [5, 10]


@pytest.mark.parametrize("row", ["1", "1,2,3", "1,x", "1,nan"])
def test_a_damaged_row_is_named(tmp_path: Path, row: str) -> None:
    folder = folder_with(tmp_path, evaluations=f"step,rate\n0,1\n{row}\n")
    with pytest.raises(HessError, match=r"eval.csv' is damaged in line 3"):
        read_evaluations(folder)


def test_a_growing_file_is_followed_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    reader = GrowingMetrics(path)
    assert reader.read() == []
    path.write_text('{"step": 1, "a": 1}\n{"step": 2, "a"')
    assert [row.get("a") for row in reader.read()] == [1]
    path.write_text('{"step": 1, "a": 1}\n{"step": 2, "a": 2}\n{"step": 3, "b": 5}\n')
    assert reader.read() == [{"step": 1, "a": 1}, {"step": 2, "a": 2}, {"step": 3, "b": 5}]


def test_a_file_that_was_cut_back_and_has_grown_again_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    reader = GrowingMetrics(path)
    path.write_text("".join(f'{{"step": {step}, "a": 1}}\n' for step in range(30)))
    assert len(reader.read()) == 30
    path.write_text("".join(f'{{"step": {step}, "a": 2}}\n' for step in range(40)))
    assert [row["a"] for row in reader.read()] == [2] * 40


# --- series as figures show them ----------------------------------------------------------------


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=300),
    st.integers(2, 50),
)
def test_thinning_keeps_the_ends_and_the_extremes(values: list[float], points: int) -> None:
    series = Series(np.arange(len(values), dtype=float), np.array(values))
    thinned = series.thinned(points)
    assert len(thinned.steps) <= max(points, 2) + 2
    assert thinned.steps[0] == 0
    assert thinned.steps[-1] == len(values) - 1
    assert thinned.values.max() == max(values)
    assert thinned.values.min() == min(values)
    assert (np.diff(thinned.steps) > 0).all()


def test_a_running_mean_looks_back_only() -> None:
    assert running_mean(np.array([0.0, 3.0, 6.0, 9.0]), 3).tolist() == [0.0, 1.5, 3.0, 6.0]
    assert running_mean(np.array([1.0, 2.0]), 1).tolist() == [1.0, 2.0]


def test_smoothing_leaves_short_series_alone() -> None:
    series = Series(np.arange(10.0), np.arange(10.0) ** 2)
    assert series.smoothed().values.tolist() == series.values.tolist()
