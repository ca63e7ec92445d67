"""Processes in which something is measured, from both sides.

Cores and threads have to be set before JAX starts, hence a new process for each setting. It calls
one function with the `Size`: rows are sent as they are; a measurement is taken, and its number
sent, whenever a line comes in, so that several workers can take turns.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

from hess import runtime
from hess.bench.measuring import Size
from hess.bench.table import Row
from hess.errors import HessError

# OpenBLAS and OpenMP keep their threads awake for a moment after the work is done.
_SETTLING_SECONDS = 0.1
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


class Worker:
    """A process that measures, seen from outside."""

    def __init__(self, name: str, process: subprocess.Popen[str], errors: IO[str]):
        self._name, self._process, self._errors = name, process, errors

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None

    def listen(self) -> Any:
        """The next thing that the worker says."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            self._errors.seek(0)
            last = (self._errors.read().strip().splitlines() or [f"exit code {code}"])[-1]
            raise HessError(f"measuring {self._name!r} failed: {last}")
        return json.loads(line)

    def measure(self) -> float:
        """Ask a worker that takes turns for one measurement."""
        assert self._process.stdin is not None
        time.sleep(_SETTLING_SECONDS)
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self.listen())


@contextmanager
def worker(
    target: str, size: Size, cores: Sequence[int], blas_threads: int = 1
) -> Iterator[Worker]:
    """Start one for `module:function`; it ends with the `with` block, at once if that fails."""
    job = {"target": target, "size": dataclasses.asdict(size), "cores": list(cores)}
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "hess.bench.processes", json.dumps(job)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | dict.fromkeys(_THREADS, str(blas_threads)),
        ) as process,
    ):
        try:
            yield Worker(target.rpartition(":")[2], process, errors)
        except BaseException:
            process.kill()
            raise


def rows_of(target: str, size: Size, cores: Sequence[int]) -> list[Row]:
    """The rows that `module:function` gives, measured in a process of their own."""
    with worker(target, size, cores) as measuring:
        return [Row.from_json(values) for values in measuring.listen()]


def main(job: dict[str, Any]) -> None:
    """The other side: measure, and say what came of it."""
    runtime.configure(cores=job["cores"], threads=len(job["cores"]))
    module, _, function = job["target"].partition(":")
    found = getattr(importlib.import_module(module), function)(Size(**job["size"]))
    if isinstance(found, list):
        _say([row.to_json() for row in found])
        return
    _say("ready")
    for _line in sys.stdin:
        _say(found())


def _say(value: Any) -> None:
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
