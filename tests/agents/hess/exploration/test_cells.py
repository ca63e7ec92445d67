"""The sparse table over grid cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hess.agents.hess.exploration.cells import CellTable, cell_centres, cell_keys, neighbourhood
from hess.arrays import Floats
from hess.errors import HessError

_points = st.integers(1, 6).flatmap(
    lambda dim: hnp.arrays(
        np.float64, st.tuples(st.integers(1, 20), st.just(dim)), elements=st.floats(-100, 100)
    )
)


@given(_points, st.sampled_from([0.5, 1.0, 3.0, 7.25]))
def test_the_centre_of_a_cell_is_within_half_an_edge_and_has_its_key(
    points: Floats, size: float
) -> None:
    keys = cell_keys(points, size)
    centres = cell_centres(keys, points.shape[1], size)
    assert np.all(np.abs(points - centres) <= size / 2 * (1 + 1e-9))
    assert np.array_equal(cell_keys(centres, size), keys)


def test_points_share_a_key_exactly_when_they_share_a_cell() -> None:
    points = np.array([[0.0, 0.0], [2.9, 2.9], [3.0, 0.0], [-0.1, 0.0], [0.0, 3.1], [2.0, 1.0]])
    keys = cell_keys(points, 3.0)
    assert keys[0] == keys[1] == keys[5]
    assert len(set(keys.tolist())) == 4


def test_keys_keep_the_leading_axes() -> None:
    assert cell_keys(np.zeros((4, 5, 2)), 1.0).shape == (4, 5)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e12])
def test_an_embedding_off_the_grid_is_an_error_that_names_the_limit(bad: float) -> None:
    with pytest.raises(HessError, match=r"outside the grid of ±.* is the representation diverging"):
        cell_keys(np.array([[0.0, bad]]), 3.0)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(-5, 5)), max_size=30),
    st.lists(st.tuples(st.integers(0, 9), st.integers(-5, 5)), max_size=30),
)
def test_a_table_adds_like_a_dictionary(
    first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    table, sums = CellTable(), dict[int, float]()
    for batch in (first, second):
        keys = np.array([key for key, _ in batch], np.int64)
        table.add(keys, np.array([amount for _, amount in batch], np.float64))
        for key, amount in batch:
            sums[key] = sums.get(key, 0.0) + amount
    asked = np.arange(-2, 12)
    assert len(table) == len(sums)
    assert table.get(asked).tolist() == [sums.get(int(key), 0.0) for key in asked]
    assert table.contains(asked).tolist() == [int(key) in sums for key in asked]


def test_get_has_the_shape_of_its_keys() -> None:
    table = CellTable()
    keys = np.array([[1, 2, 3], [3, 4, 1]], np.int64)
    assert table.get(keys).tolist() == [[0, 0, 0], [0, 0, 0]]
    table.add(np.array([1, 3, 3], np.int64), 2.0)
    assert table.get(keys).tolist() == [[2, 0, 4], [4, 0, 2]]


def test_scale_multiplies_all_sums() -> None:
    table = CellTable(np.array([1, 5], np.int64), np.array([2.0, 4.0]))
    table.scale(0.5)
    assert table.get(np.array([1, 5, 7], np.int64)).tolist() == [1.0, 2.0, 0.0]


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_neighbourhood_of_a_cell_is_all_cells_that_touch_it(dim: int) -> None:
    middle = np.full((1, dim), 0.5)
    steps = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * dim), -1).reshape(-1, dim)
    around = neighbourhood(cell_keys(middle, 1.0), dim)
    assert set(around[0]) == set(cell_keys(middle + steps, 1.0))
    assert around.shape == (1, 3**dim)


def test_a_sum_is_shared_out_to_where_its_cells_states_are_now() -> None:
    table = CellTable()
    table.add(np.array([1, 2, 3]), np.array([6.0, 5.0, 9.0]))
    before = np.array([1, 1, 1, 2, 7, -1, 3])
    now = np.array([10, 10, 20, 20, 30, 40, -1])
    carried = table.carried(before, now)
    # Two of the three states of cell 1 are in 10; in 3 there is none that is anywhere now.
    assert carried.get(np.array([10, 20, 30, 40])).tolist() == [4.0, 7.0, 0.0, 0.0]
    assert table.get(np.array([1, 2, 3])).tolist() == [6.0, 5.0, 9.0]
