"""Runs as they are found: long, half-written, damaged, cut back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from hess.errors import HessError
from hess.runs.folder import RunFolder
from hess.runs.run import walk
from hess.viewer import payloads
from hess.viewer.payloads import Library, numbers
from tests.analysis.fakes import (
    fake_run,
    in_more_dimensions,
    snapshot,
    write_arrays,
    write_metrics,
)

RUN = "PointMaze/hess/seed-0"


def spoil_config(folder: RunFolder) -> None:
    folder.config_file.write_text('{"task": "Poi')


def remove_config(folder: RunFolder) -> None:
    folder.config_file.unlink()


def change_kind(folder: RunFolder) -> None:
    folder.config_file.write_text('{"task": 3}')


def spoil_metrics(folder: RunFolder) -> None:
    folder.metrics_file.write_text('{"step": 500}\nnot json\n{"step": 1000}\n')


def spoil_evaluations(folder: RunFolder) -> None:
    folder.evaluations_file.write_text("step,success_rate\n0,zero\n")


def unknown_task(folder: RunFolder) -> None:
    values = json.loads(folder.config_file.read_text())
    folder.config_file.write_text(json.dumps(values | {"task": "Atlantis"}))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (spoil_config, "cannot read"),
        (remove_config, "no config.json"),
        (change_kind, "has no task"),
        (spoil_metrics, "damaged in line 2"),
        (spoil_evaluations, "damaged in line 2"),
        (unknown_task, "unknown task 'Atlantis'"),
    ],
)
def test_a_damaged_part_is_named_and_hides_nothing_else(
    tmp_path: Path, damage: Callable[[RunFolder], None], message: str
) -> None:
    folder = fake_run(tmp_path, snapshots=1)
    damage(folder)
    run = Library(tmp_path).run(RUN)
    assert any(message in problem for problem in run["problems"])
    assert run["snapshots"] == [30_000]
    assert run["evaluations"] or damage is spoil_evaluations
    assert run["diagnostics"] or damage is spoil_metrics
    assert [row["name"] for row in Library(tmp_path).runs()] == [RUN]


def test_a_damaged_snapshot_is_named(tmp_path: Path) -> None:
    folder = fake_run(tmp_path, snapshots=1)
    path = folder.snapshots / "000030000.safetensors"
    content = bytearray(path.read_bytes())
    content[-100] ^= 255
    path.write_bytes(content)
    with pytest.raises(HessError, match="damaged"):
        Library(tmp_path).snapshot(RUN, 30_000)


def deep_run(root: Path) -> RunFolder:
    """A φ of three dimensions at two moments."""
    folder = fake_run(root, snapshots=0)
    rng = np.random.default_rng(0)
    for number in (1, 2):
        arrays = in_more_dimensions(snapshot(rng, number / 2), 3)
        write_arrays(folder, 15_000 * number, arrays)
    return folder


def test_a_space_of_more_dimensions_is_shown_along_what_is_explored(tmp_path: Path) -> None:
    deep_run(tmp_path)
    shown = Library(tmp_path).snapshot(RUN, 15_000)
    assert shown["space_title"] == "φ, d = 3, along its two explored directions"
    assert shown["labels"] == ["φ, 1st explored direction", "φ, 2nd explored direction"]
    found = np.array(shown["states"]["cells"])
    assert (found >= 0).mean() > 0.99
    assert found.max() < len(shown["cells"]["visits"])
    for trajectory in shown["trajectories"]:
        assert np.array(trajectory["subgoals"]).shape[1] == 2


def test_the_strengths_of_the_slowest_directions_are_those_of_that_moment(tmp_path: Path) -> None:
    folder = deep_run(tmp_path)
    rows = [
        {"step": step, "representation/strength_0": 1.0, "representation/strength_1": second}
        for step, second in ((10_000, 0.75), (20_000, 0.5), (40_000, 0.25))
    ]
    folder.metrics_file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    library = Library(tmp_path)
    assert library.snapshot(RUN, 15_000)["strengths"] == [1.0, 0.75]
    assert library.snapshot(RUN, 30_000)["strengths"] == [1.0, 0.5]
    spoil_metrics(folder)
    assert library.snapshot(RUN, 30_000)["strengths"] == []


def test_a_damaged_last_snapshot_does_not_hide_the_others(tmp_path: Path) -> None:
    folder = deep_run(tmp_path)
    (folder.snapshots / "000045000.safetensors").write_bytes(b"half a snapsh")
    assert Library(tmp_path).snapshot(RUN, 15_000)["states"]["space"]
    with pytest.raises(HessError, match="damaged"):
        Library(tmp_path).snapshot(RUN, 45_000)


def test_a_run_without_anything_yet_says_so(tmp_path: Path) -> None:
    folder = fake_run(tmp_path, snapshots=0)
    folder.metrics_file.unlink()
    folder.evaluations_file.unlink()
    run = Library(tmp_path).run(RUN)
    assert run["step"] == 0
    assert run["problems"] == [
        "no snapshots yet: they begin when a method has learned its φ the first time"
    ]


def test_a_foreign_module_is_not_imported_for_its_walls(tmp_path: Path) -> None:
    folder = fake_run(tmp_path, snapshots=1)
    values = json.loads(folder.config_file.read_text())
    folder.config_file.write_text(json.dumps(values | {"task": "antigravity:Env-v0"}))
    run = Library(tmp_path).run(RUN)
    assert run["plan"] is None
    assert any("antigravity" in problem for problem in run["problems"])


def test_the_folder_is_walked_once_for_all_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(3):
        fake_run(tmp_path, seed=seed, snapshots=0, episodes=4)
    walks: list[Path] = []

    def counted(path: Path) -> Iterator[Path]:
        walks.append(path)
        return walk(path)

    monkeypatch.setattr(payloads, "walk", counted)
    assert len(Library(tmp_path).runs()) == 3
    assert len(walks) == 1


def test_a_long_run_is_thinned_and_read_once(tmp_path: Path) -> None:
    folder = fake_run(tmp_path, snapshots=0, episodes=4_000)
    library = Library(tmp_path)
    run = library.run(RUN)
    assert run["step"] == 2_000_000
    assert len(json.dumps(run)) < 600_000
    for chart in run["diagnostics"]:
        assert len(chart["steps"]) == len(chart["values"]) <= 500
        assert chart["steps"] == sorted(chart["steps"])
    before = folder.metrics_file.stat().st_size
    write_metrics(folder, np.random.default_rng(0), [4_001], 4_001)
    reader = library._metrics[RUN]
    assert reader._known == before
    assert library.run(RUN)["step"] == 2_000_500
    assert reader._known == folder.metrics_file.stat().st_size


def test_numbers_are_rounded_and_never_nan() -> None:
    array = np.array([[1 / 3, np.nan], [np.inf, 123456.7]])
    assert numbers(array) == [[0.33333, None], [None, 123460.0]]
