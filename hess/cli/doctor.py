"""`hess doctor`: what this machine can do, and what to do about the rest."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from hess import runtime
from hess.native import library

EXTRAS = {
    "bench": ("stable_baselines3", "torch"),
    "ray": ("ray",),
    "wandb": ("wandb",),
}
GIB = 2**30
TIMEOUT = 120

_JAX = """
import json, jax
jax.jit(lambda x: x + 1)(1.0).block_until_ready()
print(json.dumps([jax.__version__, jax.default_backend(), [str(d) for d in jax.devices()]]))
"""
_MUJOCO = """
import mujoco
model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
mujoco.mj_step(model, mujoco.MjData(model))
print(mujoco.__version__)
"""
_RENDER = """
import mujoco
model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
with mujoco.Renderer(model, 16, 16) as renderer:
    renderer.update_scene(data)
    assert renderer.render().any(), "the picture is black"
"""


_PRODUCTS = """
import jax, jax.numpy as jnp
from hess.native import library
from hess.native.products import dense
from hess.runtime import products_choice
reason = "left to XLA: the device is no CPU"
try:
    if jax.default_backend() == "cpu" and products_choice() != "xla":
        library.build()
except library.UnavailableError as problem:
    reason = f"left to XLA: {problem}"
ones = jnp.ones((32, 32))
assert (dense(ones, ones, ones[0], rectify=False) == 33).all(), "a product is wrong"
print("own" if library.is_loaded() else reason)
"""


class State(Enum):
    """What a finding means for training."""

    GOOD = "ok"
    LIMITED = "note"
    BROKEN = "bad"


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    subject: str
    state: State
    detail: str
    advice: str = ""

    def __str__(self) -> str:
        line = f"{self.state.value:4}  {self.subject:12}  {self.detail}"
        return f"{line}\n{'':20}{self.advice}" if self.advice else line


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
                broken = broken or finding.state is State.BROKEN
        print("\nHESS cannot train here yet." if broken else "\nHESS can train here.")
        return 2 if broken else 0


def check_python() -> Iterator[Finding]:
    """The interpreter itself."""
    yield Finding("Python", State.GOOD, f"{sys.version.split()[0]}, {sys.platform}")


def check_jax() -> Iterator[Finding]:
    """JAX compiles and runs a program on some device."""
    output, problem = run_python(_JAX)
    if problem is not None:
        platforms = os.environ.get("JAX_PLATFORMS")
        again = "install it again: pip install --force-reinstall jax"
        advice = f"unset JAX_PLATFORMS ({platforms!r})" if platforms else again
        yield Finding("JAX", State.BROKEN, problem, advice)
        return
    version, backend, devices = json.loads(output.splitlines()[-1])
    yield Finding("JAX", State.GOOD, f"{version} on {backend}: {', '.join(devices)}")


def check_mujoco() -> Iterator[Finding]:
    """MuJoCo simulates."""
    output, problem = run_python(_MUJOCO)
    if problem is None:
        yield Finding("MuJoCo", State.GOOD, output.strip())
    elif run_python(_MUJOCO, MUJOCO_GL="disable")[1] is None:
        advice = "MuJoCo cannot start with this MUJOCO_GL: unset it, or try MUJOCO_GL=egl"
        yield Finding("MuJoCo", State.BROKEN, problem, advice)
    else:
        advice = "install it again: pip install --force-reinstall 'mujoco>=3.12,<4'"
        yield Finding("MuJoCo", State.BROKEN, problem, advice)


def check_rendering() -> Iterator[Finding]:
    """MuJoCo draws a small picture."""
    backend = os.environ.get("MUJOCO_GL", "the display's OpenGL")
    problem = rendering_problem()
    if backend == "disable":
        detail = "switched off: there is no display and no EGL library"
        yield Finding("rendering", State.LIMITED, detail, runtime.rendering_advice())
    elif problem is None:
        yield Finding("rendering", State.GOOD, f"works with {backend}")
    else:
        detail = f"fails with {backend}: {problem}"
        yield Finding("rendering", State.LIMITED, detail, runtime.rendering_advice())


def check_cores() -> Iterator[Finding]:
    """Processor, and the part of it that this process may use."""
    usable = runtime.available_cores()
    detail = f"{len(usable)} of {os.cpu_count()} cores usable ({_ranges(usable)}), "
    yield Finding("processor", State.GOOD, detail + runtime.cpu_model())


def check_memory() -> Iterator[Finding]:
    """Enough memory for the largest task's replay."""
    total = runtime.memory_gib()
    if total >= 2:
        yield Finding("memory", State.GOOD, f"{total} GiB")
    else:
        advice = "AntMaze with a replay of a million steps takes up to 1.5 GB: lower the capacity"
        yield Finding("memory", State.LIMITED, f"{total} GiB", advice)


