"""Starting workers and listening to them."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

from hess.bench.rows import Row
from hess.bench.sizes import Size
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
        """Ask a "pace" worker for one measurement."""
        assert self._process.stdin is not None
        time.sleep(_SETTLING_SECONDS)
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self.listen())


@contextmanager
def worker(
    kind: str, name: str, size: Size, cores: Sequence[int], blas_threads: int = 1
) -> Iterator[Worker]:
    """Start a worker; it ends with the `with` block, at once if that fails."""
    job = {"kind": kind, "name": name, "size": dataclasses.asdict(size), "cores": list(cores)}
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "hess.bench.worker", json.dumps(job)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | dict.fromkeys(_THREADS, str(blas_threads)),
        ) as process,
    ):
        try:
            yield Worker(name, process, errors)
        except BaseException:
            process.kill()
            raise


def rows_of(name: str, size: Size, cores: Sequence[int]) -> list[Row]:
    """The rows of the module hess.bench.<name>, measured in a process of their own."""
    with worker("rows", name, size, cores) as measuring:
        return [Row.from_json(values) for values in measuring.listen()]
