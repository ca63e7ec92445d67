"""Seeds, methods and values of hyper-parameters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hess.analysis.groups import Setting, average, by_method, by_task, by_value
from hess.errors import HessError
from hess.runs.logs import Series
from hess.runs.run import Run, find_runs


def series(*values: float, every: int = 10) -> Series:
    return Series(np.arange(len(values)) * float(every), np.array(values))


def test_mean_and_interval_over_seeds() -> None:
    curve = average([series(0, 1), series(0, 0), series(0, 0.5)])
    assert curve.mean.tolist() == [0, 0.5]
    assert curve.half is not None
    # Student's t for 2 degrees of freedom, times 0.5 / sqrt(3)
    assert curve.half[1] == pytest.approx(4.302653 * 0.5 / np.sqrt(3))
    assert curve.seeds == 3


def test_one_seed_has_no_interval() -> None:
    curve = average([series(0, 1)])
    assert curve.half is None


def test_a_curve_ends_where_the_slowest_seed_is() -> None:
    curve = average([series(0, 1, 1, 1), series(0, 0)])
    assert curve.steps.tolist() == [0, 10]


def test_seeds_evaluated_at_different_steps_are_interpolated() -> None:
    curve = average([series(0, 1, every=10), series(0, 0.5, 1, every=5)])
    assert curve.steps.tolist() == [0, 5, 10]
    assert curve.mean.tolist() == [0, 0.5, 1]


def test_nothing_evaluated_is_no_curve() -> None:
    assert Setting("hess", ()).curve(smooth=1) is None


def test_short_curves_are_smoothed_less() -> None:
    short = average([series(*[0] * 9, 1)], smooth=5)
    assert short.mean.tolist() == [0] * 9 + [1]
    long = average([series(*[0] * 29, 1)], smooth=5)
    assert long.mean[-3:].tolist() == pytest.approx([0, 0, 1 / 3])


def test_runs_are_found_below_folders_once(root: Path) -> None:
    runs = find_runs([root, root / "PointMaze" / "lesson"])
    assert len(runs) == 5
    assert len({run.path for run in runs}) == 5


def test_a_folder_without_runs_is_named(tmp_path: Path) -> None:
    with pytest.raises(HessError, match="there is no run in"):
        find_runs([tmp_path])
    with pytest.raises(HessError, match="is not a folder"):
        find_runs([tmp_path / "nowhere"])


def test_a_method_is_compared_as_most_of_its_runs_are_set(root: Path) -> None:
    groups = by_task(find_runs([root]))
    assert list(groups) == ["PointMaze"]
    settings = by_method(groups["PointMaze"])
    assert [(each.label, len(each.runs)) for each in settings] == [("hess", 3), ("lesson", 1)]


def test_a_varied_field_has_a_setting_per_value(root: Path) -> None:
    ((name, settings),) = by_value(find_runs([root])).items()
    assert name == "exploration.potential_weight\nhess on PointMaze"
    assert [len(each.runs) for each in settings] == [3, 1]
    assert settings[1].label == "0.5"


def test_a_config_of_another_version_can_be_looked_at(root: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(
        '{"task": "PointMaze", "method": "old", "seed": 1, "steps": 10, "exploration": '
        '{"potential_weight": 0.25, "forgotten": 3}}'
    )
    about = Run(tmp_path).config
    assert about.exploration.potential_weight == 0.25
    assert about.fields["exploration.forgotten"] == 3
    assert [s.label for s in by_method([Run(tmp_path), *find_runs([root])])][-1] == "old"
