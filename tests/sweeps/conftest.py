"""What the tests of sweeps share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hess.cli import main
from tests.faults.runs import Outcome
from tests.sweeps.sweeps import Gate, command, outcomes

_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="package", autouse=True)
def environment() -> Iterator[None]:
    """For the programs that a sweep starts: where hess and its tests are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(_ROOT))
        yield


@pytest.fixture(scope="package")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory, environment: None
) -> tuple[Path, dict[str, Outcome]]:
    """A finished sweep that nothing has happened to: its folder, which is not to be changed."""
    runs = tmp_path_factory.mktemp("undisturbed") / "runs"
    assert main(command(runs)) == 0
    return runs, outcomes(runs)


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Runs that are started from now on wait here."""
    monkeypatch.setenv("HESS_TEST_GATE", str(tmp_path / "gate"))
    return Gate(tmp_path / "gate")