def check_disk() -> Iterator[Finding]:
    """Room for runs in the working folder."""
    free = shutil.disk_usage(Path.cwd()).free / GIB
    detail = f"{free:.1f} GiB free in the current folder"
    if not os.access(Path.cwd(), os.W_OK):
        detail = "the current folder is not writable"
        yield Finding("disk", State.BROKEN, detail, "change to a folder of yours: runs go to runs/")
    elif free < 2:
        yield Finding("disk", State.LIMITED, detail, "a run with its checkpoints takes up to 2 GB")
    else:
        yield Finding("disk", State.GOOD, detail)


def check_cache() -> Iterator[Finding]:
    """Compiled programs are kept between starts."""
    given = os.environ.get("JAX_COMPILATION_CACHE_DIR")
    folder = Path(given) if given else runtime.cache_folder()
    problem = runtime.cache_problem(folder)
    if problem is None:
        size = sum(entry.stat().st_size for entry in folder.glob("*-cache")) / 2**20
        yield Finding("cache", State.GOOD, f"{folder}, {size:.0f} MiB")
    else:
        advice = "every start compiles anew: set XDG_CACHE_HOME to a folder of yours"
        yield Finding("cache", State.LIMITED, f"cannot write {folder}: {problem}", advice)


def check_products() -> Iterator[Finding]:
    """Matrix products of our own: compiled, loaded and right."""
    output, problem = run_python(_PRODUCTS)
    kind = output.strip().splitlines()[-1] if output.strip() else ""
    if problem is None and kind == "own":
        yield Finding("products", State.GOOD, "compiled for this processor")
    elif problem is None and runtime.products_choice() == "xla":
        yield Finding("products", State.GOOD, f"left to XLA by {runtime.PRODUCTS}=xla")
    elif problem is None:
        yield Finding("products", State.LIMITED, kind, library.ADVICE)
    else:
        advice = f"set {runtime.PRODUCTS}=xla to leave matrix products to XLA"
        yield Finding("products", State.BROKEN, problem, advice)


def check_ffmpeg() -> Iterator[Finding]:
    """Videos can be written."""
    import imageio_ffmpeg

    try:
        yield Finding("ffmpeg", State.GOOD, str(imageio_ffmpeg.get_ffmpeg_version()))
    except RuntimeError:
        advice = "no videos: install ffmpeg, or set IMAGEIO_FFMPEG_EXE to it"
        yield Finding("ffmpeg", State.LIMITED, "not found", advice)


def check_extras() -> Iterator[Finding]:
    """What is optional."""
    from importlib.util import find_spec

    for extra, modules in EXTRAS.items():
        if all(find_spec(module) for module in modules):
            yield Finding(extra, State.GOOD, "installed")
        else:
            yield Finding(extra, State.GOOD, f'not installed, optional: pip install ".[{extra}]"')


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    check_python,
    check_jax,
    check_mujoco,
    check_rendering,
    check_cores,
    check_memory,
    check_disk,
    check_cache,
    check_products,
    check_ffmpeg,
    check_extras,
)


def rendering_problem() -> str | None:
    """Why MuJoCo cannot draw here, or None. In a process of its own: GL failures can be crashes."""
    return run_python(_RENDER)[1]


def run_python(code: str, **environment: str) -> tuple[str, str | None]:
    """Run code in a new interpreter: its output, and its problem in one line or None."""
    try:
        with tempfile.TemporaryDirectory() as folder:  # MuJoCo leaves a log of its errors behind
            done = subprocess.run(
                [sys.executable, "-c", code],
                cwd=folder,
                env=os.environ | environment,
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
                check=False,
            )
    except subprocess.TimeoutExpired:
        return "", f"no answer within {TIMEOUT} s"
    if done.returncode == 0:
        return done.stdout, None
    if done.returncode < 0:
        return "", f"crashed with signal {-done.returncode}"
    return "", _error_line(done.stderr) or f"exit code {done.returncode}"


def _error_line(trace: str) -> str | None:
    """The line of a traceback that names the error."""
    lines = [line for line in trace.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"[\w.]+(Error|Exception)\b", line)]
    return next(iter(errors[-1:] or lines[-1:]), None)


def _ranges(numbers: list[int]) -> str:
    """[0, 1, 2, 5] -> '0-2, 5'."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
