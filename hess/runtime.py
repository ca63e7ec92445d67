"""The one place that decides about cores, threads, XLA, the compilation cache and the GL backend.

`configure` has to run before NumPy, JAX and MuJoCo are imported: all three read their settings
once, at import. The command line does this; in Python call `hess.runtime.configure()` first.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import importlib
import logging
import os
import platform
import sys
import tempfile
import zlib
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

from hess.errors import HessError, require_at_least
from hess.files import reason

# What EGL needs to draw without a display; .ci/run installs the same.
RENDERING_PACKAGES = ("libegl1", "libgl1", "libgl1-mesa-dri")
_OPENGL = ("libOpenGL.so.0", "libGL.so.1", "libGLESv2.so.2")  # PyOpenGL takes the first it finds
MATMUL = "HESS_MATMUL"
MATMUL_BEFORE = "HESS_PRODUCTS"  # still read

_XLA_FLAGS = {
    # What is left to XLA is multiplied by Eigen: on two cores a tenth faster than by YNN.
    "xla_cpu_experimental_ynn_fusion_type": "",
    # Small operations one after the other: to wake a second thread for one takes longer than the
    # operation. Products use all threads all the same. An update takes 0.95 of the time on two
    # cores, with the default's larger batches and layer normalisation 0.85.
    "xla_cpu_enable_concurrency_optimized_scheduler": "false",
}

_log = logging.getLogger(__name__)
_chosen: tuple[tuple[int, ...] | None, int | None] | None = None  # cores and threads


def configure(cores: Sequence[int] | None = None, threads: int | None = None) -> None:
    """Pin this process to `cores`, give XLA `threads` threads, and set what the libraries read.

    Whatever the user has set in the environment stays as it is. Asking again for the same is
    fine; asking for other cores or threads once JAX is imported is a `HessError`.
    """
    global _chosen  # noqa: PLW0603 (the libraries' settings are global to the process as well)
    pinned = None if cores is None else tuple(sorted(set(cores)))
    choice = pinned, threads
    explicit = choice != (None, None)
    if explicit and choice != _chosen and "jax" in sys.modules:
        raise HessError(
            "cores and threads have to be chosen before JAX is imported:"
            " call hess.runtime.configure(...) at the start of the program"
        )
    if pinned is not None:
        if not can_pin():
            raise HessError(f"{platform.system()} cannot pin a process to cores; leave cores out")
        require_cores(pinned)
        os.sched_setaffinity(0, pinned)
    if threads is not None:
        require_at_least("threads", threads, 1)
        os.environ["NPROC"] = str(threads)  # the size of XLA's thread pool on the CPU
    # The actor's two small matmuls: waking a second BLAS thread costs more than it brings.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    choose_gl()
    matmul_choice()
    _choose_xla_flags()
    _use_compilation_cache()
    if explicit or _chosen is None:
        _chosen = choice


def available_cores() -> list[int]:
    """Those that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def can_pin() -> bool:
    """Whether this system lets a process choose its cores."""
    return hasattr(os, "sched_setaffinity")


def has_display() -> bool:
    """Whether a window system is there for MuJoCo to open an OpenGL context on."""
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def choose_gl() -> None:
    """Draw through EGL where there is no display.

    MuJoCo cannot even be imported with MUJOCO_GL=egl where libEGL or an OpenGL library is
    missing, so drawing is switched off there: everything else works.
    """
    if sys.platform != "linux" or has_display() or os.environ.get("MUJOCO_GL"):
        return
    usable = _loads("libEGL.so.1") and any(map(_loads, _OPENGL))
    os.environ["MUJOCO_GL"] = "egl" if usable else "disable"


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def rendering_advice() -> str:
    """What to do where MuJoCo cannot draw."""
    works = "everything but pictures and videos works without"
    if sys.platform != "linux":
        return f"{works}; MuJoCo needs a window system to draw on here"
    if os.environ.get("MUJOCO_GL", "egl") in ("egl", "disable"):
        return f"install {' '.join(RENDERING_PACKAGES)} (names of Debian and Ubuntu); {works}"
    return f"MUJOCO_GL={os.environ['MUJOCO_GL']} does not work here: try MUJOCO_GL=egl; {works}"


