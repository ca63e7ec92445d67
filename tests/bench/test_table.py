"""Rows, goals, medians and the report."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from hess.bench import table
from hess.bench.measuring import FULL, QUICK, BenchRow, Goal, compared, in_turns
from hess.bench.table import FORMAT, PARTS, BenchTable, Part
from hess.cli import main
from hess.errors import HessError

FAST = BenchRow(
    "sac", "fast", 2.0, "ms", 1.8, "limit", 0.9, "reference / measured", Goal("at least", 0.75)
)
BIG = BenchRow("memory", "big", 30.0, "MB", goal=Goal("at most", 20.0, of="measured"))
PLAIN = BenchRow("acting", "plain", 30.0, "µs")


@pytest.mark.parametrize(("row", "met"), [(FAST, True), (BIG, False), (PLAIN, None)])
def test_a_row_knows_whether_its_goal_is_met(row: BenchRow, met: bool | None) -> None:
    assert row.met is met


def test_turns_alternate_in_who_goes_first() -> None:
    order: list[str] = []

    def note(name: str) -> float:
        order.append(name)
        return float(len(order))

    first, second = in_turns(lambda: note("a"), lambda: note("b"), repetitions=4)
    assert order == ["a", "b", "b", "a", "a", "b", "b", "a"]
    assert first == [1.0, 4.0, 5.0, 8.0]
    assert second == [2.0, 3.0, 6.0, 7.0]


def test_a_slow_moment_does_not_change_the_ratio() -> None:
    turns = [2.0, 20.0, 2.0, 9.0], [1.0, 10.0, 1.0, 1.0]
    assert compared("sac", "fast", "ms", turns, "limit").ratio == 2.0
    assert compared("sac", "fast", "ms", turns, "limit", times_faster=True).ratio == 0.5


def test_the_file_holds_all_that_was_measured(tmp_path: Path) -> None:
    report = BenchTable(QUICK, [0, 1], tmp_path / "new" / "results.json")
    report.add([FAST, BIG])
    report.skip("training: needs 2 cores")
    written = json.loads((tmp_path / "new" / "results.json").read_text())
    assert written["format"] == FORMAT
    assert written["quick"] is True
    assert written["cores"] == [0, 1]
    assert written["skipped"] == ["training: needs 2 cores"]
    assert written["rows"] == [dataclasses.asdict(FAST) | {"met": True}, BIG.to_json()]
    assert [row["met"] for row in written["rows"]] == [True, False]
    assert {"cpu", "packages", "commit", "cores"} <= written["machine"].keys()


def test_the_table_shows_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    report = BenchTable(FULL, [0])
    report.add([FAST, BIG, PLAIN])
    report.show()
    shown = capsys.readouterr().out
    for text in ("fast", "2.00 ms", "1.80 ms", "limit", "0.90", "≥ 0.75", "yes", "≤ 20 MB", "no"):
        assert text in shown
    assert "1 of 2 goals met" in shown


def test_an_unwritable_file_is_refused_before_measuring(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for bad in (tmp_path, tmp_path / "file" / "results.json"):
        with pytest.raises(HessError, match="cannot write"):
            BenchTable(QUICK, [0], bad)


def test_parts_are_measured_or_say_why_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = (
        Part("sac", "one", 1, lambda size, cores: [FAST]),
        Part("sac", "two", 2, lambda size, cores: [FAST]),
        Part("memory", "big", 1, lambda size, cores: [BIG], lambda: "no memory"),
        Part("acting", "plain", 1, lambda size, cores: [PLAIN]),
    )
    monkeypatch.setattr(table, "PARTS", parts)
    report = BenchTable(QUICK, [0])
    report.measure(["sac", "memory"])
    assert report.rows == [FAST]
    report.show()
    assert capsys.readouterr().err.splitlines()[-2:] == [
        "skipped two: needs 2 cores, not 1",
        "skipped big: no memory",
    ]


def test_the_command_offers_every_group(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bench", "--help"])
    groups = dict.fromkeys(part.group for part in PARTS)
    assert ",".join(groups) in "".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("flags", [["--only", "nothing"], ["--cores", "123456"]])
def test_bad_flags_are_one_sentence(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *flags]) == 2
    assert capsys.readouterr().err.count("\n") == 1
