"""The process that trains one run of a sweep: `python -m hess.sweeps.worker JOB`.

It runs `hess train` and ends when the process that has started it does: that one holds the other
end of its standard input, which the system closes even when it is killed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hess.files import TakenError, named
from hess.runs.folder import RunFolder

if TYPE_CHECKING:  # planning knows every method, and so imports JAX: too early for a worker's cores
    from hess.sweeps.plan import PlannedRun

# A run whose machine was lost keeps its lock until the file server notices.
_PATIENCE = 300.0  # seconds


@dataclass(frozen=True)
class Job:
    """What a worker has to know."""

    arguments: list[str]
    """Of `hess`."""
    folder: str
    """The run's."""
    threads: int
    """For XLA."""
    gpu_share: float = 0.0
    """Of a GPU that several runs use."""
    cores: list[int] | None = None
    """To be pinned to."""

    def as_text(self) -> str:
        return json.dumps(dataclasses.asdict(self))


def job_of(
    run: PlannedRun, sweep: Path, threads: int, gpu_share: float, cores: list[int] | None = None
) -> Job:
    """The job that trains a run of a sweep."""
    from hess.runs.command import train_command

    arguments = shlex.split(train_command(run.config))[1:]
    arguments += ["--runs", str(sweep), "--name", run.name]
    return Job(arguments, str(run.path(sweep)), threads, gpu_share, cores)


def launch(
    job: Job, variables: Mapping[str, str] | None = None, folder: str | None = None
) -> subprocess.Popen[bytes]:
    """Start a worker, in a folder; what it prints is added to the run's log.

    In a session of its own: Ctrl-C is for the sweep, which then asks its workers to stop.
    """
    log = RunFolder(Path(job.folder)).log_file
    with named("write", log):
        log.parent.mkdir(parents=True, exist_ok=True)
        output = log.open("ab")
    with output:
        return subprocess.Popen(
            [sys.executable, "-m", "hess.sweeps.worker", job.as_text()],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | dict(variables or {}),
            cwd=folder,
            start_new_session=True,
        )


def problem_of(code: int) -> str:
    """What is wrong with a process that returned this; nothing if it says that all is well.

    A shell's 128 + n and Python's -n are both a signal.
    """
    number = -code if code < 0 else code - 128
    try:
        return f"ended by {signal.Signals(number).name}" if code else ""
    except ValueError:
        return f"exit code {code}"


def main() -> int:
    """Train."""
    job = Job(**json.loads(sys.argv[1]))
    threading.Thread(target=_follow_the_starter, daemon=True).start()
    from hess import runtime

    runtime.share_gpu(job.gpu_share)
    runtime.configure(cores=job.cores, threads=job.threads)
    from hess.cli import main as hess

    _await_predecessor(Path(job.folder))
    sys.argv = ["hess", *job.arguments]
    return hess(job.arguments)


def _follow_the_starter() -> None:
    os.read(sys.stdin.fileno(), 1)  # nothing is ever written: this returns at the end
    os.kill(os.getpid(), signal.SIGTERM)


def _await_predecessor(path: Path) -> None:
    """A worker whose starter was killed may still be saving what it has learned."""
    folder = RunFolder(path)
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        with contextlib.suppress(TakenError):
            folder.lock()
            folder.unlock()
            return
        time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main())
