"""The default engine of a sweep: processes on this machine, each pinned to cores of its own."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from hess import runtime
from hess.errors import HessError
from hess.sweeps.plan import PlannedRun
from hess.sweeps.worker import job_of, launch, problem_of

_POLL = 0.1  # seconds
_GRACE = 60.0  # seconds that workers have to save when the sweep leaves


class LocalPool:
    """One run per core, or per group of cores."""

    def __init__(self, sweep: Path, cores: Sequence[int] = (), cores_per_run: int = 1):
        chosen = list(dict.fromkeys(cores)) or runtime.available_cores()
        runtime.require_cores(chosen)
        if not 1 <= cores_per_run <= len(chosen):
            raise HessError(
                f"{cores_per_run} cores per run are impossible; this sweep has {len(chosen)}"
            )
        self._sweep, self._size = sweep, cores_per_run
        self._free = [
            chosen[start : start + cores_per_run]
            for start in range(0, len(chosen) - cores_per_run + 1, cores_per_run)
        ]
        self.slots = len(self._free)
        self._workers: dict[PlannedRun, tuple[subprocess.Popen[bytes], list[int]]] = {}

    def __enter__(self) -> LocalPool:
        return self

    def __exit__(self, *_: object) -> None:
        """Nobody is left behind."""
        self.stop()
        deadline = time.monotonic() + _GRACE
        for process, _cores in self._workers.values():
            try:
                process.wait(max(deadline - time.monotonic(), 0.0))
            except subprocess.TimeoutExpired:
                process.kill()

    def start(self, run: PlannedRun) -> None:
        cores = self._free.pop(0)
        pinned = cores if runtime.can_pin() else None
        job = job_of(run, self._sweep, self._size, 1 / self.slots, pinned)
        self._workers[run] = launch(job), cores

    def wait(self, seconds: float) -> list[tuple[PlannedRun, str]]:
        deadline = time.monotonic() + seconds
        while True:
            ended = [
                run for run, (process, _) in self._workers.items() if process.poll() is not None
            ]
            if ended or time.monotonic() > deadline:
                return [(run, self._clear(run)) for run in ended]
            time.sleep(_POLL)

    def stop(self) -> None:
        for process, _ in self._workers.values():
            process.terminate()

    def _clear(self, run: PlannedRun) -> str:
        process, cores = self._workers.pop(run)
        self._free.append(cores)
        assert process.stdin is not None
        process.stdin.close()
        return problem_of(process.returncode)
