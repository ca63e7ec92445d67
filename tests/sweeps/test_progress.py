"""Estimates, and how sweeps are shown, from made-up progress."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from rich.console import Console
from rich.live import Live

from hess.envs import TASKS
from hess.runs.folder import RunFolder
from hess.sweeps.overview import LiveOverview, PlainOverview, failures, summary, table
from hess.sweeps.plan import planned_run, product
from hess.sweeps.progress import Overview, Progress, State, estimated_speed, seconds_left

RUN = planned_run("hess", "PointMaze", 0, {"steps": 1_000})


def test_costly_settings_are_slower() -> None:
    fast = planned_run("hess", "PointMaze", 0, {"low.updates_per_decision": 0.1}).config
    wide = planned_run("hess", "PointMaze", 0, {"low.hidden": (512, 512)}).config
    ant = planned_run("hess", "AntMaze", 0, {}).config
    speeds = [estimated_speed(config) for config in (fast, RUN.config, ant, wide)]
    assert speeds == sorted(speeds, reverse=True)
    assert 50 < estimated_speed(ant) < 2_000


def test_measured_runs_correct_the_estimates() -> None:
    ant, other = (planned_run("hess", task, 0, {"steps": 1_000}) for task in ("AntMaze", "AntPush"))
    unmeasured = Progress(ant, "queued")
    assert seconds_left([unmeasured]) == [1_000 / estimated_speed(ant.config)]
    measured = [
        Progress(run, "done", speed=speed) for run, speed in ((ant, 100.0), (ant, 120.0), (RUN, 50))
    ]
    queued = [Progress(run, "queued") for run in (ant, RUN, other)]
    *_, by_ant, by_point, by_other = seconds_left([*measured, *queued])
    assert by_ant == pytest.approx(1_000 / 110.0)
    assert by_point == pytest.approx(1_000 / 50.0)
    assert 1_000 / by_other <= 120.0 * estimated_speed(other.config) / estimated_speed(ant.config)


def overview(*states: State, slots: int = 1) -> Overview:
    plan = product(["hess"], ["PointMaze"], range(len(states)), {"steps": (1_000,)})
    step = {"done": 1_000, "queued": 0}
    runs = [
        Progress(run, state, step.get(state, 500), 0.25, 10.0, reason="ended by SIGKILL")
        for run, state in zip(plan, states, strict=True)
    ]
    return Overview(tuple(runs), slots)


def test_what_is_left_is_shared_by_the_slots_but_a_run_is_not() -> None:
    assert overview("done", "failed").seconds_left == 0.0
    assert overview("queued", "running").seconds_left == pytest.approx(150.0)
    assert overview("queued", "running", "stopped", slots=2).seconds_left == pytest.approx(100.0)
    assert summary(overview("done", "queued", "failed")) == (
        "1 done, 1 failed, 1 queued of 3 runs; about 1 min left"
    )


def test_a_table_has_every_run_and_failures_their_last_lines(tmp_path: Path) -> None:
    seen = overview("done", "failed")
    failed = seen.runs[1].run.path(tmp_path)
    failed.mkdir(parents=True)
    RunFolder(failed).log_file.write_text("again\n" * 9 + "hess: the [simulator] is gone\n\n")
    console = Console(width=120, record=True)
    console.print(table(seen.runs, estimates=True))
    told = failures(seen, tmp_path)
    assert told is not None
    console.print(told)
    text = console.export_text()
    assert "PointMaze/hess/seed-0  done    1,000  1,000     0.25" in text
    assert "ended by SIGKILL" in text
    assert text.count("again") == 4
    assert "hess: the [simulator] is gone" in text
    assert failures(overview("done"), tmp_path) is None


def test_a_live_table_shows_failures_first(capsys: pytest.CaptureFixture[str]) -> None:
    done: list[State] = ["done"] * 40
    with Live(console=Console(), refresh_per_second=4) as inner:
        live = LiveOverview(inner)
        live.message("started [something]")
        live.show(overview(*done, "failed"))
    shown = capsys.readouterr().out
    assert "started [something]" in shown
    assert shown.index("failed") < shown.index("done")
    assert "… and 11 more" in shown


def test_plain_lines_are_sparse(capsys: pytest.CaptureFixture[str]) -> None:
    plain = PlainOverview()
    plain.show(overview("running"))
    assert capsys.readouterr().out == ""
    plain.message("started it")
    assert capsys.readouterr().out == "started it\n"


def test_plain_lines_show_what_is_running_once_a_minute(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("hess.sweeps.overview.time.monotonic", lambda: now[0])
    plain, seen = PlainOverview(), overview("running", "done")
    for now[0] in (159.0, 161.0, 162.0):
        plain.show(seen)
    first, running = capsys.readouterr().out.splitlines()
    assert first == summary(seen)
    assert running.startswith(f"  {seen.runs[0].run.key}: ")


def test_a_new_robot_is_estimated_like_other_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    ant = TASKS["AntMaze"]
    monkeypatch.setitem(TASKS, "AntMaze", dataclasses.replace(ant, robot="crab"))
    config = planned_run("hess", "AntMaze", 0, {}).config
    assert 50 < estimated_speed(config) < 2_000
