"""Compiling, keeping and loading our matrix products, and machines where that fails."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import shlex
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hess import runtime
from hess.cli.doctor import check_matmuls
from hess.errors import HessError
from hess.native import library


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine on which nothing has been compiled yet."""
    for name in ("HESS_MATMUL", "HESS_PRODUCTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(library, "cache_folder", lambda: tmp_path)
    library.loaded.cache_clear()
    yield tmp_path
    library.loaded.cache_clear()


@pytest.fixture
def no_compiler(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(own_cache / "nothing"))


def needs_compiler() -> None:
    try:
        library.compile_command()
    except library.UnavailableError as reason:
        pytest.skip(f"{reason}; {library.ADVICE}")


def compiler(folder: Path, script: str) -> str:
    """A program that can be named by CXX."""
    path = folder / "compiler"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.fixture(scope="module")
def compiled() -> Path:
    """The library that other tests calculate with."""
    needs_compiler()
    return Path(library.build()._name)


@pytest.fixture
def quick_compiler(
    compiled: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler that always comes to the same result, for tests of what becomes of it."""
    script = (
        'case "$*" in *--version*) echo 1; exit;; esac\n'
        f'for target; do :; done; cp {shlex.quote(str(compiled))} "$target"'
    )
    path = compiler(tmp_path_factory.mktemp("bin"), script)
    monkeypatch.setenv("CXX", shlex.quote(path))


@pytest.mark.usefixtures("quick_compiler")
def test_they_are_compiled_once(own_cache: Path) -> None:
    library.build()
    (kept,) = own_cache.iterdir()
    before = kept.stat().st_mtime_ns
    library.build()
    assert [kept] == list(own_cache.iterdir())
    assert kept.stat().st_mtime_ns == before


@pytest.mark.usefixtures("quick_compiler")
def test_others_wait_for_the_one_that_compiles(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked, original = list[bool](), library._compile

    def noted(command: list[str], target: Path) -> Path:
        locked.append(is_locked(own_cache))
        return original(command, target)

    monkeypatch.setattr(library, "_compile", noted)
    library.build()
    assert locked == [True]
    assert not is_locked(own_cache)


def is_locked(folder: Path) -> bool:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


@pytest.mark.usefixtures("quick_compiler")
def test_a_damaged_library_is_compiled_anew(
    own_cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = own_cache / f"native-{library._digest(library.compile_command())}.so"
    kept.write_bytes(b"\x7fELF and then nothing")
    library.build()
    assert "compiled anew" in caplog.text
    assert kept.stat().st_size > 1000


def test_other_flags_are_another_library(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_compiler()
    command = library.compile_command()
    assert library._digest(command) != library._digest([*command, "-g"])


@pytest.mark.usefixtures("quick_compiler")
def test_a_folder_that_cannot_be_written_costs_only_time(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "cache_problem", lambda folder: "Read-only file system")
    library.build()
    assert list(own_cache.iterdir()) == []


def test_without_a_compiler_xla_multiplies_and_the_user_hears_of_it(
    no_compiler: None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert library.kind() == "xla"
    assert "no C++ compiler (c++, g++, clang++) on the PATH" in caplog.text
    assert "g++" in library.ADVICE


def test_a_compiler_that_fails_is_quoted_and_leaves_nothing(
    own_cache: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (
        'case "$*" in *--version*) echo 1;; *) echo "x.cc:1: error: too old" >&2; exit 1;; esac'
    )
    monkeypatch.setenv("CXX", compiler(tmp_path_factory.mktemp("bin"), script))
    with pytest.raises(library.UnavailableError, match="failed: x\\.cc:1: error: too old"):
        library.build()
    assert list(own_cache.iterdir()) == []


def test_a_disk_that_takes_nothing_is_named(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_compiler()

    def full(**options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("hess.native.library.tempfile.TemporaryDirectory", full)
    with pytest.raises(library.UnavailableError, match=r"cannot write .*No space left on device"):
        library.build()


def test_who_insists_is_told_why_not(no_compiler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HESS_MATMUL", "own")
    with pytest.raises(HessError, match="HESS_MATMUL=own is impossible here: no C\\+\\+ compiler"):
        library.is_loaded()


@pytest.mark.parametrize("name", ["HESS_MATMUL", "HESS_PRODUCTS"])  # its name before
def test_xla_can_be_asked_for(name: str, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "xla")
    assert library.kind() == "xla"
    assert list(own_cache.iterdir()) == []
    (finding,) = check_matmuls()
    assert finding.verdict == "ok"
    assert "left to XLA by HESS_MATMUL=xla" in finding.detail


def test_a_typo_under_the_name_before_is_found_by_that_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("HESS_MATMUL", raising=False)
    monkeypatch.setenv("HESS_PRODUCTS", "onw")
    with pytest.raises(HessError, match="HESS_PRODUCTS is 'onw'; choices: own, xla"):
        runtime.matmul_choice()


def test_a_typo_is_an_error_with_the_choices(tmp_path: Path) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("hess"), "train", "PointMaze", "--runs", tmp_path],
        env=os.environ | {"HESS_MATMUL": "onw"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "HESS_MATMUL is 'onw'; choices: own, xla" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_doctor_names_what_is_missing(no_compiler: None) -> None:
    (finding,) = check_matmuls()
    assert finding.verdict == "note"
    assert finding.problem is not None
    assert "no C++ compiler" in finding.problem
    assert finding.advice == library.ADVICE
