"""What the server answers, and what it must not."""

from __future__ import annotations

import gzip
import http.client
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hess.errors import HessError
from hess.viewer.server import ADDRESS, Server
from tests.analysis.fakes import fake_run
from tests.viewer.serving import serving

RUN = "PointMaze/hess/seed-0"


def ask(server: Server, path: str, **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(ADDRESS, server.server_address[1], timeout=60)
    try:
        connection.request("GET", path, headers={"Host": "localhost", **headers})
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


def value(server: Server, path: str) -> Any:
    answer, body = ask(server, path)
    assert answer.status == 200, body
    # The browser's parser takes no NaN; neither does this one.
    return json.loads(body, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_only_this_machine_can_connect(server: Server) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:9999", "[::1]:80"])
def test_a_forwarded_port_is_answered(server: Server, host: str) -> None:
    assert ask(server, "/", Host=host)[0].status == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_other_names_for_this_machine_are_refused(server: Server, host: str) -> None:
    answer, body = ask(server, "/api/runs", Host=host)
    assert answer.status == 403
    assert b"PointMaze" not in body


@pytest.mark.parametrize(
    "path",
    [
        "/../secret/config.json",
        "/..%2fsecret%2fconfig.json",
        "/static/../server.py",
        "/server.py",
        "/uplot/../../server.py",
        "/api/run?name=../secret",
        "/api/run?name=..%2fsecret",
        "/api/run?name=/etc",
        "/api/run?name=link",
        "/api/run?name=PointMaze/hess/seed-0/../../../../secret",
        "/api/snapshot?name=PointMaze/hess/seed-0&step=../../x",
        "/api/snapshot?name=PointMaze/hess/seed-0&step=-1",
    ],
)
def test_nothing_outside_the_folder_can_be_read(tmp_path: Path, path: str) -> None:
    fake_run(tmp_path / "runs", snapshots=0)
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "config.json").write_text('{"task": "SECRET", "method": "x", "seed": 0, "steps": 1}')
    (tmp_path / "runs" / "link").symlink_to(secret)
    with serving(tmp_path / "runs") as server:
        answer, body = ask(server, path)
    assert answer.status == 404
    assert b"SECRET" not in body
    assert "error" in json.loads(body)


@pytest.mark.parametrize("name", ["config.json", "eval.csv", "metrics.jsonl"])
def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path, name: str) -> None:
    folder = fake_run(tmp_path / "runs", snapshots=0)
    (tmp_path / "secret").write_text("SECRET\nSECRET\n")
    (folder.path / name).unlink()
    (folder.path / name).symlink_to(tmp_path / "secret")
    with serving(tmp_path / "runs") as server:
        listed = ask(server, "/api/runs")[1]
        answer, body = ask(server, f"/api/run?name={RUN}")
    assert b"SECRET" not in listed + body
    assert answer.status == 404
    assert "a link out of the folder" in json.loads(body)["error"]


def test_nothing_can_be_written(server: Server) -> None:
    connection = http.client.HTTPConnection(ADDRESS, server.server_address[1], timeout=60)
    connection.request("POST", "/api/runs", body=b"{}", headers={"Host": "localhost"})
    assert connection.getresponse().status == 501
    connection.close()


def test_the_page_may_load_nothing_from_elsewhere(server: Server) -> None:
    answer, body = ask(server, "/")
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert b"://" not in body
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_runs_are_listed_with_their_progress(server: Server) -> None:
    rows = {row["name"]: row for row in value(server, "/api/runs")}
    assert set(rows) == {RUN, "PointMaze/hess-no-potential/seed-0"}
    assert rows[RUN]["step"] == rows[RUN]["steps"] == 30_000


def test_a_run_has_plan_curves_and_snapshots(server: Server) -> None:
    run = value(server, f"/api/run?name={RUN}")
    assert run["problems"] == []
    assert run["snapshots"] == [10_000, 20_000, 30_000]
    assert run["plan"]["goal"] == [0, 8]
    assert run["evaluations"][0]["name"] == "success_rate"
    assert all(chart["sentence"] and chart["unit"] for chart in run["diagnostics"])


def test_a_snapshot_has_the_same_points_in_both_maps(server: Server) -> None:
    snapshot = value(server, f"/api/snapshot?name={RUN}&step=20000")
    states = snapshot["states"]
    assert len(states["plane"]) == len(states["space"]) == len(states["cells"]) == 2_000
    assert max(states["cells"]) < len(snapshot["cells"]["visits"])
    trajectory = snapshot["trajectories"][-1]
    assert len(trajectory["active"]) == len(trajectory["subgoals"]) == 10
    assert len(trajectory["plane"]) == len(trajectory["space"])


def test_what_has_not_changed_is_not_sent_again(server: Server) -> None:
    first, body = ask(server, f"/api/run?name={RUN}")
    again, nothing = ask(server, f"/api/run?name={RUN}", **{"If-None-Match": first.headers["ETag"]})
    assert (again.status, nothing) == (304, b"")
    packed, small = ask(server, f"/api/run?name={RUN}", **{"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(small) == body


def test_a_port_in_use_is_named(server: Server, runs: Path) -> None:
    with pytest.raises(HessError, match=r"cannot listen on port .* choose another with --port"):
        Server(runs, server.server_address[1])


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(HessError, match="is not a folder"):
        Server(tmp_path / "nowhere", 0)


def test_the_command_serves_until_it_is_interrupted(runs: Path) -> None:
    command = [sys.executable, "-c", "import sys; from hess.cli import main; sys.exit(main())"]
    process = subprocess.Popen(
        [*command, "view", str(runs), "--port", "0", "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process, process.stdout as printed:
        first = printed.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", first)
        assert found is not None, first
        assert f"ssh -L {found[1]}:127.0.0.1:{found[1]}" in printed.readline()
        connection = http.client.HTTPConnection(ADDRESS, int(found[1]), timeout=60)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
