"""Every estimator of visits against exact counts, on made-up densities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from hess.agents.hess.exploration.visits import ESTIMATORS, Visits
from hess.arrays import Floats
from hess.errors import HessError

SIZES = {1: 1.0, 2: 2.0, 3: 2.5, 4: 3.0, 8: 6.0, 16: 12.0}  # in which counts are neither 1 nor all


def made_up(dim: int, count: int = 30_000) -> Floats:
    """Three clouds of different weight and width, and a thin rest."""
    rng = np.random.default_rng(dim)
    centres = rng.uniform(-10, 10, (3, dim))
    parts = [
        centre + width * rng.normal(size=(int(share * count), dim))
        for centre, width, share in zip(centres, (1.5, 3.0, 5.0), (0.5, 0.3, 0.15), strict=True)
    ]
    rest = rng.uniform(-15, 15, (count - sum(map(len, parts)), dim))
    return rng.permutation(np.concatenate([*parts, rest]))


def exact(points: Floats, asked: Floats, size: float) -> Floats:
    """Points in the box of that size around each."""
    return np.array([(np.abs(points - each).max(-1) < size / 2).sum() for each in asked])


def counted(name: str, points: Floats, size: float) -> Visits:
    visits = Visits(ESTIMATORS[name], points.shape[-1], size)
    visits.divide(points, size)
    visits.recount(points)
    return visits


ASKED = [(name, dim) for name in ESTIMATORS for dim in (1, 2, 3, 4, 8, 16)]


@pytest.mark.parametrize(  # a grid is for few dimensions
    ("name", "dim"), [(name, dim) for name, dim in ASKED if name != "grid" or dim <= 5]
)
def test_the_order_of_counts_is_that_of_exact_ones(name: str, dim: int) -> None:
    points, size = made_up(dim), SIZES[dim]
    asked = points[:200]
    visits = counted(name, points, size)
    least = 0.9 if dim <= 4 else 0.7
    once = spearmanr(visits.counts.at(visits.places, asked), exact(points, asked, size))
    assert once.statistic >= least
    if dim <= 8:  # beyond, three cells are as wide as all there is
        around = visits.counts.around(visits.places, asked)
        assert spearmanr(around, exact(points, asked, 3 * size)).statistic >= least


@pytest.mark.parametrize("name", ["hashed", "neighbours"])
def test_memory_does_not_depend_on_what_was_visited(name: str) -> None:
    def memory(dim: int, count: int) -> int:
        arrays = counted(name, made_up(dim, count), 0.5).state().values()
        return sum(np.asarray(array).nbytes for array in arrays)

    assert memory(16, 20_000) <= 1.2 * memory(16, 2_000)
    assert memory(16, 20_000) < 12_000_000


def test_the_hashed_grid_has_the_counts_of_the_grid() -> None:
    points = made_up(4)
    grid, hashed = (counted(name, points, 3.0) for name in ("grid", "hashed"))
    asked = points[:500]
    one, other = (each.counts.at(each.places, asked) for each in (grid, hashed))
    assert (one == other).mean() > 0.99  # two hashes rarely collide both
    assert (other >= one).all()
    assert hashed.counts.at(hashed.places, np.full((1, 4), 99.0)).tolist() == [0]


def test_blocks_of_the_hashed_grid_are_a_cell_and_what_touches_it() -> None:
    visits = Visits(ESTIMATORS["hashed"], 1, 1.0)
    visits.add(np.array([[0.5], [1.5], [1.5], [2.5]]))
    # 4.5 is near no landmark; its blocks begin at cells 3, 2 and 4 and have 0, 1 and 0 visits.
    around = visits.counts.around(visits.places, np.array([[1.5], [4.5], [9.5]]))
    # 1.5 is one size from two landmarks. The blocks of 0.5, 1.5 and 2.5 have 4, 3, 1, then 4, 3, 3,
    # then 4, 3, 1.
    near, far = 1.0, 0.75
    middle = (near * 10 / 3 + 2 * far * 8 / 3) / (near + 2 * far)
    np.testing.assert_allclose(around, [middle, 1 / 3, 0])


def test_neighbours_weigh_landmarks_by_their_distance() -> None:
    visits = Visits(ESTIMATORS["neighbours"], 1, 1.0)
    visits.add(np.array([[0.0]] * 8 + [[1.0]] * 2))
    at = visits.counts.at(visits.places, np.array([[0.0], [0.5], [1.0], [2.9], [5.0]]))
    whole, half, one = 1.0, (1 - 0.25**2) ** 2, (1 - 0.5**2) ** 2
    late = (1 - 0.95**2) ** 2 * 2
    expected = [8 * whole + 2 * one, 10 * half, 2 * whole + 8 * one, late, 0]
    np.testing.assert_allclose(at, expected)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_checkpoint_has_all_of_it(name: str) -> None:
    points = made_up(2, 500)
    visits = counted(name, points, 2.0)
    visits.add(points[:50] + 20.0)
    other = Visits(ESTIMATORS[name], 2, 7.0)
    other.restore({key: np.asarray(array) for key, array in visits.state().items()})
    for each in (visits, other):
        each.add(points[50:90] - 30.0)
    asked = np.concatenate([points[:50] + 20.0, points[:50] - 30.0])
    one, two = (each.counts.at(each.places, asked) for each in (visits, other))
    assert one.tolist() == two.tolist()
    assert one.max() > 0
    assert visits.number == other.number


def test_a_grid_of_many_dimensions_is_refused() -> None:
    with pytest.raises(HessError, match="counts=grid divides at most 5 directions of φ, not 8"):
        Visits(ESTIMATORS["grid"], 8, 1.0)
