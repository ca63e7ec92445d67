"""Compiles our C++ with the machine's compiler, keeps the result, and loads it into XLA."""

from __future__ import annotations

import ctypes
import fcntl
import functools
import hashlib
import logging
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from hess.errors import HessError
from hess.runtime import MATMUL, cache_folder, cache_problem, matmul_choice

TARGETS = (
    "hess_outputs",
    "hess_input_gradients",
    "hess_weight_gradients",
    "hess_normalise",
    "hess_normalise_gradients",
    "hess_triplets",
    "hess_adam",
)
ADVICE = "install a C++20 compiler (Debian and Ubuntu: g++), updates are a quarter faster with it"

BUSY = "hess_busy_elsewhere"  # (change) -> how many there are now

_FOLDER = Path(__file__).parent
_SOURCES = ("matmul.cc", "normalisation.cc", "triplets.cc", "adam.cc", "cores.cc")
_HEADERS = ("job.h", "scratch.h", "tiles.h", "vectors.h")
_COMPILERS = ("c++", "g++", "clang++")
_FLAGS = (
    "-O3",
    "-march=native",
    "-fno-math-errno",  # square roots of a whole vector
    "-std=c++20",
    "-fPIC",
    "-pthread",
)
_SECONDS = 300  # to compile a file; it takes about five

_log = logging.getLogger(__name__)


class UnavailableError(Exception):
    """Why there is no native code on this machine."""


@functools.cache
def loaded() -> ctypes.CDLL | None:
    """Our code, once XLA can call it, or None; the first call compiles it if need be.

    HESS_MATMUL=xla leaves everything to XLA, HESS_MATMUL=own insists on ours. With neither,
    a machine that cannot have it says so once and goes on with XLA's.
    """
    import jax

    chosen = matmul_choice()
    if chosen == "xla" or jax.default_backend() != "cpu":
        return None
    try:
        library = build()
    except UnavailableError as reason:
        if chosen == "own":
            raise HessError(f"{MATMUL}=own is impossible here: {reason}") from reason
        _log.warning("matmuls are left to XLA: %s; %s", reason, ADVICE)
        return None
    register(library)
    return library


def is_loaded() -> bool:
    """Whether XLA can call our code."""
    return loaded() is not None


def kind() -> str:
    """Who multiplies matrices here: "own" or "xla"."""
    return "own" if is_loaded() else "xla"


def build() -> ctypes.CDLL:
    """The compiled library, from the cache if it is there."""
    command = compile_command()
    folder = cache_folder()
    if cache_problem(folder) is not None:  # `runtime.configure` has told the user
        with tempfile.TemporaryDirectory() as temporary:
            return _load(_compile(command, Path(temporary, "native.so")))
    library = folder / f"native-{_digest(command)}.so"
    with _alone_in(folder):
        if library.exists():
            try:
                return _load(library)
            except UnavailableError as reason:
                _log.warning("%s; compiled anew", reason)
        return _load(_compile(command, library))


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """The runs of a sweep start at once: one of them compiles, the others wait for the result."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks: each compiles for itself
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def compile_command() -> list[str]:
    """The compiler with its flags, without source and result."""
    import jax

    given = os.environ.get("CXX")
    candidates = [given] if given else list(_COMPILERS)
    for words in map(shlex.split, candidates):
        if words and shutil.which(words[0]):
            return [*words, *_FLAGS, "-isystem", jax.ffi.include_dir()]
    raise UnavailableError(f"no C++ compiler ({', '.join(candidates)}) on the PATH")


def register(library: ctypes.CDLL) -> None:
    """Make its functions known to XLA."""
    import jax

    for name in TARGETS:
        capsule = jax.ffi.pycapsule(getattr(library, name))  # type: ignore[no-untyped-call]
        jax.ffi.register_ffi_target(name, capsule, platform="cpu")


def call(
    name: str,
    *shapes: tuple[int, ...],
    reuse: int | None = None,
    one_for_all: bool = False,
) -> Callable[..., Any]:
    """One of our functions with results of these shapes, for arrays of single precision.

    Results may take the place of as many arguments, from the one numbered `reuse` on. Under
    `jax.vmap` every argument becomes a batch, unless it is the same for all and `one_for_all` says
    that the function knows what to do with a batch of one.
    """
    import jax

    results = [jax.ShapeDtypeStruct(shape, "float32") for shape in shapes]  # type: ignore[no-untyped-call]
    return jax.ffi.ffi_call(
        name,
        results[0] if len(results) == 1 else results,
        vmap_method="expand_dims" if one_for_all else "broadcast_all",
        input_output_aliases={}
        if reuse is None
        else {reuse + place: place for place in range(len(results))},
    )


def _digest(command: list[str]) -> str:
    version = _run([command[0], "--version"])
    files = [(_FOLDER / name).read_text() for name in (*_SOURCES, *_HEADERS)]
    text = "\n".join([*files, *command, version])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _compile(command: list[str], library: Path) -> Path:
    """In one piece: a process that is killed leaves nothing that looks like a library."""
    try:
        with tempfile.TemporaryDirectory(dir=library.parent, prefix=".native-") as folder:
            result = Path(folder, library.name)
            with ThreadPoolExecutor() as together:
                objects = list(together.map(partial(_compile_file, command, folder), _SOURCES))
            _run([*command, "-shared", *objects, "-o", str(result)])
            result.replace(library)
    except OSError as error:
        raise UnavailableError(f"cannot write {str(library)!r}: {error.strerror}") from error
    return library


def _compile_file(command: list[str], folder: str, source: str) -> str:
    compiled = str(Path(folder, source).with_suffix(".o"))
    _run([*command, "-c", str(_FOLDER / source), "-o", compiled])
    return compiled


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise UnavailableError(f"{command[0]} does not run: {error}") from error
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        what = (errors or done.stderr.splitlines() or [f"exit code {done.returncode}"])[0]
        raise UnavailableError(f"{command[0]} failed: {what[:300]}")
    return done.stdout


def _load(library: Path) -> ctypes.CDLL:
    try:
        opened = ctypes.CDLL(str(library))
        for name in (*TARGETS, BUSY):
            getattr(opened, name)
    except (OSError, AttributeError) as error:
        raise UnavailableError(f"{str(library)!r} is no library of ours: {error}") from error
    return opened
