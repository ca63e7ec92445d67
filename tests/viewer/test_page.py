"""The page in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

from hess.viewer.server import Server
from tests.analysis.fakes import (
    fake_run,
    in_more_dimensions,
    snapshot,
    write_arrays,
    write_metrics,
    write_snapshot,
)
from tests.viewer.browser import Browser
from tests.viewer.serving import serving

RUN = "PointMaze/hess/seed-0"
OTHER = "PointMaze/hess-no-potential/seed-0"
LEFT, RIGHT, HOME, END = "\ue012", "\ue014", "\ue011", "\ue010"  # WebDriver's codes


class Page:
    """The page as a person sees it."""

    def __init__(self, browser: Browser, server: Server):
        self.browser, self.server = browser, server

    def open(self, first: str = RUN, second: str = "") -> None:
        self.browser.console()
        self.browser.open(f"{self.server.url}#first={quote(first, '')}&second={quote(second, '')}")

    def wait_for_step(self, step: int, place: int = 0) -> None:
        script = "return document.querySelectorAll('.run')[arguments[0]]?.dataset.step"
        self.wait(lambda: self.run(script, place) == str(step), f"the maps of step {step}")

    def wait(self, condition: Any, what: str) -> Any:
        return self.browser.wait_for(condition, what)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.browser.run(script, *arguments)

    def text(self, selector: str) -> str:
        found = "return document.querySelector(arguments[0])?.innerText ?? ''"
        return str(self.run(found, selector))

    def map(self, kind: str, place: int = 0) -> str:
        script = (
            "return document.querySelectorAll('canvas.' + arguments[0])[arguments[1]].toDataURL()"
        )
        return str(self.run(script, kind, place))

    def colours(self, kind: str) -> int:
        """How many different colours a map has."""
        script = """
            const canvas = document.querySelector("canvas." + arguments[0]);
            const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            return new Set(new Uint32Array(data.buffer)).size;"""
        return int(self.run(script, kind))


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    page = Page(browser, server)
    yield page
    loud = [line for line in browser.console() if line.startswith(("SEVERE", "WARNING"))]
    assert not loud, loud


def test_it_shows_a_run(page: Page) -> None:
    page.open()
    page.wait_for_step(30_000)
    assert "hess on PointMaze" in page.text(".run h2")
    assert page.text("#step") == "step 30,000"
    assert page.text("#status") == "finished, 30k steps"
    assert page.colours("plane") > 100
    assert page.colours("space") > 100
    charts = page.run("return [...document.querySelectorAll('.chart')].map((c) => c.dataset.name)")
    assert charts[0] == "success"
    assert "train/coverage" in charts
    assert page.run("return document.querySelector('.chart canvas').width") > 300


def test_the_slider_changes_the_picture(page: Page) -> None:
    page.open()
    page.wait_for_step(30_000)
    plane, space = page.map("plane"), page.map("space")
    page.run("""
        const slider = document.getElementById("slider");
        slider.value = 0;
        slider.dispatchEvent(new Event("input"));""")
    page.wait_for_step(10_000)
    assert page.text("#step") == "step 10,000"
    assert page.map("plane") != plane
    assert page.map("space") != space
    assert not page.run("return document.getElementById('follow').checked")


def test_everything_works_from_the_keyboard(page: Page) -> None:
    page.open()
    page.wait_for_step(30_000)
    page.browser.press(HOME)
    page.wait_for_step(10_000)
    page.browser.press(RIGHT)
    page.wait_for_step(20_000)
    page.browser.press(LEFT)
    page.wait_for_step(10_000)
    page.browser.press(" ")
    assert page.run("return document.getElementById('play').ariaPressed") == "true"
    page.wait_for_step(30_000)  # it plays to the end
    page.run("document.querySelector('canvas.plane').focus()")
    page.browser.press(RIGHT)
    assert "newest trajectory" in page.text(".point")
    theme = "return document.documentElement.dataset.theme"
    before = page.run(theme)
    page.browser.press("t")
    assert page.run(theme) != before
    page.browser.press("t")
    assert page.run(theme) == before


def test_pointing_at_one_map_marks_the_same_state_in_the_other(page: Page) -> None:
    page.open()
    page.wait_for_step(30_000)
    space = page.map("space")
    x, y = page.run("""
        const box = document.querySelector("canvas.plane").getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height * 0.8];""")
    for away in range(0, 60, 6):  # somewhere along this line there is a state
        page.browser.point_at(x + away, y)
        if page.text(".point"):
            break
    assert "φ (" in page.text(".point")
    assert page.map("space") != space


def test_layers_can_be_switched(page: Page) -> None:
    page.open()
    page.wait_for_step(30_000)
    seen = {page.map("plane")}
    for name in ("visits", "trajectories", "subgoals", "states"):
        page.run("document.querySelector(`[name=${arguments[0]}]`).click()", name)
        seen.add(page.map("plane"))
    assert len(seen) == 5


def test_two_runs_side_by_side(page: Page) -> None:
    page.open(RUN, OTHER)
    page.wait_for_step(30_000, 0)
    page.wait_for_step(30_000, 1)
    titles = page.run("return [...document.querySelectorAll('.run h2')].map((h) => h.innerText)")
    assert "hess on PointMaze" in titles[0]
    assert "hess-no-potential on PointMaze" in titles[1]
    assert page.map("plane", 0) != page.map("plane", 1)
    page.browser.press(HOME)  # the other run has its first snapshot later: it shows that
    page.wait_for_step(10_000, 0)
    page.wait_for_step(15_000, 1)
    assert "no-potential" in page.text(".chart.wide .keys")


@pytest.mark.parametrize(("width", "height"), [(1600, 1000), (1024, 768), (420, 800)])
def test_it_fits_any_window(page: Page, width: int, height: int) -> None:
    page.browser.resize(width, height)
    page.open(RUN, OTHER)
    page.wait_for_step(30_000, 1)
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.run(overflow) <= 0
    assert page.run("return document.querySelector('canvas.plane').clientHeight") > 150
    page.browser.resize(1280, 900)


def test_it_follows_a_run_that_trains(browser: Browser, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    folder = fake_run(tmp_path, snapshots=0, episodes=40)
    folder.metrics_file.write_text("")
    with serving(tmp_path) as server:
        page = Page(browser, server)
        page.open()
        page.wait(lambda: "no snapshots yet" in page.text(".problems"), "a message")
        write_metrics(folder, rng, range(1, 11), 40)
        write_snapshot(folder, rng, 5_000, 0.25)
        page.wait_for_step(5_000)
        page.wait(lambda: page.text("#status") == "training, 5k of 20k steps", "the status")
        assert page.text(".problems") == ""
        write_metrics(folder, rng, range(11, 21), 40)
        write_snapshot(folder, rng, 10_000, 0.5)
        page.wait_for_step(10_000)
        page.browser.press(HOME)  # looking back is not disturbed by what comes in
        write_snapshot(folder, rng, 15_000, 0.75)
        page.wait(lambda: page.run("return document.getElementById('slider').max") == "2", "it")
        page.wait_for_step(5_000)
    assert not [line for line in browser.console() if "SEVERE" in line]


def test_a_half_written_run_shows_a_message(browser: Browser, tmp_path: Path) -> None:
    folder = fake_run(tmp_path, snapshots=0)
    folder.config_file.write_text('{"task": "Poi')
    with serving(tmp_path) as server:
        page = Page(browser, server)
        page.open()
        page.wait(lambda: "cannot read" in page.text(".problems"), "the problem")
        assert page.text(".run h2").startswith("damaged run")


def test_a_damaged_snapshot_shows_a_message_and_the_others_still_work(
    browser: Browser, tmp_path: Path
) -> None:
    folder = fake_run(tmp_path, snapshots=2)
    (folder.snapshots / "000030000.safetensors").write_bytes(b"half a snapsh")
    with serving(tmp_path) as server:
        page = Page(browser, server)
        page.open()
        page.wait(lambda: "000030000" in page.text(".problems"), "the problem")
        page.browser.press(HOME)
        page.wait_for_step(15_000)
        assert page.text(".problems") == ""
        assert page.colours("plane") > 100


def test_more_dimensions_are_named_and_linked_with_the_maze(
    browser: Browser, tmp_path: Path
) -> None:
    folder, rng = fake_run(tmp_path, snapshots=0), np.random.default_rng(0)
    write_arrays(folder, 15_000, in_more_dimensions(snapshot(rng, 0.5), 3))
    with serving(tmp_path) as server:
        page = Page(browser, server)
        page.open()
        page.wait_for_step(15_000)
        assert "φ, d = 3, along its two explored directions" in page.text(".run .maps")
        seen = page.map("space")
        page.run("document.querySelector('[name=states]').click()")
        page.run("document.getElementById('colour').value = 'visits'")
        page.run("document.getElementById('colour').dispatchEvent(new Event('change'))")
        assert page.map("space") != seen
        before = page.map("space")
        page.run("document.querySelector('canvas.plane').focus()")
        page.browser.press(RIGHT)
        assert "φ (" in page.text(".point")
        assert page.map("space") != before
    assert not [line for line in browser.console() if "SEVERE" in line]


def test_an_empty_folder_shows_a_message(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        page = Page(browser, server)
        page.open()
        page.wait(lambda: "no run in this folder" in page.text("#message"), "the message")


def test_a_server_that_has_gone_is_noticed(browser: Browser, tmp_path: Path) -> None:
    fake_run(tmp_path, snapshots=1)
    with serving(tmp_path) as server:
        page = Page(browser, server)
        page.open()
        page.wait_for_step(30_000)
    page.wait(lambda: "No answer" in page.text("#message"), "the message")
    browser.console()
