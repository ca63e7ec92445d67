"""Processes in which something is measured, from both sides.

Cores and threads have to be set before JAX starts, hence a new process for each setting. It calls
one function with the `Size`: rows are sent as they are; a measurement is taken, and its number
sent, whenever it is asked for, so that several workers can take turns.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from multiprocessing.connection import Connection
from typing import Any

from hess import runtime
from hess.bench.measuring import BenchRow, Size
from hess.errors import HessError

# OpenBLAS and OpenMP keep their threads awake for a moment after the work is done.
_SETTLING_SECONDS = 0.1
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


class Worker:
    """A process that measures with `module:function`, seen from outside."""

    def __init__(self, target: str, size: Size, cores: Sequence[int], blas_threads: int = 1):
        self._name = target.rpartition(":")[2]
        context = multiprocessing.get_context("spawn")  # a fork would have our JAX in it
        self._pipe, theirs = context.Pipe()
        job = (theirs, target, size, list(cores), blas_threads)
        self.process = context.Process(target=_serve, args=job, daemon=True)
        self.process.start()
        theirs.close()  # so that we notice when the process ends

    def listen(self) -> Any:
        """The next thing that the worker says."""
        try:
            said = self._pipe.recv()
        except (EOFError, ConnectionResetError):
            self.process.join()
            said = HessError(f"exit code {self.process.exitcode}")
        if isinstance(said, HessError):
            raise HessError(f"measuring {self._name!r} failed: {said}")
        return said

    def measure(self) -> float:
        """Ask a worker that takes turns for one measurement."""
        time.sleep(_SETTLING_SECONDS)
        with suppress(BrokenPipeError):  # the process is gone: `listen` says so
            self._pipe.send("measure")
        return float(self.listen())

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()


def rows_of(target: str, size: Size, cores: Sequence[int]) -> list[BenchRow]:
    """The rows that `module:function` gives, measured in a process of their own."""
    with closing(Worker(target, size, cores)) as measuring:
        rows: list[BenchRow] = measuring.listen()
    return rows


def _serve(pipe: Connection, target: str, size: Size, cores: list[int], blas_threads: int) -> None:
    """The other side: measure, and say what came of it."""
    try:
        os.environ |= dict.fromkeys(_THREADS, str(blas_threads))
        runtime.configure(cores=cores, threads=len(cores))
        module, _, function = target.partition(":")
        found = getattr(importlib.import_module(module), function)(size)
        if isinstance(found, list):
            pipe.send(found)
            return
        pipe.send("ready")
        while pipe.recv():
            pipe.send(found())
    except EOFError:
        return  # nobody asks any more
    except Exception as error:  # as text: not every exception survives the way
        pipe.send(HessError(f"{type(error).__name__}: {error}"))
