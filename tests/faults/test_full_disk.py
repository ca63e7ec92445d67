"""A disk that fills up, a folder that may not be written: one sentence, and nothing is lost."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hess.errors import HessError
from tests.faults.runs import Outcome, command, finish, outcome, path_of, tiny_config, train

CONFIG = tiny_config()
PAGE = 4096


# --- ENOSPC: a real file system of a few pages ----------------------------------------------


@contextmanager
def small_disk(folder: Path, pages: int) -> Iterator[Path]:
    folder.mkdir()
    options = f"size={pages * PAGE},nr_inodes=200"
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "hess-test", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"cannot mount a small file system here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def remount(folder: Path, option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", str(folder)], check=True)


def fills_up(folder: Path, pages: int, expected: Outcome) -> bool:
    """Train on a disk of so many pages; once there is space, the run has to end as it should."""
    with small_disk(folder, pages) as disk:
        try:
            train(CONFIG, disk)
            full = False
        except HessError as error:
            full = str(error).endswith("No space left on device") and "\n" not in str(error)
            assert full, error  # noqa: PT017 (both ways of ending are fine)
            assert not list(disk.rglob("*.tmp"))
            remount(disk, f"size={2000 * PAGE}")
            train(CONFIG, disk)
        assert outcome(path_of(CONFIG, disk)) == expected
    return full


@pytest.mark.parametrize("pages", [1, 3, 7, 16])
def test_a_full_disk_stops_the_run_with_a_sentence(
    pages: int, tmp_path: Path, undisturbed: Outcome
) -> None:
    assert fills_up(tmp_path / "disk", pages, undisturbed)


@pytest.mark.faults
def test_a_disk_may_fill_up_at_any_write(tmp_path: Path, undisturbed: Outcome) -> None:
    pages = 1
    while fills_up(tmp_path / str(pages), pages, undisturbed):
        pages += 1
    print(f"a run needs {pages} pages; it was stopped at every size below")
    assert pages > 20


@pytest.mark.faults
def test_the_program_says_it_in_one_line(tmp_path: Path, cache: Path) -> None:
    with small_disk(tmp_path / "disk", 6) as disk:
        ended = finish(command(CONFIG, disk), cache)
        assert ended.code == 2
        assert ended.errors.startswith("hess: cannot write ")
        assert ended.errors.endswith("No space left on device\n")
        assert ended.errors.count("\n") == 1


def test_a_disk_that_turned_read_only_stops_the_run(tmp_path: Path, undisturbed: Outcome) -> None:
    with small_disk(tmp_path / "disk", 2000) as disk:
        assert train(CONFIG, disk).result.finished
        remount(disk, "ro")
        with pytest.raises(HessError, match=r"cannot write .*: Read-only file system"):
            train(tiny_config(steps=CONFIG.steps + 12), disk)
        remount(disk, "rw")
        assert outcome(path_of(CONFIG, disk)) == undisturbed


# --- EACCES: Python tells an audit hook before it touches a file ----------------------------

_CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "os.chmod")


class Refusal:
    """Refuses one change of a file below a folder; which one, `countdown` says."""

    def __init__(self) -> None:
        self.folder: str | None = None
        self.countdown = 0
        self.refused = ""

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.folder is None or not arguments:
            return
        changes = event in _CHANGES or (event == "open" and _writes(arguments[2]))
        if changes and os.fsdecode(str(arguments[0])).startswith(self.folder):
            self.countdown -= 1
            if self.countdown == 0:
                self.refused = f"{event} {arguments[0]}"
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _writes(flags: Any) -> bool:
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


REFUSAL = Refusal()
sys.addaudithook(REFUSAL)  # for good: a hook cannot be removed, only told to keep still


@contextmanager
def refused(folder: Path, number: int) -> Iterator[None]:
    REFUSAL.folder, REFUSAL.countdown, REFUSAL.refused = str(folder), number, ""
    try:
        yield
    finally:
        REFUSAL.folder = None


def is_refused(runs: Path, number: int, expected: Outcome) -> bool:
    """Refuse the n-th change; the run stops with a sentence or goes on, and ends as it should."""
    stopped = ""
    with refused(runs, number):
        try:
            train(CONFIG, runs)
        except HessError as error:
            stopped = str(error)
    harmless = ("os.remove", "os.rmdir", "")  # what is not needed any more may also stay
    assert stopped or REFUSAL.refused.partition(" ")[0] in harmless, REFUSAL.refused
    assert not stopped or stopped.endswith("Permission denied"), stopped
    if stopped:
        assert train(CONFIG, runs).result.finished
    assert outcome(path_of(CONFIG, runs)) == expected
    return bool(REFUSAL.refused)


def test_a_write_that_is_refused_stops_the_run_with_a_sentence(
    tmp_path: Path, undisturbed: Outcome
) -> None:
    for number in range(1, 160, 13):
        is_refused(tmp_path / str(number), number, undisturbed)


@pytest.mark.faults
def test_any_write_may_be_refused(tmp_path: Path, undisturbed: Outcome) -> None:
    number = 1
    while is_refused(tmp_path / str(number), number, undisturbed):
        number += 1
    print(f"a run makes {number - 1} changes to files; each was refused once")
    assert number > 100


@pytest.mark.parametrize("file", ["checkpoints", "replay"])
def test_what_may_not_be_read_is_not_taken_for_damage(
    file: str, half: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = path_of(CONFIG, half)
    read = os.open

    def refuse(name: Any, *arguments: Any, **more: Any) -> int:
        if f"/{file}/" in str(name) and str(name).endswith("safetensors"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return read(name, *arguments, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(HessError, match=r"cannot read '.*safetensors': Permission denied"):
            train(CONFIG, half)
    assert not list(path.rglob("damaged*"))
    assert train(CONFIG, half).result.finished
