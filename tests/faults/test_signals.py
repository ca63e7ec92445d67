"""Ctrl-C, SIGTERM, both twice; two programs in one folder; what a killed one leaves locked."""

from __future__ import annotations

import os
import re
import shlex
import signal
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from hess.errors import HessError
from hess.runs.folder import RunFolder
from tests.faults.runs import (
    Outcome,
    command,
    environment,
    finish,
    outcome,
    path_of,
    start,
    stop_at,
    tiny_config,
    train,
)
from tests.faults.tiny_tasks import HORIZON

CONFIG = tiny_config()


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.faults)],
)
def test_a_signal_saves_and_prints_the_command_that_resumes(
    number: int, code: int, tmp_path: Path, cache: Path, undisturbed: Outcome
) -> None:
    process = Popen(
        [*command(CONFIG, tmp_path / "with space"), "--record.checkpoint-interval", "100000"],
        stdout=PIPE,
        stderr=PIPE,
        text=True,
        env=environment(cache) | {"HESS_TEST_SIGNAL": f"{number} {6 * HORIZON}"},
        cwd=cache,
    )
    output, errors = process.communicate()
    assert process.returncode == code, errors
    assert "again to leave at once" in errors
    assert f"stopped at step {6 * HORIZON}; everything is saved" in output
    found = re.search("resume with: (.*)", output)
    assert found is not None
    ended = finish(shlex.split(found[1]), cache)
    assert ended.code == 0, ended.errors
    assert f"resumed at step {6 * HORIZON}" in ended.output
    assert outcome(path_of(CONFIG, tmp_path / "with space")) == undisturbed


def test_a_second_signal_leaves_at_once_with_nothing_half_written(
    tmp_path: Path, undisturbed: Outcome
) -> None:
    with stop_at(8 * HORIZON, signal.SIGINT, signal.SIGTERM), pytest.raises(KeyboardInterrupt):
        train(CONFIG, tmp_path)
    assert not list(tmp_path.rglob("*.tmp"))
    assert train(CONFIG, tmp_path).result.finished
    assert outcome(path_of(CONFIG, tmp_path)) == undisturbed


def test_a_second_signal_while_saving_leaves_nothing_half_written(
    tmp_path: Path, undisturbed: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupt every write of a checkpoint in turn, when it is about to be complete."""
    replace, countdown = os.replace, 0

    def interrupted(source: str, target: Path) -> None:
        nonlocal countdown
        if "run/checkpoints" in str(target) or "run/replay" in str(target):
            countdown -= 1
            if countdown == 0:
                raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    for number in range(1, 10):  # the first three checkpoints: episodes, state, manifest
        countdown, runs = number, tmp_path / str(number)
        with pytest.raises(KeyboardInterrupt):
            train(CONFIG, runs)
        assert not list(runs.rglob("*.tmp"))
        assert train(CONFIG, runs).result.finished
        assert outcome(path_of(CONFIG, runs)) == undisturbed


def test_in_the_background_interrupts_are_ignored_and_kill_saves(
    tmp_path: Path, cache: Path, undisturbed: Outcome
) -> None:
    """As after `nohup hess train ... > log &` in a script."""
    runs, log = tmp_path / "runs", tmp_path / "log"
    ignoring = ["sh", "-c", 'trap "" INT HUP QUIT; exec "$@" > "$0" 2>&1', str(log)]
    signals = ",".join(map(str, (signal.SIGINT, signal.SIGHUP, signal.SIGINT, signal.SIGTERM)))
    process = Popen(
        [*ignoring, *command(CONFIG, runs)],
        env=environment(cache) | {"HESS_TEST_SIGNAL": f"{signals} {6 * HORIZON}"},
        cwd=cache,
    )
    assert process.wait() == 143
    first, *_ = lines = log.read_text().splitlines()
    assert first == f"to stop: `kill {process.pid}` saves a checkpoint"
    assert f"stopped at step {6 * HORIZON}; everything is saved" in lines
    assert log.read_text().count("again to leave at once") == 1
    assert not re.search(r"[^\x20-\x7eφ²µ\n]", log.read_text()), "something for a terminal"
    assert finish(command(CONFIG, runs), cache).code == 0
    assert outcome(path_of(CONFIG, runs)) == undisturbed


@pytest.mark.faults
def test_the_program_leaves_with_130_when_asked_twice(tmp_path: Path, cache: Path) -> None:
    process = Popen(
        command(CONFIG, tmp_path),
        stdout=PIPE,
        stderr=PIPE,
        text=True,
        env=environment(cache) | {"HESS_TEST_SIGNAL": f"2,2 {6 * HORIZON}"},
        cwd=cache,
    )
    _, errors = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in errors


def test_a_second_program_stops_and_a_killed_one_blocks_nobody(
    tmp_path: Path, cache: Path, undisturbed: Outcome
) -> None:
    path = path_of(CONFIG, tmp_path)
    first = start(command(CONFIG, tmp_path), cache)
    assert first.stdout is not None
    # Lines that were not flushed would come only at the end.
    assert f"`kill {first.pid}` saves a checkpoint" in first.stdout.readline()
    assert "evaluation at step 0" in first.stdout.readline()
    first.send_signal(signal.SIGSTOP)
    second = finish(command(CONFIG, tmp_path), cache)
    assert second.code == 2
    assert second.errors.startswith(f"hess: process {first.pid} on ")
    assert second.errors.endswith(f"is training in {str(path)!r}\n")
    first.kill()
    first.communicate()
    third = finish(command(CONFIG, tmp_path), cache)
    assert third.code == 0, third.errors
    assert outcome(path) == undisturbed


@pytest.mark.faults
def test_a_program_that_nobody_listens_to_goes_on(
    tmp_path: Path, cache: Path, undisturbed: Outcome
) -> None:
    process = start(command(CONFIG, tmp_path), cache)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait() == 0
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()
    assert outcome(path_of(CONFIG, tmp_path)) == undisturbed


def test_a_folder_can_be_locked_again_once_it_is_free(tmp_path: Path) -> None:
    first, second = RunFolder(tmp_path / "run"), RunFolder(tmp_path / "run")
    first.lock()
    with pytest.raises(HessError, match=f"process {os.getpid()} on .* is training in"):
        second.lock()
    first.unlock()
    second.lock()
    second.unlock()
