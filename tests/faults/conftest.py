"""What the tests of faults share."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults import remembering
from tests.faults.runs import Outcome, outcome, path_of, stop_at, tiny_config, train
from tests.faults.tiny_tasks import HORIZON


@pytest.fixture(scope="package", autouse=True)
def method() -> Iterator[None]:
    """The agent of these tests, for no other tests."""
    with remembering.registered():
        yield


@pytest.fixture(scope="package")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled programs, for all programs under test."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="package")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The outcome of the tiny run when nothing happens to it."""
    runs = tmp_path_factory.mktemp("undisturbed")
    train(tiny_config(), runs)
    return outcome(path_of(tiny_config(), runs))


@pytest.fixture(scope="package")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs with the tiny run in them, stopped after 13 of its 20 episodes."""
    runs = tmp_path_factory.mktemp("stopped")
    with stop_at(13 * HORIZON):
        train(tiny_config(), runs)
    return runs


@pytest.fixture
def half(stopped: Path, tmp_path: Path) -> Path:
    """A copy of `stopped` to do as one likes with."""
    shutil.copytree(stopped, tmp_path / "half")
    return tmp_path / "half"


@pytest.fixture
def messages(capsys: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """What was printed since the last call."""
    return lambda: capsys.readouterr().out
