"""What is shown: plain lines, or a table that is redrawn."""

from __future__ import annotations

import pytest

from hess.training.display import LiveDisplay, PlainDisplay

METRICS = {
    "train/recent_success": 0.25,
    "train/coverage": 0.5,
    "low/progress": 1.5,
    "exploration/probability": 0.35,
    "time/collection": 1.0,
    "time/low": 3.0,
}
EVALUATION = {"step": 25_000.0, "episodes": 10.0, "success_rate": 0.9}


def test_plain_lines_come_every_few_thousand_steps_and_at_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    display = PlainDisplay(steps=12_000)
    for step in range(500, 12_001, 500):
        display.update(step, METRICS)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == ["5,000/12,000", "10,000/12,000", "12,000/12,000"]
    assert "success 0.25  coverage 0.50  progress 1.50  p 0.35" in lines[0]
    assert "environment 25%, low level 75%" in lines[0]


def test_plain_evaluations_are_one_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    display = PlainDisplay(steps=100)
    display.evaluation(EVALUATION, seconds=2.0)
    display.progress("representation", 0.5)
    display.message("resumed at step 7")
    assert capsys.readouterr().out.splitlines() == [
        "evaluation at step 25,000: success rate 0.90 over 10 episodes",
        "resumed at step 7",
    ]


def test_the_live_table_shows_the_newest_values(capsys: pytest.CaptureFixture[str]) -> None:
    with LiveDisplay(steps=50_000, title="hess on PointMaze, seed 0 [old]") as display:
        display.message("resumed in runs/[old]/seed-0")
        display.update(500, METRICS)
        display.evaluation(EVALUATION, seconds=2.0)
        display.progress("representation", 0.5)
        display.update(1_000, METRICS | {"train/coverage": 0.625})
    shown = capsys.readouterr().out
    assert "evaluation at step 25,000: success rate 0.90" in shown
    assert "hess on PointMaze, seed 0 [old]" in shown
    assert "resumed in runs/[old]/seed-0" in shown
    assert "0.90 at step 25,000" in shown
    assert "share of the maze visited" in shown
    assert "0.625" in shown
