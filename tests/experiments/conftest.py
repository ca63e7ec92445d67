"""What the tests of sweeps share."""

from __future__ import annotations

from pathlib import Path

import pytest

from hess.cli import main
from tests.experiments.sweeps import Gate, command, outcomes
from tests.faults.runs import Outcome

_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="package", autouse=True)
def environment(tmp_path_factory: pytest.TempPathFactory) -> object:
    """For the programs that a sweep starts: where hess and its tests are, and compiled programs."""
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(_ROOT))
        patch.setenv("JAX_COMPILATION_CACHE_DIR", str(cache))
        patch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
        patch.setenv("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
        patch.setenv("MPLCONFIGDIR", str(cache / "matplotlib"))
        yield


@pytest.fixture(scope="package")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory, environment: object
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
