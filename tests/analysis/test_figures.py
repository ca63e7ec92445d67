"""Figures: every one can be drawn, says its units, and shows walls, start and goal."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.quiver import Quiver
from PIL import Image

from hess.analysis import curves, exploration, figures, maps, style
from hess.analysis.projection import Projection
from hess.analysis.runs import NothingToDrawError, Run, find_runs
from hess.cli import main
from tests.analysis.fakes import fake_run


def labels(figure: Figure) -> list[str]:
    return [text for axes in figure.axes for text in (axes.get_xlabel(), axes.get_ylabel())]


@pytest.mark.parametrize("name", figures.RUN_FIGURES)
def test_every_figure_of_a_run(run: Run, name: str) -> None:
    figure = figures.RUN_FIGURES[name](run)
    content = io.BytesIO()
    figure.savefig(content, dpi=40)
    picture = np.asarray(Image.open(content).convert("RGB"))
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50
    assert figure.axes
    assert any(label for label in labels(figure))


@pytest.mark.parametrize("name", figures.METHOD_FIGURES)
def test_every_figure_of_methods(root: Path, name: str) -> None:
    runs = figures.one_per_method(find_runs([root]))
    assert [run.config.method for run in runs] == ["hess", "lesson"]
    assert figures.METHOD_FIGURES[name](runs).axes


@pytest.mark.parametrize("name", ["measures", "visits", "subgoals", "skills"])
def test_maps_of_the_plane_have_walls_start_goal_and_units(run: Run, name: str) -> None:
    plan = run.plan
    assert plan is not None
    planes = [
        axes
        for axes in figures.RUN_FIGURES[name](run).axes
        if axes.get_ylabel() == "y (m)" or "x (m)" in axes.get_xlabel()
    ]
    assert planes
    for axes in planes:
        (walls,) = [each for each in axes.collections if isinstance(each, PatchCollection)]
        assert len(walls.get_paths()) == len(plan.walls)
        marked = {tuple(np.ravel(line.get_xydata())) for line in axes.lines}
        assert {plan.start, plan.goal} <= marked


def test_curves_show_methods_with_their_seeds(root: Path) -> None:
    (axes,) = curves.method_curves(find_runs([root])).axes
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["hess (3 seeds)", "lesson (1 seed)"]
    assert axes.get_ylabel() == "success rate"
    assert "environment steps" in axes.get_xlabel()


def test_arrows_show_how_phi_moved(run: Run) -> None:
    first, _, last = run.snapshots
    before, view = run.snapshot(first), exploration.view_of(run, last)
    axes = style.new_figure(3, 3).subplots()
    maps.feature_change(axes, before, view)
    (arrows,) = [each for each in axes.collections if isinstance(each, Quiver)]
    observations = view.snapshot.states.observations[:200]
    moved = view.snapshot.embed(observations) - before.embed(observations)
    np.testing.assert_allclose(np.stack([arrows.U, arrows.V], -1), moved, rtol=1e-5)


def test_a_run_without_snapshots_says_so(root: Path) -> None:
    bare = Run(root / "PointMaze" / "hess" / "seed-1")
    with pytest.raises(NothingToDrawError, match="seed-1 has no snapshots yet"):
        exploration.measures(bare)


def test_the_style_of_the_callers_figures_stays(run: Run) -> None:
    before = dict(mpl.rcParams)
    curves.run_curve(run)
    assert dict(mpl.rcParams) == before


def test_the_command_draws_what_it_can(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    two = {name: figures.RUN_FIGURES[name] for name in ("curve", "subgoals")}
    monkeypatch.setattr(figures, "RUN_FIGURES", two)
    runs = [fake_run(tmp_path / "runs", seed=seed, snapshots=0, episodes=4) for seed in (0, 1)]
    assert main(["plot", *(str(run.path) for run in runs), "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "no subgoals: hess on PointMaze, seed-0 has no snapshots yet" in printed
    for name in ("methods", "PointMaze-hess-seed-0/curve", "PointMaze-hess-seed-1/curve"):
        assert (tmp_path / "out" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / "out" / f"{name}.pdf").read_bytes().startswith(b"%PDF")


def test_the_same_run_gives_the_same_file(run: Run, tmp_path: Path) -> None:
    for name in ("a.pdf", "b.pdf"):
        style.save_figure(curves.run_curve(run), tmp_path / name)
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()


def test_more_dimensions_are_projected_where_they_vary_most() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(500, 4)) * (0.1, 5.0, 0.2, 2.0)
    projection = Projection.of(points)
    spread = projection(points).std(0)
    assert spread == pytest.approx([5.0, 2.0], rel=0.15)
    np.testing.assert_allclose(projection(projection.middle), [0, 0], atol=1e-9)


def test_two_dimensions_stay_as_they_are() -> None:
    points = np.random.default_rng(0).normal(size=(5, 2))
    np.testing.assert_array_equal(Projection.of(points)(points), points)
