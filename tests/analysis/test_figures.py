"""Figures: every one can be drawn, says its units, and shows walls, start and goal."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PatchCollection, PolyCollection
from matplotlib.colors import to_rgba_array
from matplotlib.figure import Figure
from matplotlib.quiver import Quiver
from PIL import Image

from hess.analysis import curves, explored, figures, latent, maps, style
from hess.analysis.groups import Setting
from hess.api import make_config
from hess.cli import main
from hess.errors import HessError
from hess.runs.logs import Series
from hess.runs.run import NothingToDrawError, Run, find_runs
from hess.runs.snapshots import Projection
from tests.analysis.fakes import fake_run, snapshot, write_arrays


def labels(figure: Figure) -> list[str]:
    return [text for axes in figure.axes for text in (axes.get_xlabel(), axes.get_ylabel())]


@pytest.mark.parametrize("name", figures.RUN_FIGURES)
def test_every_figure_of_a_run(run: Run, wide_run: Run, name: str) -> None:
    figure = figures.RUN_FIGURES[name](wide_run if name == "latent" else run)
    content = io.BytesIO()
    figure.savefig(content, dpi=40)
    picture = np.asarray(Image.open(content).convert("RGB"))
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50
    assert figure.axes
    assert any(label for label in labels(figure))


@pytest.mark.parametrize(
    "name", ["measures", "visits", "representation", "subgoals", "stages", "diagnostics"]
)
def test_figures_of_more_dimensions_say_which_they_show(deep_run: Run, name: str) -> None:
    figure = figures.RUN_FIGURES[name](deep_run)
    figure.savefig(io.BytesIO(), dpi=40)
    shown = labels(figure)
    if name not in ("visits", "diagnostics"):
        assert {"φ, 1st explored direction", "φ, 2nd explored direction"} <= set(shown)


def test_states_have_the_colours_of_their_cells_in_any_dimension(run: Run, deep_run: Run) -> None:
    for each in (run, deep_run):
        view = explored.view_of(each, max(each.snapshots))
        states, cells = view.snapshot.states, view.snapshot.cells
        found = cells.indices(states.embeddings)
        axes = style.new_figure(3, 3).subplots()
        dots = maps.measure(axes, view, cells.counts, style.MEASURE)
        known = found >= 0
        assert known.mean() > 0.99  # but for those that half precision moves across a border
        np.testing.assert_array_equal(dots.get_array(), cells.counts[found[known]])
        away = np.abs(states.embeddings @ cells.plane - cells.centres[found])[known]
        assert away.max() <= cells.size / 2 + 0.05


def test_the_borders_of_cells_enclose_their_states(deep_run: Run) -> None:
    view = explored.view_of(deep_run, max(deep_run.snapshots))
    states, cells = view.snapshot.states, view.snapshot.cells
    axes = style.new_figure(3, 3).subplots()
    maps.measure(axes, view, cells.counts, style.MEASURE)
    (borders,) = [each for each in axes.collections if isinstance(each, PolyCollection)]
    points, found = view.projection(states.embeddings), cells.indices(states.embeddings)
    for point, cell in zip(points[:200], found[:200], strict=True):
        assert cell < 0 or borders.get_paths()[cell].contains_point(tuple(point), radius=0.1)


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


def settings(*names: str, drawn: int) -> list[Setting]:
    """The first few of them have been evaluated."""
    run = Run(Path("anywhere"))
    run.evaluations = {"success_rate": Series(np.array([0.0, 1e5]), np.array([0.0, 1.0]))}
    return [Setting(name, (run,) * (place < drawn)) for place, name in enumerate(names)]


def test_panels_share_a_legend_where_a_colour_is_one_curve_in_all_of_them() -> None:
    few = curves.panel_curves({"a": settings(*"xy", drawn=2), "b": settings(*"yz", drawn=1)})
    (legend,) = few.legends
    assert [text.get_text() for text in legend.get_texts()] == ["x (1 seed)", "y (1 seed)"]
    # Nine labels have too few colours, also while some of them are no curves yet.
    many = curves.panel_curves({each: settings(*"stuvwxyz*", drawn=2) for each in "ab"})
    assert not many.legends
    assert all(axes.get_legend() is not None for axes in many.axes)


def test_panels_without_curves_have_no_legend() -> None:
    figure = curves.panel_curves({each: settings(each, drawn=0) for each in "ab"})
    assert not figure.legends
    assert all(axes.get_legend() is None for axes in figure.axes)


def with_bonus(root: Path, method: str, seed: int, half_life: float) -> None:
    """A run whose intrinsic reward tells states apart less and less."""
    folder = fake_run(root, method=method, seed=seed, snapshots=0)
    lines = [json.loads(line) for line in folder.metrics_file.read_text().splitlines()]
    for line in lines[3:]:  # none before φ is learned
        line["intrinsic/variance"] = (1 + 0.1 * seed) * 0.5 ** (line["step"] / half_life)
    lines[5]["intrinsic/variance"] = 0.0
    folder.metrics_file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_the_variance_of_intrinsic_rewards_is_a_curve_per_method(tmp_path: Path) -> None:
    for seed in (0, 1):
        with_bonus(tmp_path, "h-sr", seed, half_life=2_000.0)
    with_bonus(tmp_path, "h-icm", 0, half_life=20_000.0)
    fake_run(tmp_path, method="lesson", snapshots=0)
    (axes,) = curves.intrinsic_variance(find_runs([tmp_path])).axes
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["h-icm (1 seed)", "h-sr (2 seeds)"]
    assert axes.get_yscale() == "log"
    assert axes.get_ylabel() == "variance of the intrinsic reward"
    icm, sr = (np.asarray(line.get_ydata()) for line in axes.lines)
    assert (sr > 0).all()
    assert sr[-1] / sr[0] == pytest.approx(0.5 ** ((60 - 4) * 500 / 2_000), rel=0.1)
    assert icm[-1] / icm[0] > 0.3


def test_without_intrinsic_rewards_there_is_no_such_figure(root: Path) -> None:
    with pytest.raises(NothingToDrawError, match="no run has an intrinsic reward"):
        curves.intrinsic_variance(find_runs([root]))


def test_arrows_show_how_phi_moved(run: Run) -> None:
    first, _, last = run.snapshots
    before, view = run.snapshot(first), explored.view_of(run, last)
    axes = style.new_figure(3, 3).subplots()
    maps.feature_change(axes, before, view)
    (arrows,) = [each for each in axes.collections if isinstance(each, Quiver)]
    observations = view.snapshot.states.observations[:200]
    moved = view.snapshot.embed(observations) - before.embed(observations)
    np.testing.assert_allclose(np.stack([arrows.U, arrows.V], -1), moved, rtol=1e-5)


@pytest.mark.parametrize("name", ["visits", "representation", "subgoals"])
def test_maps_of_a_run_without_measures(wide_run: Run, name: str) -> None:
    assert figures.RUN_FIGURES[name](wide_run).axes


@pytest.fixture
def short_run(tmp_path: Path) -> Run:
    """A run whose newest episodes ended before the second state that is kept of them."""
    folder = fake_run(tmp_path, snapshots=0)
    arrays = snapshot(np.random.default_rng(0), 1.0)
    ended = {"latest.lengths": np.full(10, 3, np.int32), "latest.segments": np.ones(10, np.int32)}
    for number in (1, 2, 3):
        write_arrays(folder, 10_000 * number, arrays | ended)
    return Run(folder.path)


@pytest.mark.parametrize("name", ["representation", "subgoals", "stages"])
def test_episodes_that_ended_at_once_are_dots(short_run: Run, name: str) -> None:
    figures.RUN_FIGURES[name](short_run).savefig(io.BytesIO(), dpi=40)


def test_episodes_that_ended_at_once_have_no_latent_trajectories(short_run: Run) -> None:
    with pytest.raises(NothingToDrawError, match="seed-0 are too short"):
        latent.latent_trajectories(short_run)


def test_before_the_first_evaluation_there_are_no_curves(tmp_path: Path) -> None:
    folder = fake_run(tmp_path, snapshots=0)
    folder.evaluations_file.unlink()
    with pytest.raises(NothingToDrawError, match="seed-0 has not been evaluated yet"):
        curves.run_curve(Run(folder.path))
    with pytest.raises(NothingToDrawError, match="no run has been evaluated yet"):
        curves.method_curves([Run(folder.path)])


def test_runs_of_two_folders_do_not_overwrite_each_other_s_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "RUN_FIGURES", {"curve": curves.run_curve})
    runs = [Run(fake_run(tmp_path / name, snapshots=0).path) for name in ("one", "other")]
    drawn = list(figures.draw_all(runs, tmp_path / "out", 1, lambda _: None))
    assert len(set(drawn)) == len(drawn)
    for folder in ("PointMaze-hess-seed-0", "PointMaze-hess-seed-0-2"):
        assert tmp_path / "out" / folder / "curve.png" in drawn


def test_the_walls_are_those_of_the_run_s_own_layout(tmp_path: Path) -> None:
    folder = fake_run(tmp_path, snapshots=0)
    usual = Run(folder.path).plan
    own_map = make_config("PointMaze", env={"layout": "#####\n#S.G#\n#####"}).env
    values = folder.config_values() | {"env": own_map}
    folder.config_file.write_text(json.dumps(values))
    own = Run(folder.path).plan
    assert usual is not None
    assert own is not None
    assert own.bounds != usual.bounds
    folder.config_file.write_text(json.dumps(values | {"env": 3}))
    with pytest.raises(HessError, match="env=3 is no list of arguments"):
        assert Run(folder.path).plan


def test_without_measures_there_is_no_figure_of_them(wide_run: Run) -> None:
    with pytest.raises(NothingToDrawError, match="measures neither novelty nor potential"):
        explored.measures(wide_run)


def test_latent_trajectories_run_from_start_to_end(wide_run: Run) -> None:
    figure = latent.latent_trajectories(wide_run)
    plane, space, bar = figure.axes
    assert [text.get_text() for text in bar.get_yticklabels()] == ["start", "end"]
    for axes in (plane, space):
        paths = [each for each in axes.collections if isinstance(each, LineCollection)]
        assert len(paths) == 5
        for path in paths:
            colours = to_rgba_array(path.get_colors())
            np.testing.assert_allclose(colours[-1, :3], style.start_to_end(np.ones(1))[0, :3])
    assert "latent in 5 dimensions" in figure.get_suptitle()


def test_two_dimensions_need_no_tsne(run: Run) -> None:
    with pytest.raises(NothingToDrawError, match="has 2 dimensions; `representation` shows it"):
        latent.latent_trajectories(run)


def test_the_default_needs_no_tsne(deep_run: Run) -> None:
    with pytest.raises(NothingToDrawError, match="3 dimensions; `representation` shows"):
        latent.latent_trajectories(deep_run)


def test_a_run_without_snapshots_says_so(root: Path) -> None:
    bare = Run(root / "PointMaze" / "hess" / "seed-1")
    with pytest.raises(NothingToDrawError, match="seed-1 has no snapshots yet"):
        explored.measures(bare)


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


def test_more_dimensions_are_projected_where_they_vary_most(wide_run: Run) -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(500, 5)) * (0.1, 5.0, 0.2, 2.0, 0.3)
    snapshot = wide_run.snapshot(max(wide_run.snapshots))
    states = dataclasses.replace(snapshot.states, embeddings=points)
    projection = Projection.of(dataclasses.replace(snapshot, states=states))
    directions = projection.directions
    spread = projection(points).std(0)
    assert spread == pytest.approx([5.0, 2.0], rel=0.15)
    np.testing.assert_allclose(projection(np.zeros(5)), [0, 0], atol=1e-9)
    np.testing.assert_allclose(directions.T @ directions, np.eye(2), atol=1e-9)
    assert (directions[np.abs(directions).argmax(0), (0, 1)] > 0).all()


def test_where_a_plane_is_explored_it_is_shown(deep_run: Run) -> None:
    snapshot = deep_run.snapshot(max(deep_run.snapshots))
    projection = Projection.of(snapshot)
    assert projection.title == "φ, d = 3, along its two explored directions"
    along = projection.directions.T @ snapshot.cells.plane
    np.testing.assert_allclose(np.abs(along), np.eye(2), atol=1e-6)


def test_of_three_explored_directions_the_first_two_are_shown(wide_run: Run) -> None:
    snapshot = wide_run.snapshot(max(wide_run.snapshots))
    plane = np.eye(5, 3)[::-1] * [1.0, 1.0, 0.3]
    cells = dataclasses.replace(snapshot.cells, plane=plane)
    projection = Projection.of(dataclasses.replace(snapshot, cells=cells))
    assert projection.title == "φ, d = 5, along its first two explored directions"
    np.testing.assert_array_equal(projection.directions, plane[:, :2])


def test_two_dimensions_stay_as_they_are(run: Run) -> None:
    snapshot = run.snapshot(max(run.snapshots))
    points, projection = snapshot.states.embeddings, Projection.of(snapshot)
    np.testing.assert_array_equal(projection(points), points)
    assert projection.title == "φ-space"
