"""Settings are process-wide, so each test that makes some runs in its own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from hess import runtime
from hess.errors import HessError

LIBRARY_SETTINGS = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "NPROC",
    "MUJOCO_GL",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "JAX_COMPILATION_CACHE_DIR",
    "XLA_FLAGS",
)
EIGEN = "--xla_cpu_experimental_ynn_fusion_type="
IN_TURN = "--xla_cpu_enable_concurrency_optimized_scheduler=false"


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name not in LIBRARY_SETTINGS}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=clean | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def settings_after(call: str, tmp_path: Path, **environment: str) -> dict[str, Any]:
    code = (
        f"import json, os; from hess import runtime; {call};"
        "print(json.dumps(dict(os.environ) | {'cores': runtime.available_cores()}))"
    )
    done = run_python(code, **{"XDG_CACHE_HOME": str(tmp_path), **environment})
    assert done.returncode == 0, done.stderr
    settings: dict[str, Any] = json.loads(done.stdout)
    return settings


def test_sets_what_the_libraries_read(tmp_path: Path) -> None:
    settings = settings_after("runtime.configure(threads=3)", tmp_path)
    assert settings["OPENBLAS_NUM_THREADS"] == settings["OMP_NUM_THREADS"] == "1"
    assert settings["NPROC"] == "3"
    assert Path(settings["JAX_COMPILATION_CACHE_DIR"]).parent == tmp_path / "hess"
    if sys.platform == "linux":
        assert settings["MUJOCO_GL"] in ("egl", "disable")


@pytest.mark.skipif(sys.platform != "linux", reason="EGL is Linux's")
@pytest.mark.parametrize(
    ("missing", "chosen"),
    [((), "egl"), (("libEGL.so.1",), "disable"), (runtime._OPENGL, "disable")],
)
def test_draws_through_egl_only_where_its_libraries_are(
    missing: tuple[str, ...], chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MUJOCO_GL", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(runtime, "_loads", lambda library: library not in missing)
    runtime.choose_gl()
    assert os.environ["MUJOCO_GL"] == chosen


def test_keeps_what_the_user_has_set(tmp_path: Path) -> None:
    given = {
        "OMP_NUM_THREADS": "2",
        "MUJOCO_GL": "osmesa",
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "mine"),
    }
    settings = settings_after("runtime.configure()", tmp_path, **given)
    assert {name: settings[name] for name in given} == given


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", f"{EIGEN} {IN_TURN}"),
        ("--xla_dump_to=x", f"--xla_dump_to=x {EIGEN} {IN_TURN}"),
        (f"{EIGEN}1", f"{EIGEN}1 {IN_TURN}"),
        (f"{IN_TURN} {EIGEN}", f"{IN_TURN} {EIGEN}"),
    ],
)
def test_chooses_how_xla_multiplies_and_schedules(
    tmp_path: Path, given: str, expected: str
) -> None:
    version = "runtime.version_of = lambda package: '0.10.7'"
    call = f"{version}; runtime.configure(); runtime.configure()"
    assert settings_after(call, tmp_path, XLA_FLAGS=given)["XLA_FLAGS"] == expected


def test_gives_other_versions_no_flag_that_they_may_not_know(tmp_path: Path) -> None:
    call = "runtime.version_of = lambda package: '0.11.0'; runtime.configure()"
    assert "XLA_FLAGS" not in settings_after(call, tmp_path)


def test_leaves_the_gl_backend_to_mujoco_where_there_is_a_display(tmp_path: Path) -> None:
    assert "MUJOCO_GL" not in settings_after("runtime.configure()", tmp_path, DISPLAY=":0")


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux to pin cores")
def test_pins_the_process_to_the_cores(tmp_path: Path) -> None:
    core = runtime.available_cores()[-1]
    settings = settings_after(f"runtime.configure(cores=[{core}, {core}])", tmp_path)
    assert settings["cores"] == [core]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux to pin cores")
@pytest.mark.parametrize("cores", [[100_000], [-1], []])
def test_refuses_cores_that_are_not_there(
    cores: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "jax", raising=False)
    with pytest.raises(HessError, match=r"cannot run on cores: .*; cores: \d+"):
        runtime.configure(cores=cores)


def test_refuses_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "jax", raising=False)
    with pytest.raises(HessError, match="threads=0 is impossible; it must be at least 1"):
        runtime.configure(threads=0)


def test_other_threads_after_jax_are_refused_and_the_same_are_not(tmp_path: Path) -> None:
    code = (
        "from hess import runtime; from hess.errors import HessError\n"
        "runtime.configure(threads=1)\n"
        "import jax\n"
        "assert jax.config.jax_compilation_cache_dir == str(runtime.cache_folder())\n"
        "runtime.configure(); runtime.configure(threads=1)\n"
        "try: runtime.configure(threads=2)\n"
        "except HessError as error: print(error)\n"
    )
    done = run_python(code, XDG_CACHE_HOME=str(tmp_path))
    assert done.stdout.startswith("cores and threads have to be chosen before JAX is imported")


def test_goes_on_without_a_cache_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    code = (
        "import os; from hess import runtime; runtime.configure(); runtime.configure();"
        "print('JAX_COMPILATION_CACHE_DIR' in os.environ)"
    )
    done = run_python(code, XDG_CACHE_HOME=str(tmp_path / "file"))
    assert done.stdout == "False\n"
    assert done.stderr.startswith("no compilation cache: cannot write ")
    assert len(done.stderr.splitlines()) == 1


def test_importing_it_imports_nothing_heavy() -> None:
    code = (
        "import sys, hess.runtime;"
        "print([name for name in ('numpy', 'jax', 'mujoco', 'gymnasium') if name in sys.modules])"
    )
    assert run_python(code).stdout == "[]\n"


def test_a_worker_of_a_sweep_chooses_its_threads_before_jax_is_imported() -> None:
    code = "import sys, hess.sweeps.worker; print('jax' in sys.modules)"
    assert run_python(code).stdout == "False\n"


def test_drops_only_torn_cache_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_decompressor", lambda: zlib.decompress)
    whole = zlib.compress(os.urandom(1000))
    (tmp_path / "whole-cache").write_bytes(whole)
    (tmp_path / "torn-cache").write_bytes(whole[:100])
    (tmp_path / "empty-cache").write_bytes(b"")
    for _ in range(2):
        runtime.drop_damaged_entries(tmp_path)
        assert [path.name for path in tmp_path.glob("*-cache")] == ["whole-cache"]
    assert (tmp_path / "whole-cache").read_bytes() == whole


def test_an_entry_that_another_process_removes_is_no_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    entries = [tmp_path / f"{name}-cache" for name in "abc"]
    for entry in entries:
        entry.write_bytes(b"torn")

    def remove_all(_: bytes) -> None:
        for entry in entries:
            entry.unlink(missing_ok=True)

    monkeypatch.setattr(runtime, "_decompressor", lambda: remove_all)
    runtime.drop_damaged_entries(tmp_path)
    assert not caplog.records


def test_reads_each_cache_entry_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []
    monkeypatch.setattr(runtime, "_decompressor", lambda: read.append)
    entry = tmp_path / "old-cache"
    entry.write_bytes(b"old")
    os.utime(entry, (1.0, 1.0))
    runtime.drop_damaged_entries(tmp_path)
    (tmp_path / "new-cache").write_bytes(b"new")
    runtime.drop_damaged_entries(tmp_path)
    assert read == [b"old", b"new"]
