"""`make results`: what is recorded of a run, and every run that is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hess import machine
from hess.analysis.recorded import read_curves, table_path, write_table
from hess.api import make_config
from hess.config.budgets import BUDGETS
from hess.errors import HessError
from hess.files import read_json
from hess.runs.folder import RunFolder
from tests.analysis.recorded import make_run, recorded
from tools.results.__main__ import main
from tools.results.recording import record_runs

BUDGET = BUDGETS["PointMaze"]


def trained(folder: Path, seed: int = 0, rate: float = 1.0, **fields: Any) -> Path:
    dirty = fields.pop("dirty", False)
    config = make_config("PointMaze", seed=seed, **{"steps": BUDGET, **fields})
    return make_run(folder, config, [0.0, rate / 2, rate], dirty=dirty)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"


def seeds_of(results: Path) -> dict[int, float]:
    return {curve.seed: curve.success[-1] for curve in read_curves(results)}


def test_a_recorded_run_has_what_it_takes_to_run_it_again(tmp_path: Path, results: Path) -> None:
    run = trained(tmp_path / "run", seed=3)
    table = results / "main/hess/PointMaze.csv"
    assert record_runs([run], results, "main") == {table: [3]}
    assert table.read_text().splitlines()[2] == "75000,3,0.5,0.25,0.125"
    about = read_json(table.with_suffix(".json"))["3"]
    assert about["command"] == f"hess train PointMaze --seed 3 --steps {BUDGET}"
    assert about["config"]["low"] == read_json(run / "config.json")["low"]
    assert about["dirty"] is False
    assert about["minutes"] == 1.0  # three rounds of 20 s: collecting went on beside learning
    assert str(tmp_path) not in table.with_suffix(".json").read_text()


def test_seeds_are_added_and_the_same_run_again_changes_nothing(
    tmp_path: Path, results: Path
) -> None:
    runs = [trained(tmp_path / str(seed), seed, 0.2 * seed) for seed in (2, 0, 1)]
    record_runs(runs[:2], results, "main")
    record_runs(runs, results, "main")
    assert seeds_of(results) == {0: 0.0, 1: 0.2, 2: 0.4}


def test_a_row_is_replaced_as_a_whole(tmp_path: Path, results: Path) -> None:
    old = [trained(tmp_path / f"old-{seed}", seed, 0.5) for seed in range(3)]
    other = make_run(tmp_path / "sac", make_config("PointMaze", "sac", steps=BUDGET), [0.0, 0.1])
    record_runs([*old, other], results, "main")
    new = [trained(tmp_path / f"new-{s}", s, 1.0, low__hindsight=0.7) for s in (0, 4)]
    record_runs(new, results, "main", replace=True)
    rows = {(each.method, each.seed): each.success[-1] for each in read_curves(results)}
    assert rows == {("hess", 0): 1.0, ("hess", 4): 1.0, ("sac", 0): 0.1}


def test_a_task_of_somebody_else_has_the_steps_of_its_first_seed(
    tmp_path: Path, results: Path
) -> None:
    def pendulum(seed: int, steps: int) -> Path:
        config = make_config("Pendulum-v1", "sac", seed=seed, steps=steps, success="reward>=-1")
        return make_run(tmp_path / str(seed), config, [0.0, 1.0])

    record_runs([pendulum(0, 900)], results, "main")
    with pytest.raises(HessError, match="steps=800 instead of 900"):
        record_runs([pendulum(1, 800)], results, "main")


# --- refusals, as a user meets them -----------------------------------------------------------


def refused(capsys: pytest.CaptureFixture[str], results: Path, *arguments: Path | str) -> str:
    """The one sentence on stderr; nothing is written."""
    readme = results.parent / "README.md"
    readme.write_text("<!-- results:start -->\n<!-- results:end -->\n")
    before = {path: path.read_bytes() for path in results.rglob("*") if path.is_file()}
    flags = ["--folder", str(results), "--readme", str(readme)]
    assert main([*map(str, arguments), *flags]) == 2
    assert {path: path.read_bytes() for path in results.rglob("*") if path.is_file()} == before
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"dirty": True}, "changed checkout"),
        ({"dirty": None}, "unknown checkout"),
        ({"steps": 100_000}, "ended early, at 100,000 of 150,000 steps"),
        ({"steps": 200_000}, "200,000 steps instead of 150,000"),
        ({"evaluation__episodes": 3}, "evaluated with 3 episodes every 25,000 steps instead of"),
        ({"evaluation__interval": 50_000}, "evaluated with 10 episodes every 50,000 steps instead"),
    ],
)
def test_a_run_that_breaks_the_protocol_is_refused(
    fields: dict[str, Any],
    problem: str,
    tmp_path: Path,
    results: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    good, bad = trained(tmp_path / "good"), trained(tmp_path / "bad", 1, **fields)
    for flags in ([], ["--replace"]):
        said = refused(capsys, results, good, bad, *flags)
        assert f"cannot record {str(bad)!r}: {problem}" in said


def test_a_run_that_began_in_a_changed_checkout_is_refused(
    tmp_path: Path,
    results: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = trained(tmp_path / "run", dirty=True)
    monkeypatch.setattr(machine, "describe", lambda: {"commit": "b", "dirty": False})
    RunFolder(run).write_metadata(resumed=True)
    RunFolder(run).write_metadata(resumed=True)
    earlier = RunFolder(run).read_metadata()["earlier"]
    assert [each["dirty"] for each in earlier] == [True]
    assert "changed checkout" in refused(capsys, results, run)
    RunFolder(run).write_metadata()  # started over
    assert RunFolder(run).read_metadata()["earlier"] == []


def test_a_damaged_metadata_file_leaves_the_checkout_unknown(tmp_path: Path) -> None:
    folder = RunFolder(trained(tmp_path / "run"))
    folder.metadata_file.write_text("{")
    folder.write_metadata(resumed=True)
    assert folder.read_metadata()["earlier"] == [{"commit": None, "dirty": None}]


def test_an_unfinished_run_is_refused(
    tmp_path: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = trained(tmp_path / "run")
    rows = RunFolder(run).evaluations_file
    rows.write_text("\n".join(rows.read_text().splitlines()[:-1]) + "\n")
    assert "ended early, at 75,000 of 150,000 steps" in refused(capsys, results, run)


def test_other_settings_than_the_recorded_ones_are_refused(
    tmp_path: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record_runs([trained(tmp_path / "a", 0)], results, "main")
    other = trained(tmp_path / "b", 1, low__hindsight=0.9, high__hindsight=0.1)
    said = refused(capsys, results, other)
    assert "seed 1 of hess on PointMaze has other settings than seed 0: " in said
    assert "low.hindsight=0.9 instead of " in said
    assert "high.hindsight=0.1 instead of " in said
    assert "--replace" in said


def test_seeds_of_a_new_row_have_to_agree_too(
    tmp_path: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [trained(tmp_path / "a", 0), trained(tmp_path / "b", 1, low__hindsight=0.9)]
    assert "low.hindsight=0.9 instead of" in refused(capsys, results, *runs, "--replace")


def test_a_recorded_seed_is_not_replaced_alone(
    tmp_path: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record_runs([trained(tmp_path / "a", 0, 0.4)], results, "main")
    again = trained(tmp_path / "b", 0, 1.0)
    said = refused(capsys, results, again)
    assert "seed 0 of hess on PointMaze is recorded already; --replace" in said


def test_a_row_that_breaks_the_protocol_gets_no_further_seeds(
    tmp_path: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = recorded(0, 0.0, 1.0, task="PointMaze", dirty=True)
    write_table(table_path(results, "main", "hess", "PointMaze"), [before])
    said = refused(capsys, results, trained(tmp_path / "run", 1))
    assert "the recorded row of hess on PointMaze breaks the protocol: changed checkout" in said
    record_runs([trained(tmp_path / "again", 1)], results, "main", replace=True)
    assert seeds_of(results) == {1: 1.0}


def test_values_of_a_field_that_a_suite_varies_have_rows_of_their_own(
    tmp_path: Path, results: Path
) -> None:
    varied = ("capacity", "representation.interval")
    runs = [trained(tmp_path / str(n), 0, representation__interval=n) for n in (50, 150)]
    record_runs(runs, results, "fig14", varied)
    names = [f"hess,capacity=1000000,representation.interval={n}" for n in (150, 50)]
    assert [curve.method for curve in read_curves(results)] == names


def test_how_an_environment_is_taken_is_part_of_the_name_of_a_row(
    tmp_path: Path, results: Path
) -> None:
    plain, other = trained(tmp_path / "plain"), trained(tmp_path / "other", action_share=0.1)
    record_runs([plain, other], results, "main")
    names = [curve.task for curve in read_curves(results)]
    assert sorted(names) == ["PointMaze", "PointMaze,action_share=0.1"]


def test_one_seed_twice_is_refused(
    tmp_path: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [trained(tmp_path / "a", 0, 0.4), trained(tmp_path / "b", 0, 1.0)]
    for flags in ([], ["--replace"]):
        said = refused(capsys, results, *runs, *flags)
        assert "seed 0 of hess on PointMaze is given twice" in said


def test_no_run_folder_is_a_sentence(
    tmp_path: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "is not a run folder" in refused(capsys, results, tmp_path)


def test_the_command_records_and_renews_the_tables(
    tmp_path: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("<!-- results:start -->\n<!-- results:end -->\n")
    runs = [str(trained(tmp_path / str(seed), seed)) for seed in range(2)]
    flags = ["--folder", str(results), "--readme", str(readme)]
    flags += ["--page", str(tmp_path / "docs/paper.md")]
    assert main([*runs, *flags]) == 0
    printed = capsys.readouterr().out
    assert f"recorded seeds 0, 1 in {results / 'main/hess/PointMaze.csv'}" in printed
    assert "| PointMaze | hess | 2 | 150k | 0.50 [0.50, 0.50] |" in readme.read_text()
    assert "(docs/images/paper/fig4.png)" in readme.read_text()
    assert "`main/hess/PointMaze (seeds 0, 1 of " in (tmp_path / "docs/paper.md").read_text()
