"""`hess doctor`: what this machine can do, and what to do about the rest."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from hess import machine, runtime
from hess.native import library

EXTRAS = {
    "bench": ("stable_baselines3", "torch"),
    "envs": ("gymnasium_robotics", "ogbench"),
    "ray": ("ray",),
    "tsne": ("sklearn",),
}
TIMEOUT = 120

_JAX = """
import jax
jax.jit(lambda x: x + 1)(1.0).block_until_ready()
print(jax.__version__, "on", jax.default_backend() + ":", *jax.devices())
"""
_MUJOCO = """
import mujoco
model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
data = mujoco.MjData(model)
mujoco.mj_step(model, data)
print(mujoco.__version__)
"""
_RENDER = f"""{_MUJOCO}
with mujoco.Renderer(model, 16, 16) as renderer:
    renderer.update_scene(data)
    assert renderer.render().any(), "the picture is black"
"""
_MATMUL = """
import jax, jax.numpy as jnp
from hess.native import library
from hess.native.matmul import dense
from hess.runtime import matmul_choice
reason = "left to XLA: the device is no CPU"
try:
    if jax.default_backend() == "cpu" and matmul_choice() != "xla":
        library.build()
except library.UnavailableError as problem:
    reason = f"left to XLA: {problem}"
ones = jnp.ones((32, 32))
assert (dense(ones, ones, ones[0], rectify=False) == 33).all(), "a product is wrong"
print("own" if library.is_loaded() else reason)
"""


@dataclass(frozen=True)
class Finding:
    """One line of the report; a problem is either a limit or the end of training."""

    subject: str
    detail: str
    problem: str | None = None
    advice: str = ""
    fatal: bool = False

    @property
    def verdict(self) -> str:
        return "ok" if self.problem is None else "bad" if self.fatal else "note"

    def __str__(self) -> str:
        line = f"{self.verdict:4}  {self.subject:12}  {self.problem or self.detail}"
        return f"{line}\n{'':20}{self.advice}" if self.problem and self.advice else line


@dataclass(frozen=True)
class Doctor:
    """Check this machine and say what to do where something is missing."""

    def run(self) -> int:
        """Print the findings; 2 if HESS cannot train here."""
        runtime.configure()
        broken = False
        for check in CHECKS:
            for finding in check():
                print(finding, flush=True)
                broken |= finding.verdict == "bad"
        print("\nHESS cannot train here yet." if broken else "\nHESS can train here.")
        return 2 if broken else 0


def check_libraries() -> Iterator[Finding]:
    """JAX compiles and runs a program on some device; MuJoCo simulates."""
    yield Finding("Python", f"{sys.version.split()[0]}, {sys.platform}")
    again = "install it again: pip install --force-reinstall"
    platforms = os.environ.get("JAX_PLATFORMS")
    advice = f"unset JAX_PLATFORMS ({platforms!r})" if platforms else f"{again} jax"
    yield Finding("JAX", *run_python(_JAX), advice, fatal=True)
    advice = f"unset MUJOCO_GL, or try MUJOCO_GL=egl, or {again} 'mujoco>=3.12,<4'"
    yield Finding("MuJoCo", *run_python(_MUJOCO), advice, fatal=True)


def check_rendering() -> Iterator[Finding]:
    """MuJoCo draws a small picture."""
    backend, problem = os.environ.get("MUJOCO_GL", "the display's OpenGL"), rendering_problem()
    if backend == "disable":
        problem = "switched off by MUJOCO_GL=disable, as where no display and no EGL library is"
    elif problem is not None:
        problem = f"fails with {backend}: {problem}"
    yield Finding("rendering", f"works with {backend}", problem, runtime.rendering_advice())


def check_machine() -> Iterator[Finding]:
    """Cores, memory, and room for runs in the working folder."""
    usable = f"{len(runtime.available_cores())} of {os.cpu_count()} cores usable"
    yield Finding("processor", f"{usable}, {runtime.cpu_model()}")
    memory, free = machine.memory_gib(), shutil.disk_usage(Path.cwd()).free / 2**30
    advice = "AntMaze with a replay of a million steps takes up to 1.5 GB: lower the capacity"
    yield Finding("memory", f"{memory} GiB", f"{memory} GiB" if memory < 2 else None, advice)
    if not os.access(Path.cwd(), os.W_OK):
        advice = "change to a folder of yours: runs go to runs/"
        yield Finding("disk", "", "the current folder is not writable", advice, fatal=True)
        return
    room = f"{free:.1f} GiB free in the current folder"
    advice = "a run with its checkpoints takes up to 2 GB"
    yield Finding("disk", room, room if free < 2 else None, advice)


def check_cache() -> Iterator[Finding]:
    """Compiled programs are kept between starts."""
    given = os.environ.get("JAX_COMPILATION_CACHE_DIR")
    folder = Path(given) if given else runtime.cache_folder()
    problem = runtime.cache_problem(folder)
    size = sum(entry.stat().st_size for entry in folder.glob("*-cache")) / 2**20
    setting = "JAX_COMPILATION_CACHE_DIR" if given else "XDG_CACHE_HOME"
    advice = f"every start compiles anew: set {setting} to a folder of yours"
    cannot = None if problem is None else f"cannot write {folder}: {problem}"
    yield Finding("cache", f"{folder}, {size:.0f} MiB", cannot, advice)


def check_matmuls() -> Iterator[Finding]:
    """Matmuls of our own: compiled, loaded and right."""
    kind, problem = run_python(_MATMUL)
    if problem is not None:
        advice = f"set {runtime.MATMUL}=xla to leave matmuls to XLA"
        yield Finding("matmuls", "", problem, advice, fatal=True)
    elif runtime.matmul_choice() == "xla":
        yield Finding("matmuls", f"left to XLA by {runtime.MATMUL}=xla")
    else:
        reason = None if kind == "own" else kind
        yield Finding("matmuls", "compiled for this processor", reason, library.ADVICE)


def check_extras() -> Iterator[Finding]:
    """Videos, and what is optional."""
    import imageio_ffmpeg

    try:
        yield Finding("ffmpeg", str(imageio_ffmpeg.get_ffmpeg_version()))
    except RuntimeError:
        advice = "no videos: install ffmpeg, or set IMAGEIO_FFMPEG_EXE to it"
        yield Finding("ffmpeg", "", "not found", advice)
    for extra, modules in EXTRAS.items():
        there = all(find_spec(module) for module in modules)
        absent = f'not installed, optional: pip install ".[{extra}]"'
        yield Finding(extra, "installed" if there else absent)


CHECKS = (check_libraries, check_rendering, check_machine, check_cache, check_matmuls, check_extras)


def rendering_problem() -> str | None:
    """Why MuJoCo cannot draw here, or None. In a process of its own: GL failures can be crashes."""
    return run_python(_RENDER)[1]


def run_python(code: str) -> tuple[str, str | None]:
    """Run code in a new interpreter: its last line, and its problem in one line or None."""
    try:
        with tempfile.TemporaryDirectory() as folder:  # MuJoCo leaves a log of its errors behind
            command = [sys.executable, "-c", code]
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT, check=False
            )
    except subprocess.TimeoutExpired:
        return "", f"no answer within {TIMEOUT} s"
    if done.returncode == 0:
        return done.stdout.strip().rpartition("\n")[2], None
    if done.returncode < 0:
        return "", f"crashed with signal {-done.returncode}"
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"[\w.]+(Error|Exception)\b", line)]
    return "", next(iter(errors[-1:] or lines[-1:]), f"exit code {done.returncode}")
