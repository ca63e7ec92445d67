"""Miniatures of the paper's figures, trained for real or made up, end in pictures."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from hess.cli import main
from hess.cli.reproduce import Reproduce
from hess.cli.sweep import ManyRuns
from hess.config import Config
from hess.runs.run import Run, find_runs
from hess.sweeps.drawings import Material, draw, trained_panels
from hess.sweeps.plan import Plan
from hess.sweeps.reproduction import Request, panels, plan_of
from hess.sweeps.suites import SUITES, Suite
from tests.analysis.fakes import fake_run

PNG = b"\x89PNG"
TINY = ["--tasks", "PointMaze", "--seeds", "1", "--scale", "0.004"]


@pytest.mark.slow
def test_two_miniatures_share_a_run_and_end_in_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["reproduce", "fig3", "fig17", *TINY, "--runs", str(tmp_path / "runs")]
    command += ["--out", str(tmp_path / "figures")]
    assert main(command) == 0, capsys.readouterr().out
    printed = capsys.readouterr().out
    assert "2 done of 2 runs" in printed
    for name in ("fig3.png", "fig3.pdf", "fig17.png", "fig17.pdf", "fig17.md"):
        assert str(tmp_path / "figures" / name) in printed
    assert (tmp_path / "figures/fig3.png").read_bytes().startswith(PNG)
    assert (tmp_path / "figures/fig17.png").read_bytes().startswith(PNG)
    table = (tmp_path / "figures/fig17.md").read_text()
    assert "| PointMaze | hess-continuous-stability | 1 |" in table
    runs = find_runs([tmp_path / "runs-scale-0.004"])
    assert sorted(run.config.method for run in runs) == ["hess", "hess-continuous-stability"]
    assert all(len(run.evaluations["success_rate"].steps) > 2 for run in runs)
    assert main([*command, "--dry-run"]) == 0
    assert "0 of 2 runs to do" in capsys.readouterr().out


def test_miniatures_lie_beside_the_folder_of_runs() -> None:
    for runs in (Path(), Path(".."), Path("runs")):
        mine = Reproduce(runs=runs, scale=0.5)._where_runs_are().runs.resolve()
        assert mine == runs.resolve().with_name(f"{runs.resolve().name}-scale-0.5")


# --- pictures of made-up runs -------------------------------------------------------------------

MADE_UP = Request(seeds=1, tasks=("PointMaze",), scale=0.2)  # 30 000 steps


def material(row: Suite, folder: Path, snapshots: int = 4) -> Material:
    """A suite's runs as if they had been trained."""
    shown = panels(row, MADE_UP)
    make_up(plan_of(shown), folder, snapshots)
    return Material(row, MADE_UP.tasks, trained_panels(shown, folder), smooth=3)


def make_up(plan: Plan, folder: Path, snapshots: int) -> None:
    for number, run in enumerate(plan):
        made = fake_run(folder / f"made-{number}", method=run.config.method, snapshots=snapshots)
        run.path(folder).parent.mkdir(parents=True, exist_ok=True)
        made.path.rename(run.path(folder))


def test_the_command_draws_what_has_been_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def pretend(many: ManyRuns, plan: Plan) -> int:
        make_up(plan, many.runs, snapshots=1)
        return 0

    monkeypatch.setattr(ManyRuns, "carry_out", pretend)
    flags = [*TINY, "--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "figures")]
    assert main(["reproduce", "fig3", "fig17", *flags]) == 0
    names = ["fig3.png", "fig3.pdf", "fig17.png", "fig17.pdf", "fig17.md"]
    assert capsys.readouterr().out.splitlines() == [str(tmp_path / "figures" / n) for n in names]
    assert (tmp_path / "figures/fig3.png").read_bytes().startswith(PNG)
    assert (
        "| PointMaze | hess-continuous-stability | 1 |"
        in (tmp_path / "figures/fig17.md").read_text()
    )


@pytest.mark.parametrize("name", ["fig4", "fig9"])
def test_curves_come_with_their_table(name: str, tmp_path: Path) -> None:
    made = material(SUITES[name], tmp_path / "runs", snapshots=0)
    picture, _, table = draw(made, tmp_path / "figures")
    assert picture.read_bytes().startswith(PNG)
    text = table.read_text()
    for title, panel in made.panels.items():
        for setting in panel:
            assert f"| {title} | {setting.label} | 1 |" in text


@pytest.mark.parametrize("name", ["fig6", "fig8"])
def test_maps_are_drawn(name: str, tmp_path: Path) -> None:
    picture, _ = draw(material(SUITES[name], tmp_path / "runs"), tmp_path / "figures")
    assert picture == tmp_path / f"figures/{name}.png"
    assert picture.read_bytes().startswith(PNG)


def test_maps_show_the_moment_that_the_paper_shows(tmp_path: Path) -> None:
    fake_run(tmp_path, snapshots=6)
    run = Run(tmp_path / "PointMaze/hess/seed-0")
    assert list(run.snapshots) == [5_000, 10_000, 15_000, 20_000, 25_000, 30_000]
    assert list(run.until(14_000).snapshots) == [5_000, 10_000, 15_000]
    assert list(run.until(0).snapshots) == [5_000]
    made = material(SUITES["fig8"], tmp_path / "runs")
    (panel,) = made.panels.values()
    # Half of 30 000 steps: the second of four snapshots.
    assert [list(run.snapshots) for run in made.pictured(panel)] == [[7_500, 15_000]] * 3


def test_a_figure_per_task_where_there_are_several(tmp_path: Path) -> None:
    made = material(SUITES["fig3"], tmp_path / "runs")
    (panel,) = made.panels.values()
    twice = dataclasses.replace(made, panels=made.panels | {"hess/Other": panel})
    names = {path.name for path in draw(twice, tmp_path / "figures") if path.suffix == ".png"}
    assert names == {"fig3-PointMaze.png", "fig3-hess-Other.png"}


def test_the_table_of_hyper_parameters(tmp_path: Path) -> None:
    assert main(["reproduce", "table1", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "table1.md").read_text()
    default = Config().exploration.potential_weight
    values = f"0.03 | {default:g} | 0.003, 0.01, 0.03, 0.1, 0.3"
    assert f"| scaling factor α | `exploration.potential_weight` | {values} |" in text


@pytest.mark.usefixtures("rendering")
def test_pictures_of_the_tasks_need_no_runs(tmp_path: Path) -> None:
    assert main(["reproduce", "fig5", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "fig5.png").read_bytes().startswith(PNG)


def test_every_drawing_that_has_runs_is_tried_here_or_where_it_is_made() -> None:
    elsewhere = {"skills", "latent", "intrinsic-variance", "task", "tasks", "hyper-parameters"}
    here = {"curves", "measures", "representation", "subgoals"}
    assert {row.drawing for row in SUITES.values()} == here | elsewhere
