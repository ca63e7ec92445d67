"""Sweeps on the local pool: real runs, some of which are killed, stopped or broken."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hess import runtime
from hess.cli import main
from hess.errors import HessError
from hess.files import read_sealed, write_sealed
from hess.runs.folder import RunFolder
from hess.sweeps.local import LocalPool
from hess.sweeps.runner import SweepFolder
from hess.sweeps.worker import Job, launch, problem_of
from tests.faults.runs import Outcome
from tests.faults.tiny_tasks import HORIZON
from tests.sweeps.gated_tasks import await_text
from tests.sweeps.sweeps import STEPS, Gate, command, outcomes, tiny_plan

Undisturbed = tuple[Path, dict[str, Outcome]]
FIRST, SECOND = (run.key for run in tiny_plan())


@pytest.fixture
def finished(undisturbed: Undisturbed, tmp_path: Path) -> Path:
    """A finished sweep to do as one likes with."""
    shutil.copytree(undisturbed[0], tmp_path / "finished")
    return tmp_path / "finished"


# --- going on -----------------------------------------------------------------------------------


def test_a_finished_sweep_starts_nothing(
    undisturbed: Undisturbed, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(undisturbed[0])) == 0
    assert capsys.readouterr().out == "2 done of 2 runs\n"


@pytest.mark.slow
def test_more_seeds_just_add_runs(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = outcomes(finished)
    assert main(command(finished, 3)) == 0
    told = capsys.readouterr().out
    third = tiny_plan(3)[2].key
    assert told.count("started") == 1
    assert f"started {third}\n" in told
    assert told.endswith(f"finished {third}\n3 done of 3 runs\n")
    assert outcomes(finished) == before


def test_a_killed_run_is_told_and_resumed(
    undisturbed: Undisturbed, gate: Gate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, seen = tmp_path / "runs", dict[str, object]()

    def look_and_kill(pid: int) -> None:
        folder = SweepFolder(runs)
        seen["state"] = next(note.state for note in folder.present_notes().values())
        with pytest.raises(HessError) as caught:
            folder.lock()
        seen["lock"] = str(caught.value)
        os.kill(pid, signal.SIGKILL)

    meeting = gate.meet(look_and_kill)
    assert main(command(runs)) == 1
    meeting.join()
    assert seen["state"] == "running"
    assert f"process {os.getpid()} on " in str(seen["lock"])
    assert "is sweeping in" in str(seen["lock"])
    told = capsys.readouterr().out
    assert "1 done, 1 failed of 2 runs" in told
    assert "failed runs" in told
    assert "ended by SIGKILL" in told

    assert main(["sweep", "status", str(runs)]) == 1
    assert "ended by SIGKILL" in capsys.readouterr().out
    assert main(command(runs)) == 0
    assert capsys.readouterr().out.endswith("2 done of 2 runs\n")
    assert outcomes(runs) == undisturbed[1]


@pytest.mark.faults
def test_a_stopped_sweep_says_how_to_go_on(
    undisturbed: Undisturbed,
    gate: Gate,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = tmp_path / "runs"
    monkeypatch.setattr(sys, "argv", ["hess", *command(runs, 1)])
    log = RunFolder(tiny_plan(1)[0].path(runs)).log_file

    def stop(_: int) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        await_text(log, "stopping when this round is learned")

    meeting = gate.meet(stop)
    assert main(command(runs, 1)) == 128 + signal.SIGTERM
    meeting.join()
    told = capsys.readouterr().out
    assert f"stopped {FIRST}" in told
    assert "1 stopped of 1 runs" in told
    assert f"sweep --runs {runs}" in told.split("resume with: ")[1]
    assert main(command(runs, 1)) == 0
    assert outcomes(runs, 1)[FIRST] == undisturbed[1][FIRST]


@pytest.mark.faults
def test_the_runs_of_a_killed_sweep_end_and_are_resumed(
    undisturbed: Undisturbed, gate: Gate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs"
    program = "import sys; from hess.cli import main; sys.exit(main(sys.argv[1:]))"
    sweep = subprocess.Popen(
        [sys.executable, "-c", program, *command(runs, 1)], stdout=subprocess.DEVNULL
    )
    gate.meet(lambda _: sweep.kill()).join()
    assert sweep.wait() == -signal.SIGKILL
    main(["sweep", "status", str(runs)])
    assert "1 stopped of 1 runs" in capsys.readouterr().out
    assert main(command(runs, 1)) == 0
    assert outcomes(runs, 1)[FIRST] == undisturbed[1][FIRST]


def test_failures_do_not_disappear(
    gate: Gate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (gate.folder / "broken").touch()
    assert main(command(tmp_path / "runs", 1)) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "1 failed of 1 runs" in told
    assert "exit code 2" in told
    assert "the simulator is gone" in told


def test_endings_are_told_in_words() -> None:
    assert problem_of(0) == ""
    assert problem_of(-9) == "ended by SIGKILL"
    assert problem_of(143) == "ended by SIGTERM"
    assert problem_of(2) == "exit code 2"


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HessError, match=r"cannot write '.*train.log': Not a directory"):
        launch(Job([], str(tmp_path / "file" / "run"), threads=1))


# --- looking --------------------------------------------------------------------------------------


def test_status_shows_every_run(
    undisturbed: Undisturbed, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", "status", str(undisturbed[0])]) == 0
    told = capsys.readouterr().out
    for key in (FIRST, SECOND):
        row = next(line.split() for line in told.splitlines() if line.startswith(key))
        assert row[1:4] == ["done", f"{STEPS}", f"{STEPS}"]
    assert told.endswith("2 done of 2 runs\n")


def test_a_dry_run_lists_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--tasks", "AntMaze", "PointMaze", "--seeds", "2", "--cores", "0", "--dry-run"]
    assert main(["sweep", "--runs", str(tmp_path / "runs"), *flags]) == 0
    told = capsys.readouterr().out
    assert told.count(" queued ") == 4
    assert "4 of 4 runs to do, about " in told
    assert "1 at a time here: about " in told
    assert not list(tmp_path.iterdir())


def test_a_dry_run_knows_what_is_done(
    undisturbed: Undisturbed, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(undisturbed[0], 3, "--dry-run")) == 0
    told = capsys.readouterr().out
    assert "1 of 3 runs to do" in told
    assert told.count(" done ") == 2


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--methods", "hes"], "unknown method 'hes'; did you mean 'hess'?"),
        (["--tasks", "Antmaze"], "unknown task 'Antmaze'; did you mean 'AntMaze'?"),
        (["--set", "low.hindsight=2"], "low.hindsight=2.0 is impossible"),
        (["--seeds", "0"], "the sweep is empty: no seeds given"),
        (["--methods"], "the sweep is empty: no methods given"),
        (["--cores-per-run", "0"], "0 cores per run are impossible"),
        (["--cores-per-run", "0", "--dry-run"], "0 cores per run are impossible"),
        (["--cores-per-run", "4000"], "4000 cores per run are impossible"),
        (["--cores-per-run", "4000", "--dry-run"], "4000 cores per run are impossible"),
        (["--cores", "4000"], "cannot run on cores: 4000"),
        (["--ray-address", "head:6379"], "--ray-address needs --ray"),
        (["--gpus-per-run", "0.5"], "--gpus-per-run needs --ray"),
        (["--ray", "--cores", "0"], "Ray chooses the cores itself"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(
    flags: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", "--runs", str(tmp_path / "runs"), *flags]) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1
    assert not (tmp_path / "runs" / "sweep.json").exists()


def error_of(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> str:
    assert main(arguments) == 2
    return capsys.readouterr().err


def test_a_folder_of_another_format_is_refused(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = read_sealed(finished / "sweep.json")
    write_sealed(finished / "sweep.json", values | {"format": 99, "hess": "9.0"})
    for arguments in (command(finished), ["sweep", "status", str(finished)]):
        error = error_of(capsys, arguments)
        assert "was written by hess 9.0 in format 99" in error


def test_another_config_and_fewer_steps_are_refused(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (finished / "sweep.json").unlink()
    shorter = [f"steps={5 * HORIZON}" if w.startswith("steps=") else w for w in command(finished)]
    error = error_of(capsys, shorter)
    assert f"has done {STEPS} steps already, steps={5 * HORIZON} asks for fewer" in error
    (finished / SECOND).rename(finished / SECOND.replace("seed-1", "seed-5"))
    error = error_of(capsys, command(finished, 6))
    assert "the run exists with another config (seed: 1 -> 5)" in error


def test_a_folder_without_a_sweep_has_no_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = error_of(capsys, ["sweep", "status", str(tmp_path)])
    assert "there is no sweep in" in error


def test_cores_are_given_out_in_groups(tmp_path: Path) -> None:
    cores = runtime.available_cores()
    assert LocalPool(tmp_path, cores, len(cores)).slots == 1
    assert LocalPool(tmp_path).slots == len(cores)
    assert LocalPool(tmp_path, [cores[0], cores[0]]).slots == 1
