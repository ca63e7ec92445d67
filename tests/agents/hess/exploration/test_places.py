"""Divisions of the explored space, and what moves from one to another."""

from __future__ import annotations

import numpy as np

from hess.agents.hess.exploration.cells import CellTable, cell_keys
from hess.agents.hess.exploration.places import GridCells, moved


def test_moving_takes_each_sum_to_where_its_place_lay() -> None:
    table = CellTable()
    # In one dimension, edge 1: cells 0, 1, 2 and -1 with centres 0.5, 1.5, 2.5 and -0.5.
    table.add(cell_keys(np.array([[0.1], [1.2], [2.9], [-0.3]]), 1.0), np.array([1.0, 2, 4, 8]))
    wider = moved(table, GridCells(1, 1.0), GridCells(1, 2.0))
    asked = cell_keys(np.array([[1.0], [3.0], [-1.0], [5.0]]), 2.0)
    assert wider.get(asked).tolist() == [3, 4, 8, 0]
    assert table.get(cell_keys(np.array([[0.5]]), 1.0)).tolist() == [1]


def test_a_cell_is_reached_less_than_an_edge_from_its_middle() -> None:
    cells = GridCells(2, 2.0)
    key = int(cells.keys(np.array([0.1, 0.1])))  # its middle is (1, 1)
    assert cells.reached(key, np.array([-0.9, 2.9]))
    assert not cells.reached(key, np.array([-1.1, 1.0]))
