"""t-SNE: neighbourhoods of the wanted size, the right slope, clusters apart, always the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hess.analysis import tsne


@pytest.fixture(scope="module")
def clusters() -> NDArray[np.floating[Any]]:
    """Three groups of 30 points in 20 dimensions, far from each other."""
    rng = np.random.default_rng(0)
    centres = 10.0 * np.eye(3, 20)
    return (centres[:, None] + rng.normal(0, 0.5, (3, 30, 20))).reshape(90, 20)


@pytest.fixture(scope="module")
def placed(clusters: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    return tsne.embed_in_plane(clusters)


def test_clusters_stay_apart(placed: NDArray[np.floating[Any]]) -> None:
    distances = np.sqrt(tsne.squared_distances(placed))
    own = np.arange(90)[:, None] // 30 == np.arange(90) // 30
    np.fill_diagonal(distances, np.inf)
    nearest = distances.argmin(1)
    assert (nearest // 30 == np.arange(90) // 30).all()
    assert distances[~own].min() > 2 * np.where(np.isfinite(distances), distances, 0)[own].mean()


def test_the_same_points_give_the_same_picture(
    clusters: NDArray[np.floating[Any]], placed: NDArray[np.floating[Any]]
) -> None:
    assert np.array_equal(tsne.embed_in_plane(clusters), placed)
    assert not np.array_equal(tsne.embed_in_plane(clusters, seed=1), placed)


def test_every_point_has_as_many_neighbours_as_asked_for(
    clusters: NDArray[np.floating[Any]],
) -> None:
    apart = tsne.squared_distances(clusters)
    direct = ((clusters[3] - clusters[50]) ** 2).sum()
    assert apart[3, 50] == pytest.approx(direct)
    for perplexity in (5.0, 20.0):
        joint = tsne.joint_probabilities(apart, perplexity)
        assert joint.sum() == pytest.approx(1.0, abs=1e-6)
        np.testing.assert_array_equal(joint, joint.T)
    pair = tsne.joint_probabilities(tsne.squared_distances(np.array([[0.0], [1.0], [9.0]])), 1.5)
    assert pair[0, 1] > pair[1, 2] > pair[0, 2]


def test_the_slope_against_differences() -> None:
    rng = np.random.default_rng(1)
    wanted = tsne.joint_probabilities(tsne.squared_distances(rng.normal(size=(6, 4))), 2.0)
    places = rng.normal(size=(6, 2))

    def divergence(places: NDArray[np.floating[Any]]) -> float:
        near = 1 / (1 + tsne.squared_distances(places))
        np.fill_diagonal(near, 0)
        apart = ~np.eye(6, dtype=np.bool_)
        return float((wanted * np.log(wanted / np.where(apart, near / near.sum(), 1)))[apart].sum())

    differences = np.zeros_like(places)
    for place in np.ndindex(places.shape):
        step = np.zeros_like(places)
        step[place] = 1e-6
        differences[place] = (divergence(places + step) - divergence(places - step)) / 2e-6
    np.testing.assert_allclose(tsne.gradient(places, wanted), differences, rtol=1e-4, atol=1e-7)


def test_equal_points_and_a_line_are_no_problem() -> None:
    points = np.repeat(np.linspace(0, 1, 5)[:, None], 4, axis=0)
    assert np.isfinite(tsne.embed_in_plane(points)).all()
    assert np.isfinite(tsne.embed_in_plane(np.zeros((10, 3)))).all()


@pytest.mark.parametrize("count", [2, 1_001])
def test_too_few_or_too_many_points_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"{count} points; 3 to 1000"):
        tsne.embed_in_plane(np.zeros((count, 3)))
