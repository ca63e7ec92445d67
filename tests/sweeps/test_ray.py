"""Sweeps on a real Ray instance: machines and workers that are lost change nothing."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hess.cli import main
from hess.runs.folder import RunFolder
from hess.sweeps import ray
from hess.sweeps.worker import Job
from tests.faults.runs import Outcome
from tests.sweeps.gated_tasks import await_text
from tests.sweeps.sweeps import Gate, command, outcomes, tiny_plan

Undisturbed = tuple[Path, dict[str, Outcome]]
_STORE = 80 * 2**20  # bytes; Ray wants no less


def parent(pid: int) -> int:
    """Of a process."""
    found = subprocess.run(
        ["ps", "-o", "ppid=", "-p", str(pid)], capture_output=True, text=True, check=True
    )
    return int(found.stdout)


# --- bad input: needs no Ray --------------------------------------------------------------------


def error_of(capsys: pytest.CaptureFixture[str], runs: Path, *flags: str) -> str:
    assert main(command(runs, 1, "--ray", *flags)) == 2
    assert not (runs / "sweep.json").exists()
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


def test_without_ray_the_extra_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray, "find_spec", lambda _: None)
    error = error_of(capsys, tmp_path / "runs")
    assert "Ray, which is not installed: pip install '.[ray]'" in error


@pytest.mark.parametrize("address", ["auto", "head", "head:", "ray://head:10001", ":6379"])
def test_an_address_is_a_host_and_a_port(
    address: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ray, "find_spec", lambda _: True)
    error = error_of(capsys, tmp_path / "runs", "--ray-address", address)
    assert f"{address!r} is no address of a Ray cluster; it looks like HOST:6379" in error


def test_an_address_that_nobody_answers_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray, "find_spec", lambda _: True)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound, but not listening
        address = f"127.0.0.1:{closed.getsockname()[1]}"
        error = error_of(capsys, tmp_path / "runs", "--ray-address", address)
    assert f"cannot reach a Ray cluster at {address!r} within 10 s: Connection refused" in error


def test_resources_decide_how_many_runs_fit() -> None:
    assert ray.room({"CPU": 5.0}, cores=2, gpus=0.0) == 2
    assert ray.room({"CPU": 8.0, "GPU": 1.0}, cores=1, gpus=0.25) == 4
    assert ray.room({"CPU": 8.0}, cores=1, gpus=0.25) == 0


def test_a_machine_that_does_not_see_the_sweep_says_so(tmp_path: Path) -> None:
    job = Job([], str(tmp_path / "task" / "sac" / "seed-0"), 1)
    problem = ray.train(job.as_text(), str(tmp_path), {"folder": "", "path": ""})
    assert f"does not see the sweep in {str(tmp_path)!r}" in problem


# --- on Ray ---------------------------------------------------------------------------------------


@pytest.fixture
def nodes(gate: Gate) -> Iterator[Any]:
    """A cluster of a head, which runs nothing, and two machines with a core each."""
    pytest.importorskip("ray", reason="Ray is not installed; make test-ray installs it")
    from ray.cluster_utils import Cluster

    started: Any = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 0, "include_dashboard": False, "object_store_memory": _STORE},
    )
    for _ in range(2):
        started.add_node(num_cpus=1, object_store_memory=_STORE)
    yield started
    started.shutdown()


@pytest.mark.ray
def test_a_lost_worker_and_a_lost_machine_change_nothing(
    undisturbed: Undisturbed,
    gate: Gate,
    nodes: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def kill_worker(pid: int) -> None:
        os.kill(parent(pid), signal.SIGKILL)

    def remove_machine(pid: int) -> None:
        raylet = parent(parent(pid))
        machines = {
            machine.all_processes["raylet"][0].process.pid: machine
            for machine in nodes.worker_nodes
        }
        nodes.remove_node(machines[raylet], allow_graceful=False)

    meetings = [gate.meet(kill_worker), gate.meet(remove_machine)]
    runs = tmp_path / "runs"
    assert main(command(runs, 2, "--ray", "--ray-address", nodes.address)) == 0
    for meeting in meetings:
        meeting.join()
    assert capsys.readouterr().out.endswith("2 done of 2 runs\n")
    assert outcomes(runs) == undisturbed[1]


@pytest.mark.ray
def test_a_local_instance_is_our_own_and_can_be_stopped(
    undisturbed: Undisturbed,
    gate: Gate,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("ray", reason="Ray is not installed; make test-ray installs it")
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")  # not to be followed
    runs = tmp_path / "runs"
    log = RunFolder(tiny_plan(1)[0].path(runs)).log_file

    def stop(_: int) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        await_text(log, "stopping when this round is learned")

    meeting = gate.meet(stop)
    assert main(command(runs, 1, "--ray")) == 128 + signal.SIGTERM
    meeting.join()
    assert "1 stopped of 1 runs" in capsys.readouterr().out
    assert main(command(runs, 1, "--ray")) == 0
    (key,) = outcomes(runs, 1)
    assert outcomes(runs, 1)[key] == undisturbed[1][key]
