"""A server over made-up runs, and a browser to look at it with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hess.viewer.server import Server
from tests.analysis.fakes import fake_run
from tests.viewer.browser import CHROMIUM, DRIVER, Browser
from tests.viewer.serving import serving


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs that no test changes."""
    root = tmp_path_factory.mktemp("runs")
    fake_run(root, snapshots=3)
    fake_run(root, method="hess-no-potential", snapshots=2)
    return root


@pytest.fixture(scope="session")
def server(runs: Path) -> Iterator[Server]:
    with serving(runs) as server:
        yield server


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("Chromium is not here; Debian and Ubuntu: apt-get install chromium-driver")
    browser = Browser(tmp_path_factory.mktemp("browser"))
    try:
        yield browser
    finally:
        browser.close()
