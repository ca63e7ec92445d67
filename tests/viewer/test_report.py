"""The report: one file, complete, that loads nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hess.analysis.explained import DIAGNOSTICS
from hess.cli import main
from hess.runs.run import Run, find_runs
from hess.viewer.report import joined_modules, write_report
from tests.analysis.fakes import fake_run
from tests.viewer.browser import Browser


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = fake_run(tmp_path_factory.mktemp("runs"), snapshots=14)
    folder.videos.mkdir()
    (folder.videos / "last.mp4").write_bytes(b"not really a video")
    return Run(folder.path)


@pytest.fixture(scope="module")
def report(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out") / "report.html"
    write_report([run], out)
    return out


def test_it_is_small_and_complete(report: Path) -> None:
    assert report.stat().st_size < 5_000_000
    text = report.read_text()
    assert "hess train PointMaze --seed 0 --steps 30000" in text
    assert "exploration.potential_weight" in text
    assert DIAGNOSTICS["train/coverage"].sentence in text
    assert "data:video/mp4;base64," in text
    for title in ("The measures at the end", "The representation over time", "Subgoals at the end"):
        assert title in text


def test_it_refers_to_nothing_outside(report: Path) -> None:
    text = report.read_text()
    assert "default-src 'none'" in text
    assert not re.findall(r"""(?:src|href)=["'](?!data:)[^"']*["']""", text)
    assert "@import" not in text
    assert "url(" not in text


def test_snapshots_are_thinned_to_a_dozen(report: Path) -> None:
    found = re.search(r'id="data">(.*?)</script>', report.read_text(), re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    (overview,) = data["runs"].values()
    assert len(overview["snapshots"]) == 12
    assert overview["snapshots"][-1] == 30_000


def test_it_opens_without_a_server(browser: Browser, report: Path) -> None:
    browser.console()
    browser.open(report.as_uri())
    step = "return document.querySelector('.run')?.dataset.step"
    browser.wait_for(lambda: browser.run(step) == "30000", "the maps")
    picture = "return document.querySelector('canvas.plane').toDataURL()"
    before = browser.run(picture)
    browser.press("\ue011")  # home
    browser.wait_for(lambda: browser.run(step) != "30000", "another moment")
    assert browser.run(picture) != before
    loaded = browser.run("return performance.getEntriesByType('resource').map((e) => e.name)")
    assert [name for name in loaded if not name.startswith("data:")] == []
    errors = [line for line in browser.console() if line.startswith("SEVERE")]
    # The made-up video is no video; that is the only complaint.
    assert [line for line in errors if "video" not in line] == []


def test_what_strangers_wrote_is_text(tmp_path: Path) -> None:
    folder = fake_run(tmp_path / "runs", snapshots=1)
    values = json.loads(folder.config_file.read_text())
    evil = "</script><script>alert(1)</script>"
    folder.config_file.write_text(json.dumps(values | {"method": evil, "low": {"x": evil}}))
    write_report([Run(folder.path)], tmp_path / "report.html")
    assert evil not in (tmp_path / "report.html").read_text()
    assert "<script>alert" not in (tmp_path / "report.html").read_text()


def test_a_video_that_is_a_link_is_not_embedded(tmp_path: Path) -> None:
    folder = fake_run(tmp_path / "runs", snapshots=0, episodes=4)
    folder.videos.mkdir()
    (tmp_path / "secret").write_text("of somebody else")
    (folder.videos / "last.mp4").symlink_to(tmp_path / "secret")
    write_report([Run(folder.path)], tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "data:video/mp4" not in text
    assert "cannot read" in text


def test_an_unknown_origin_is_said(tmp_path: Path) -> None:
    folder = fake_run(tmp_path / "runs", snapshots=0, episodes=4)
    folder.metadata_file.unlink()
    write_report([Run(folder.path)], tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "where it was trained is not known" in text
    assert "commit None" not in text


def test_many_runs_are_compared(tmp_path: Path) -> None:
    fake_run(tmp_path / "runs", seed=0, snapshots=1)
    fake_run(tmp_path / "runs", seed=1, snapshots=0)
    fake_run(tmp_path / "runs", method="lesson", snapshots=1)
    write_report(find_runs([tmp_path / "runs"]), tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert text.count("<tr><td>PointMaze</td>") == 3
    assert "PointMaze · lesson · seed-0" in text
    assert "Methods" in text
    assert "Subgoals, PointMaze" in text


def test_the_command_says_where_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = fake_run(tmp_path, snapshots=0, episodes=4)
    assert main(["report", str(folder.path)]) == 0
    assert f"report  {folder.path / 'report.html'}" in capsys.readouterr().out


def test_modules_are_joined_in_the_order_they_need_each_other() -> None:
    script = joined_modules("app.js")
    assert "import {" not in script
    assert "export " not in script
    order = re.findall(r'^modules\["(\w+\.js)"\] =', script, re.MULTILINE)
    assert order.index("colours.js") < order.index("map.js") < order.index("runview.js")
    assert order[-1] == "app.js"
    assert "fetch(" not in script
