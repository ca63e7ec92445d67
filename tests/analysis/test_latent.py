"""t-SNE: clusters apart, always the same; and what happens where it is not installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hess.analysis import figures, latent
from hess.cli import main
from hess.runs.run import Run

_MISSING = (
    "the latent figure needs scikit-learn, which is not installed: "
    "pip install '.[tsne]' in a checkout of HESS"
)


@pytest.fixture(scope="module")
def clusters() -> NDArray[np.floating[Any]]:
    """Three groups of 30 points in 20 dimensions, far from each other."""
    rng = np.random.default_rng(0)
    centres = 10.0 * np.eye(3, 20)
    return (centres[:, None] + rng.normal(0, 0.5, (3, 30, 20))).reshape(90, 20)


def test_clusters_stay_apart_and_the_same_points_give_the_same_picture(
    clusters: NDArray[np.floating[Any]],
) -> None:
    placed = latent.embed_in_plane(clusters)
    distances = np.linalg.norm(placed[:, None] - placed, axis=-1)
    np.fill_diagonal(distances, np.inf)
    group = np.arange(90) // 30
    assert (distances.argmin(1) // 30 == group).all()
    own = (group[:, None] == group) & np.isfinite(distances)
    assert distances[group[:, None] != group].min() > 2 * distances[own].mean()
    assert np.array_equal(latent.embed_in_plane(clusters), placed)


def test_equal_points_and_a_line_are_no_problem() -> None:
    line = np.repeat(np.linspace(0, 1, 5)[:, None], 4, axis=0) * np.ones(3)
    assert np.isfinite(latent.embed_in_plane(line)).all()
    assert np.isfinite(latent.embed_in_plane(np.zeros((10, 3)))).all()


def test_where_it_is_not_installed_the_other_figures_are_drawn(
    wide_run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.manifold", None)
    two = {name: figures.RUN_FIGURES[name] for name in ("latent", "curve")}
    monkeypatch.setattr(figures, "RUN_FIGURES", two)
    assert main(["plot", str(wide_run.path), "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"hess: {_MISSING}\n"
    assert [path.name for path in tmp_path.rglob("*.png")] == ["curve.png"]
