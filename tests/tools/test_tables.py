"""The tables of README and results/README."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from hess.analysis.recorded import RecordedSeed, read_curves, table_path, write_table
from hess.cli import main
from hess.errors import HessError
from tests.analysis.recorded import recorded
from tools.results.__main__ import Results
from tools.results.tables import results_table, update_tables

ROOT = Path(__file__).parents[2]


def lines_of(*curves: RecordedSeed) -> list[str]:
    return results_table(curves, "main").splitlines()


def test_a_row_by_hand() -> None:
    # The last four evaluations: 1, 1 and 0.5 each on average; a quarter of three is none.
    row = lines_of(
        recorded(0, 0, 0.9, 1, 1, 1, 1, minutes=10),
        recorded(1, 0, 0, 1, 1, 1, 1, minutes=20),
        recorded(2, 0, 0, 0, 0, 1, 1, minutes=33),
    )
    assert row[0] == (
        "| task | method | seeds | steps | final success | at the last step | IQM | steps to 0.9"
        " | minutes |"
    )
    # Student's t for 3 seeds: 4.303 * 0.2887 / sqrt(3) = 0.717, cut off at the bounds of a rate.
    assert row[2] == (
        "| AntMaze | hess | 3 | 500k | 0.83 [0.12, 1.00] | 0.83 | 0.83 [0.50, 1.00]"
        " | 200k [100k, 400k]; 3 of 3 reached it | 21 |"
    )
    assert len(row) == 3


def test_who_never_gets_there_counts() -> None:
    # Kaplan and Meier: of four two arrive, at 100k and 400k, and the share that has not is 0.5
    # from 400k on; the mean of those that arrived would say 250k.
    never = [recorded(seed, 0, 0, 0, 0, 0, 0) for seed in (2, 3)]
    early, late = recorded(0, 0, 1, 1, 1, 1, 1), recorded(1, 0, 0, 0, 0, 1, 1)
    assert "| 400k [100k, ∞]; 2 of 4 reached it |" in lines_of(early, late, *never)[2]
    assert "| not reached; 1 of 3 did |" in lines_of(early, *never)[2]
    assert "| not reached |" in lines_of(*never)[2]


def test_a_row_that_breaks_the_protocol_is_marked_and_says_why() -> None:
    row = lines_of(
        recorded(0, 0, 1, method="lesson"),
        recorded(0, 0, 1, dirty=True),
        recorded(1, 0, 1, steps=100_000, low__hindsight=0.9),
        recorded(0, 0, 1, method="sac", steps=600_000),
    )
    assert [line.split(" | ")[1] for line in row[2:5]] == ["lesson", "hess ¹", "sac ²"]
    assert "| 100k to 500k |" in row[3]
    assert row[5:] == [
        "",
        "- ¹ hess on AntMaze: changed checkout (seed 0); ended early, at 100,000 of 500,000 steps "
        "(seed 1); settings differ: low.hindsight.",
        "- ² sac on AntMaze: 600,000 steps instead of 500,000 (seed 0).",
    ]


def test_what_has_changed_since_is_a_note_that_rows_share() -> None:
    row = lines_of(
        recorded(0, 0, 1, low__hindsight=0.9),
        recorded(0, 0, 1, task="PointMaze", low__hindsight=0.9),
        recorded(0, 0, 1, task="AntPush"),
    )
    assert [line.split(" | ")[1] for line in row[2:5]] == ["hess ¹", "hess", "hess ¹"]
    assert row[5:] == ["", "- ¹ not today's default: low.hindsight=0.9 instead of 0.3."]


def test_minutes_are_shown_where_all_seeds_have_them() -> None:
    known, unknown = recorded(0, 0, 1, minutes=30), recorded(1, 0, 1)
    assert lines_of(known)[2].endswith("| 30 |")
    assert lines_of(known, unknown)[2].endswith("|  |")


def test_success_at_the_last_step_is_shown_where_all_seeds_have_it() -> None:
    known = dataclasses.replace(recorded(0, 0, 1, 1, 1, 1), success_at_end=(0, 0, 0.5, 0.5, 1))
    unknown = dataclasses.replace(recorded(1, 0, 1), success_at_end=())
    assert lines_of(known)[2].split(" | ")[4:6] == ["1.00", "0.50"]
    assert lines_of(known, unknown)[2].split(" | ")[5] == ""


def test_other_suites_and_none() -> None:
    other = dataclasses.replace(recorded(0, 0, 1), suite="other")
    assert results_table([other], "main") == "No finished runs are recorded yet."


def test_the_numbers_are_those_of_compare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = [recorded(seed, 0, 0.3 * seed, 0.9, 0.4 + 0.2 * seed) for seed in range(3)]
    write_table(table_path(tmp_path, "main", "hess", "AntMaze"), row)
    assert main(["compare", str(tmp_path), "--format", "markdown"]) == 0
    compared = capsys.readouterr().out.splitlines()[2].split(" | ")
    shown = lines_of(*row)[2].split(" | ")
    assert [shown[4], *shown[6:8]] == [*compared[3:5], compared[6].removesuffix(" |")]


def test_tables_are_written_between_the_markers(tmp_path: Path) -> None:
    results, readme = tmp_path / "results", tmp_path / "README.md"
    write_table(table_path(results, "main", "hess", "AntMaze"), [recorded(0, 0, 1, minutes=3)])
    readme.write_text("before\n<!-- results:start -->\nold\n<!-- results:end -->\nafter\n")
    update_tables(results, readme)
    text = readme.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "| AntMaze | hess | 1 |" in text
    assert "old" not in text
    page = (results / "README.md").read_text()
    assert "## main" in page
    assert "Minutes were measured on a processor, 1 of 2 cores." in page
    readme.write_text("no markers")
    with pytest.raises(HessError, match="lacks the markers"):
        Results(folder=results, readme=readme, page=tmp_path / "paper.md").run()
    readme.unlink()
    with pytest.raises(HessError, match="where the table goes"):
        Results(folder=results, readme=readme, page=tmp_path / "paper.md").run()
    assert not (tmp_path / "paper.md").exists()
    readme.write_text("no markers")
    with pytest.raises(HessError, match="lacks the markers"):
        update_tables(results, readme)


def test_the_committed_tables_are_those_of_the_committed_files() -> None:
    shown = [(ROOT / name).read_text() for name in ("README.md", "results/README.md")]
    table = results_table(read_curves(ROOT / "results"), "main")
    assert all(table in text for text in shown)