def require_cores(cores: Sequence[int]) -> None:
    """Refuse cores that this process may not run on."""
    valid = available_cores()
    wrong = [core for core in cores if core not in valid]
    if wrong or not cores:
        bad = ", ".join(map(str, wrong)) or "none given"
        raise HessError(f"cannot run on cores: {bad}; cores: {', '.join(map(str, valid))}")


def matmul_choice() -> str:
    """Who is to multiply matrices on the CPU: "own", "xla", or whatever is possible."""
    name = MATMUL if os.environ.get(MATMUL) else MATMUL_BEFORE
    value = os.environ.get(name, "")
    if value not in ("", "own", "xla"):
        raise HessError(f"{name} is {value!r}; choices: own, xla")
    return value


def _choose_xla_flags() -> None:
    """For versions that have them: XLA ends the process at a flag that it does not know."""
    if not (version_of("jaxlib") or "").startswith("0.10."):
        return
    given = os.environ.get("XLA_FLAGS", "")
    ours = [f"--{name}={value}" for name, value in _XLA_FLAGS.items() if name not in given]
    if ours:
        os.environ["XLA_FLAGS"] = " ".join([given, *ours]).strip()


def share_gpu(share: float) -> None:
    """Take no more than this share of a GPU's memory: JAX alone would take most of it at once."""
    if 0.0 < share < 1.0:
        os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", f"{0.9 * share:.3f}")


def cache_folder() -> Path:
    """Where compiled programs are kept: per user, per jaxlib, per kind of CPU.

    Per CPU, because home folders are shared between machines and machine code is not.
    """
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    flags = _cpu_info("flags") or _cpu_info("Features") or ""
    kind = hashlib.sha256(f"{cpu_model()}{flags}".encode()).hexdigest()[:8]
    return Path(root) / "hess" / f"jaxlib-{version_of('jaxlib')}-{kind}"


def cache_problem(folder: Path) -> str | None:
    """Why the folder cannot be used as a cache, or None."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return reason(error)


@functools.cache  # what is wrong with the folder is said once
def _use_compilation_cache() -> None:
    if os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return
    folder = cache_folder()
    problem = cache_problem(folder)
    if problem is not None:
        _log.warning(
            "no compilation cache: cannot write %r: %s; every start compiles anew",
            str(folder),
            problem,
        )
        return
    drop_damaged_entries(folder)
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(folder)
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.3")
    if "jax" in sys.modules:
        config = sys.modules["jax"].config
        config.update("jax_compilation_cache_dir", str(folder))
        config.update("jax_persistent_cache_min_compile_time_secs", 0.3)


def drop_damaged_entries(folder: Path) -> None:
    """Remove entries that a killed process left half written.

    JAX neither writes entries in one piece nor replaces one that exists, so a torn entry would
    cost a warning and a compilation at every start. Only entries since the last look are read.
    An entry that another process is just writing may go too: that one is compiled once more.
    """
    marker = folder / ".checked"
    since = marker.stat().st_mtime if marker.exists() else 0.0
    decompress = _decompressor()
    try:
        marker.touch()
        for entry in folder.glob("*-cache"):
            try:
                if entry.stat().st_mtime >= since - 1.0:
                    decompress(entry.read_bytes())
            except FileNotFoundError:
                continue  # another process that starts just now was faster
            except Exception:  # each library has its own error for a torn stream
                entry.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("cannot check the compilation cache %r: %s", str(folder), error.strerror)


def _decompressor() -> Callable[[bytes], bytes]:
    """What JAX compresses with here: the first of these modules that is installed."""
    for name in ("compression.zstd", "zstandard"):
        with contextlib.suppress(ImportError):
            return importlib.import_module(name).decompress
    return zlib.decompress


def cpu_model() -> str:
    """The processor's name."""
    return _cpu_info("model name") or platform.processor() or platform.machine()


def _cpu_info(key: str) -> str | None:
    path = Path("/proc/cpuinfo")
    for line in path.read_text().splitlines() if path.exists() else ():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return None


def version_of(package: str) -> str | None:
    """The version that is installed, if it is."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
