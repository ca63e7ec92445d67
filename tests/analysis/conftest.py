"""Made-up runs that no test changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hess.runs.run import Run
from tests.analysis.fakes import (
    fake_run,
    in_more_dimensions,
    snapshot,
    without_measures,
    write_arrays,
)


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


@pytest.fixture(scope="session")
def wide_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with a latent space of five dimensions and nothing measured in it."""
    folder = fake_run(tmp_path_factory.mktemp("wide"), method="fun", snapshots=0)
    arrays = snapshot(np.random.default_rng(0), 1.0)
    write_arrays(folder, 30_000, without_measures(arrays, 5))
    return Run(folder.path)


@pytest.fixture(scope="session")
def deep_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with a φ of three dimensions, of which two are divided into cells: the default."""
    folder = fake_run(tmp_path_factory.mktemp("deep"), snapshots=0)
    rng = np.random.default_rng(0)
    for number in (1, 2, 3):
        arrays = in_more_dimensions(snapshot(rng, number / 3), 3)
        write_arrays(folder, 10_000 * number, arrays)
    return Run(folder.path)
