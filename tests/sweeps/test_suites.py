"""Every figure and table of the paper: its runs exist, are valid, and are shared."""

from __future__ import annotations

import pytest

from hess.agents.methods import METHODS
from hess.analysis.figures import CURVE_FIGURES, METHOD_FIGURES, RUN_FIGURES
from hess.cli import main
from hess.envs import TASKS
from hess.errors import HessError
from hess.sweeps.drawings import CURVES, WITHOUT_RUNS
from hess.sweeps.reproduction import Request, panels, plan_of
from hess.sweeps.suites import SUITES, Suite, chosen_suites


@pytest.mark.parametrize("row", SUITES.values(), ids=lambda row: row.name)
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_every_suite_is_a_valid_plan(row: Suite, preset: str) -> None:
    shown = panels(row, Request(preset=preset))
    plan = plan_of(shown)
    assert len(shown) == len(row.studies) * len(row.tasks)
    assert {run.config.task for run in plan} <= set(TASKS)
    assert {run.config.method for run in plan} <= set(METHODS)
    assert {run.config.seed for run in plan} <= set(range(row.seeds))
    from_runs = {CURVES, *CURVE_FIGURES, *METHOD_FIGURES, *RUN_FIGURES}
    assert row.drawing in (from_runs if row.studies else WITHOUT_RUNS)


@pytest.mark.parametrize("row", SUITES.values(), ids=lambda row: row.name)
def test_every_suite_has_a_miniature(row: Suite) -> None:
    full, small = (panels(row, Request(seeds=1, scale=scale)) for scale in (1.0, 0.02))
    assert list(small) == list(full)
    for before, after in zip(full.values(), small.values(), strict=True):
        assert list(after) == list(before)
        for (long,), (short,) in zip(before.values(), after.values(), strict=True):
            assert short.config.steps == long.config.steps // 50


def test_figures_share_their_runs() -> None:
    everything = plan_of(*(panels(row, Request(seeds=5)) for row in SUITES.values()))
    alone = sum(len(plan_of(panels(row, Request(seeds=5)))) for row in SUITES.values())
    assert len({run.key for run in everything}) == len(everything) < alone
    example = plan_of(panels(SUITES["fig3"], Request()))
    assert set(example) <= set(plan_of(panels(SUITES["fig4"], Request())))


def test_curves_of_a_study_differ_in_its_field_alone() -> None:
    first = next(iter(panels(SUITES["fig9"], Request(seeds=1)).values()))
    weights = [run.config.exploration.potential_weight for (run,) in first.values()]
    assert list(first) == [f"α = {weight:g}" for weight in weights]
    assert len({run.config.exploration.extension for (run,) in first.values()}) == 1


def test_other_tasks_and_more_seeds() -> None:
    shown = panels(SUITES["fig9"], Request(seeds=2, tasks=("PointMaze", "AntMaze")))
    assert list(shown)[:2] == ["α on PointMaze", "α on AntMaze"]
    assert all(len(runs) == 2 for panel in shown.values() for runs in panel.values())


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "name what to reproduce: table1, fig3, fig4"),
        (["fig44"], "unknown suite 'fig44'; did you mean 'fig4'?"),
        (["fig16", "--tasks", "AntMase"], "did you mean 'AntMaze'?"),
        (["fig16", "--seeds", "0"], "seeds=0 is impossible"),
        (["fig16", "--scale", "0"], "scale=0 is impossible"),
        (["fig16", "--scale", "2"], "scale=2 is impossible"),
        (["fig16", "--smooth", "0"], "smooth=0 is impossible"),
        (["fig16", "--preset", "papre"], "unknown preset 'papre'; did you mean 'paper'?"),
    ],
)
def test_bad_input_is_a_sentence(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", *arguments]) == 2
    assert problem in capsys.readouterr().err


def test_a_suite_names_the_method_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(METHODS, "hess-importance-novelty")
    with pytest.raises(HessError, match="unknown method 'hess-importance-novelty'"):
        panels(SUITES["fig16"], Request())


def test_all_is_every_suite_once() -> None:
    assert [row.name for row in chosen_suites(("fig4", "all"))] == list(SUITES)
    assert [row.name for row in chosen_suites(("fig4", "fig3", "fig4"))] == ["fig4", "fig3"]


def test_the_list_says_what_everything_costs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--list"]) == 0
    title, *rows = capsys.readouterr().out.splitlines()
    assert title.split()[-4:] == ["runs", "to", "do", "core-hours"]
    assert [row.split()[0] for row in rows] == [*SUITES, "all"]
    hours = {row.split()[0]: float(row.split()[-1].replace(",", "")) for row in rows}
    assert hours["table1"] == 0
    assert 0 < hours["fig3"] < hours["fig16"] < hours["fig4"] < hours["all"]
    assert hours["all"] < sum(hours.values()) - hours["all"]
