"""Made-up runs that no test changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from hess.analysis.runs import Run
from tests.analysis.fakes import fake_run


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seeds of a method, one of another, and one with another hyper-parameter."""
    root = tmp_path_factory.mktemp("runs")
    fake_run(root, seed=0, snapshots=3)
    fake_run(root, seed=1, snapshots=0)
    fake_run(root, seed=2, snapshots=0)
    fake_run(root, method="lesson", snapshots=1)
    fake_run(root, seed=0, snapshots=0, exploration__potential_weight=0.5)
    return root


@pytest.fixture
def run(root: Path) -> Run:
    return Run(root / "PointMaze" / "hess" / "seed-0")
