"""Sweeps on Ray: the same workers as in the local pool, each started by a Ray task.

Ray decides where a task runs, and runs it again when its worker or its machine is lost; the run
then goes on from its checkpoint. Only short texts pass through Ray: the runs' folders lie on a
path that all machines share, and a task that does not find the sweep there says so.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hess import runtime
from hess.errors import HessError, MissingExtraError
from hess.files import read_sealed, reason
from hess.sweeps.plan import PlannedRun
from hess.sweeps.worker import Job, job_of, launch, problem_of

_LOSSES = 20  # of workers or machines that one run survives
_CRASHES = 3  # of the training process itself
_CONNECT_SECONDS = 10.0
_LEAVE_SECONDS = 60.0  # that runs have to save when the sweep leaves
_POLL = 0.2  # seconds
_STORE = 128 * 2**20  # bytes; next to nothing passes through it


class RayEngine:
    """A fresh Ray instance on this machine, or an existing cluster by its address."""

    def __init__(self, sweep: Path, address: str | None, cores: int, gpus: float):
        if find_spec("ray") is None:
            raise MissingExtraError("--ray", "Ray", "ray")
        self._sweep, self._address = sweep.resolve(), address
        self._cores, self._gpus = cores, gpus
        self._tasks: dict[Any, PlannedRun] = {}

    def __enter__(self) -> RayEngine:
        connect(self._address)
        if self.slots < 1:
            import ray

            ray.shutdown()
            raise HessError(
                f"no machine of the cluster has room for a run with {self._cores} cores"
                + (f" and {self._gpus} GPU" if self._gpus else "")
            )
        return self

    def __exit__(self, *_: object) -> None:
        import ray

        if self._tasks:
            self.stop()
            ray.wait(list(self._tasks), num_returns=len(self._tasks), timeout=_LEAVE_SECONDS)
        ray.shutdown()  # an instance of our own ends

    @property
    def slots(self) -> int:
        """Runs at a time, on the machines that are there now; they may come and go."""
        import ray

        list_nodes: Callable[[], list[dict[str, Any]]] = ray.nodes
        alive = [node for node in list_nodes() if node["Alive"]]
        return sum(room(node["Resources"], self._cores, self._gpus) for node in alive)

    def start(self, run: PlannedRun) -> None:
        import ray

        job = job_of(run, self._sweep, self._cores, self._gpus)
        options = {
            "num_cpus": self._cores,
            "num_gpus": self._gpus,
            "max_retries": _LOSSES,
            "name": run.key,
        }
        task = ray.remote(train).options(**options)
        place = {"folder": os.getcwd(), "path": os.environ.get("PYTHONPATH", "")}
        reference = task.remote(job.as_text(), str(self._sweep), place)
        self._tasks[reference] = run

    def wait(self, seconds: float) -> list[tuple[PlannedRun, str]]:
        import ray

        if not self._tasks:  # every machine is gone; others may come
            time.sleep(seconds)
            return []
        ended, _ = ray.wait(list(self._tasks), num_returns=1, timeout=seconds)
        return [(self._tasks.pop(reference), _problem(reference)) for reference in ended]

    def stop(self) -> None:
        import ray

        for reference in self._tasks:
            ray.cancel(reference)


def connect(address: str | None) -> None:
    """Start a local instance that nobody else can reach, or join the cluster that was named."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would report to its makers
    if address is not None:
        _knock(address)
    import ray

    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    try:
        if address is None:
            ray.init(
                address="local",  # never one that happens to be running, nor RAY_ADDRESS
                _node_ip_address="127.0.0.1",
                include_dashboard=False,
                num_cpus=len(runtime.available_cores()),
                object_store_memory=_STORE,
                **quiet,
            )
        else:
            ray.init(address=address, **quiet)
    except (ray.exceptions.RayError, ConnectionError, RuntimeError, ValueError) as error:
        first = str(error).strip().partition("\n")[0]
        where = "start Ray here" if address is None else f"use the Ray cluster at {address!r}"
        raise HessError(f"cannot {where}: {first}") from error


def _knock(address: str) -> None:
    """Ray itself would try for minutes."""
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isdecimal()) or "/" in host:
        raise HessError(f"{address!r} is no address of a Ray cluster; it looks like HOST:6379")
    try:
        socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise HessError(
            f"cannot reach a Ray cluster at {address!r} within {_CONNECT_SECONDS:.0f} s: {why}"
        ) from error


def room(resources: Mapping[str, float], cores: int, gpus: float) -> int:
    """Runs that fit on a machine at a time."""
    by_cores = resources.get("CPU", 0.0) / cores
    return int(min(by_cores, resources.get("GPU", 0.0) / gpus) if gpus else by_cores)


def _problem(reference: Any) -> str:
    import ray

    try:
        return str(ray.get(reference))
    except ray.exceptions.RayError as error:
        return f"Ray gave up: {str(error).strip().partition(chr(10))[0]}"


# --- on the cluster's machines ----------------------------------------------------------------


def train(job_text: str, sweep: str, place: Mapping[str, str]) -> str:
    """The Ray task: train one run in a process of its own; the problem, if there is one."""
    job = Job(**json.loads(job_text))
    if missing := _missing(Path(sweep), job):
        return missing
    variables = {"PYTHONPATH": place["path"]} if place["path"] else {}
    folder = place["folder"] if os.path.isdir(place["folder"]) else None
    for _ in range(_CRASHES):
        process = launch(job, variables, folder)
        code = _await(process)
        if code >= 0:
            break
    return problem_of(code)


def _missing(sweep: Path, job: Job) -> str:
    """Why this machine cannot train the run."""
    try:
        runs = read_sealed(sweep / "sweep.json")["runs"]
    except HessError:
        runs = []
    if any(run["name"] == Path(job.folder).name for run in runs):
        return ""
    return (
        f"the machine {socket.gethostname()} does not see the sweep in {str(sweep)!r}; "
        "all machines of a cluster need the folder under the same path"
    )


def _await(process: subprocess.Popen[bytes]) -> int:
    """The exit code; a task that is cancelled lets its process save first."""
    try:
        while process.poll() is None:
            time.sleep(_POLL)  # in short turns, for Ray to get a word in
    except BaseException:
        process.terminate()
        process.wait()
        raise
    return process.returncode
