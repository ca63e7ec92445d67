from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hess.envs.floorplan import FloorPlan
from hess.envs.layouts import FOUR_ROOMS, PUSH, U_MAZE, WALL, Layout
from hess.errors import HessError


def free_centres(layout: Layout) -> set[tuple[float, float]]:
    return {layout.centre(cell) for cell in layout.find(".SGB")}


def test_the_corridor_is_the_papers() -> None:
    layout = Layout.parse(U_MAZE)
    corridor = {(0, 0), (4, 0), (8, 0), (8, 4), (8, 8), (4, 8), (0, 8)}
    assert free_centres(layout) == corridor
    assert (layout.start, layout.goal) == ((0.0, 0.0), (0.0, 8.0))
    assert layout.interior == (-2.0, -2.0, 10.0, 10.0)


def test_the_push_map_is_the_papers() -> None:
    layout = Layout.parse(PUSH)
    assert free_centres(layout) == {(0, 0), (-4, 0), (-4, 4), (4, 4), (0, 8), (0, 4)}
    assert (layout.start, layout.goal, layout.block) == ((0.0, 0.0), (0.0, 8.0), (0.0, 4.0))


def test_four_rooms_have_walls_at_6_and_four_doors() -> None:
    layout = Layout.parse(FOUR_ROOMS, cell=2.0)
    plan = FloorPlan.of_layout(layout)
    assert layout.interior == (-3.0, -3.0, 15.0, 15.0)
    assert (layout.start, layout.goal) == ((0.0, 0.0), (14.0, 14.0))
    doors = {(6.0, 2.0), (6.0, 12.0), (0.0, 6.0), (12.0, 6.0)}
    along = np.arange(-2.0, 15.0, 2.0)
    on_walls = [(6.0, y) for y in along] + [(x, 6.0) for x in along]
    assert {point for point in on_walls if plan.is_free(point)} == doors
    for x, y in doors:  # 2 m wide, centred: free up to 1 m to both sides, solid beyond
        step = (0.0, 1.0) if x == 6.0 else (1.0, 0.0)
        for sign in (-1, 1):
            assert plan.is_free((x + 0.99 * sign * step[0], y + 0.99 * sign * step[1]))
            assert not plan.is_free((x + 1.01 * sign * step[0], y + 1.01 * sign * step[1]))


@st.composite
def maps(draw: st.DrawFn) -> str:
    height, width = draw(st.integers(1, 6)), draw(st.integers(2, 6))
    cells = draw(st.lists(st.sampled_from("#."), min_size=height * width, max_size=height * width))
    cells[:2] = "SG"
    rows = ["".join(cells[i * width : (i + 1) * width]) for i in range(height)]
    edge = "#" * (width + 2)
    return "\n".join([edge, *(f"#{row}#" for row in rows), edge])


@settings(deadline=None, max_examples=100)
@given(text=maps(), cell=st.sampled_from([1.0, 2.0, 4.0]))
def test_merged_walls_cover_the_wall_cells_exactly_once(text: str, cell: float) -> None:
    layout = Layout.parse(text, cell)
    for row, line in enumerate(layout.rows):
        for column, character in enumerate(line):
            x, y = layout.centre((row, column))
            covered = sum(a < x < c and b < y < d for a, b, c, d in layout.walls)
            assert covered == (character == WALL)
            deep = any(a < x < c and b < y < d for a, b, c, d in layout.deep_walls)
            assert deep == (character == WALL)


def test_few_boxes() -> None:
    assert len(Layout.parse(U_MAZE).walls) <= 6
    assert len(Layout.parse(FOUR_ROOMS).walls) <= 12


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the map is empty"),
        ("####\n#G.#\n####", "the map has no start: mark one cell with 'S'"),
        ("####\n#S.#\n####", "the map has no goal: mark one cell with 'G'"),
        ("#####\n#SSG#\n#####", "the map has 2 start cells"),
        ("#####\n#SGG#\n#####", "the map has 2 goal cells"),
        ("######\n#SBBG#\n######", "the map has 2 block cells"),
        ("####\n#SG.\n####", "not enclosed by walls: row 2, column 4 is '.'"),
        ("####\n#SG#\n#..#", "not enclosed by walls: row 3, column 2"),
        ("####\n#SG#\n###", "row 3 of the map has 3 cells, the first row has 4"),
        ("####\n#SX#\n#G.#\n####", "unknown character 'X' in row 2"),
        ("#####\n#S#G#\n#####", "no free path leads from start to goal"),
    ],
)
def test_a_bad_map_is_named(text: str, sentence: str) -> None:
    with pytest.raises(HessError, match=re.escape(sentence)):
        Layout.parse(text)


@pytest.mark.parametrize("cell", [0.0, -1.0, float("nan"), float("inf")])
def test_a_bad_cell_size_is_named(cell: float) -> None:
    with pytest.raises(HessError, match="cell size must be a positive number"):
        Layout.parse(U_MAZE, cell)


def test_floor_plan_tells_free_from_solid() -> None:
    plan = FloorPlan.of_layout(Layout.parse(U_MAZE))
    points = np.array([[0, 0], [0, 4], [8, 4], [-3, 0], [0, 8], [20, 0]])
    assert plan.is_free(points).tolist() == [True, False, True, False, True, False]
