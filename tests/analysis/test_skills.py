"""Skill traces: episodes are cut where the skill changes, and a skill has one colour."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from hess.analysis import style
from hess.analysis.skills import load_traces, skill_colours, skill_traces, split
from hess.errors import HessError
from hess.files import write_atomic
from hess.runs.run import NothingToDrawError, Run
from hess.runs.snapshots import SKILLS, list_snapshots
from hess.runs.tensors import pack_sealed
from tests.analysis.fakes import HORIZON
from tests.analysis.fakes import skill_traces as fake_traces

PATH = np.stack([np.arange(9.0), np.zeros(9)], -1)  # 8 steps: 4 segments of 2
DRAWN = np.array([True, True, False, False])


def test_an_episode_is_cut_where_its_skill_changes() -> None:
    skills = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    traces = split(PATH, skills, DRAWN, 2)
    assert [trace.positions[:, 0].tolist() for trace in traces] == [
        [0, 1, 2, 3, 4],
        [4, 5, 6],
        [6, 7, 8],
    ]
    assert [trace.skill.tolist() for trace in traces] == [[1, 0], [0, 1], [1, 0]]
    assert [trace.drawn for trace in traces] == [True, False, False]


def test_segments_that_were_never_begun_are_left_out() -> None:
    skills = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    traces = split(PATH[:4], skills, DRAWN, 2)
    assert [trace.positions[:, 0].tolist() for trace in traces] == [[0, 1, 2], [2, 3]]


def test_the_same_skill_has_the_same_colour_and_another_direction_another() -> None:
    right, half, up, none = skill_colours(
        np.array([[1.0, 0.0], [0.5, 0.0], [0.0, 1.0], [0.0, 0.0]])
    )
    np.testing.assert_allclose(right, to_rgb(style.BLUE))
    np.testing.assert_allclose(none, to_rgb(style.FAINT))
    np.testing.assert_allclose(half, (right + none) / 2)
    assert np.abs(up - right).max() > 0.3


@pytest.mark.parametrize("dim", [1, 3])
def test_skills_of_other_dimensions_have_colours_too(dim: int) -> None:
    colours = skill_colours(np.linspace(-1, 1, 4 * dim).reshape(4, dim))
    assert colours.shape == (4, 3)
    assert ((colours >= 0) & (colours <= 1)).all()


def test_a_figure_shows_every_trace_of_its_moments(run: Run) -> None:
    files = list_snapshots(run.folder, SKILLS)
    figure = skill_traces(run)
    *planes, key = figure.axes
    assert len(planes) == len(files) == 3
    titles = [axes.get_title(loc="left") for axes in planes]
    assert ["drawn at random" in title for title in titles] == [True, False, False]
    assert "chosen by control" in titles[-1]
    traces = load_traces(files[max(files)])
    assert len(traces) == 2 * 12
    shown = [np.asarray(line.get_xydata()) for line in planes[-1].lines]
    for trace in traces:
        assert any(np.array_equal(each, trace.positions) for each in shown)
    assert key.get_title(loc="left") == "skill"


def test_a_run_without_skills_says_so(root: Path) -> None:
    with pytest.raises(NothingToDrawError, match="no skill traces; only dads writes them"):
        skill_traces(Run(root / "PointMaze" / "hess" / "seed-1"))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"skills.stride": None}, "of another version: it has no 'skills.stride'"),
        ({"skills.positions": np.zeros((12, 4))}, "damaged: traces of shape"),
        ({"skills.skills": np.full((12, 10, 2), np.nan)}, "damaged: numbers that are not finite"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, changes: dict[str, object], reason: str) -> None:
    arrays = fake_traces(np.random.default_rng(0), 1.0) | changes
    path = tmp_path / f"skills-{HORIZON:09d}.safetensors"
    write_atomic(path, pack_sealed({name: a for name, a in arrays.items() if a is not None}))
    with pytest.raises(HessError, match=reason):
        load_traces(path)
