"""Maze maps as text: '#' wall, '.' free, 'S' start, 'G' goal, 'B' movable block.

The first line is the northern (highest y) row, so a map reads like a picture seen from above.
The centre of the start cell is the origin of the world.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from hess.errors import HessError

if TYPE_CHECKING:
    import numpy as np

POINT_STRIDE = 1.0  # metres per step at full action

WALL, FREE, START, GOAL, BLOCK = "#.SGB"

U_MAZE = """
#####
#G..#
###.#
#S..#
#####
"""

PUSH = """
#####
##G##
#.B.#
#.S##
#####
"""

FOUR_ROOMS = """
###########
#....#...G#
#.........#
#....#....#
#....#....#
##.#####.##
#....#....#
#.........#
#.S..#....#
#....#....#
###########
"""

Cell = tuple[int, int]  # row from the north, column from the west
Rectangle = tuple[float, float, float, float]  # xmin, ymin, xmax, ymax


@dataclass(frozen=True)
class Layout:
    """A checked map; build it with `Layout.parse`."""

    rows: tuple[str, ...]
    cell: float

    @classmethod
    def parse(cls, text: str, cell: float = 4.0) -> Layout:
        """Read and check a map; a bad one raises a sentence that says what is wrong with it."""
        if not text.strip():
            raise HessError("the map is empty; write one line of text per row of cells")
        if not 0 < cell < 1e6:
            raise HessError(f"the cell size must be a positive number of metres, not {cell!r}")
        layout = cls(tuple(line.strip() for line in text.strip().splitlines()), float(cell))
        layout._check_characters()
        layout._check_enclosed()
        if layout.find(GOAL)[0] not in layout.reachable:
            raise HessError(f"no free path leads from start to goal in the map:\n{layout}")
        return layout

    def check_point(self) -> None:
        """Whether the point robot, which moves up to 1 m per step and cannot push, fits the map."""
        if self.block is not None:
            raise HessError("the point cannot push: use the ant on a map with a block 'B'")
        if self.cell <= POINT_STRIDE:
            raise HessError(
                f"cells of {self.cell:g} m are too small for the point, which moves "
                f"{POINT_STRIDE:g} m per step"
            )

    def __str__(self) -> str:
        return "\n".join(self.rows)

    def _check_characters(self) -> None:
        for number, row in enumerate(self.rows, start=1):
            if len(row) != len(self.rows[0]):
                raise HessError(
                    f"row {number} of the map has {len(row)} cells, the first row has "
                    f"{len(self.rows[0])}: {row!r}"
                )
            for character in row:
                if character not in (WALL, FREE, START, GOAL, BLOCK):
                    raise HessError(
                        f"unknown character {character!r} in row {number} of the map; use '#' "
                        "wall, '.' free, 'S' start, 'G' goal, 'B' movable block"
                    )
        for character, name in ((START, "start"), (GOAL, "goal"), (BLOCK, "block")):
            count = len(self.find(character))
            if count == 0 and character != BLOCK:
                raise HessError(f"the map has no {name}: mark one cell with {character!r}")
            if count > 1:
                raise HessError(f"the map has {count} {name} cells {character!r}; at most one fits")

    def _check_enclosed(self) -> None:
        last_row, last_column = len(self.rows) - 1, len(self.rows[0]) - 1
        for row, line in enumerate(self.rows):
            for column, character in enumerate(line):
                on_edge = row in (0, last_row) or column in (0, last_column)
                if on_edge and character != WALL:
                    raise HessError(
                        f"the map is not enclosed by walls: row {row + 1}, column {column + 1} "
                        f"is {character!r}, not '#'"
                    )

    def find(self, characters: str) -> list[Cell]:
        """All cells that hold one of the characters."""
        return [
            (row, column)
            for row, line in enumerate(self.rows)
            for column, character in enumerate(line)
            if character in characters
        ]

    @cached_property
    def start_cell(self) -> Cell:
        return self.find(START)[0]

    @cached_property
    def reachable(self) -> tuple[Cell, ...]:
        """Cells that a robot can get to, moving the block out of its way where there is one."""
        seen, frontier = {self.start_cell}, [self.start_cell]
        while frontier:
            row, column = frontier.pop()
            for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                cell = row + down, column + right
                if cell not in seen and self.rows[cell[0]][cell[1]] != WALL:
                    seen.add(cell)
                    frontier.append(cell)
        return tuple(sorted(seen))

    def centre(self, cell: Cell) -> tuple[float, float]:
        """World coordinates of a cell's centre."""
        row, column = cell
        start_row, start_column = self.start_cell
        return (column - start_column) * self.cell, (start_row - row) * self.cell

    def rectangle(self, first: Cell, last: Cell | None = None) -> Rectangle:
        """World rectangle from the north-western cell to the south-eastern one."""
        half = self.cell / 2
        west, north = self.centre(first)
        east, south = self.centre(last or first)
        return west - half, south - half, east + half, north + half

    @property
    def start(self) -> tuple[float, float]:
        return self.centre(self.start_cell)

    @property
    def goal(self) -> tuple[float, float]:
        return self.centre(self.find(GOAL)[0])

    @property
    def block(self) -> tuple[float, float] | None:
        cells = self.find(BLOCK)
        return self.centre(cells[0]) if cells else None

    @property
    def extent(self) -> Rectangle:
        """The whole map, outer walls included."""
        return self.rectangle((0, 0), (len(self.rows) - 1, len(self.rows[0]) - 1))

    @property
    def interior(self) -> Rectangle:
        """The map without its outer walls."""
        return self.rectangle((1, 1), (len(self.rows) - 2, len(self.rows[0]) - 2))

    @cached_property
    def walls(self) -> tuple[Rectangle, ...]:
        """Few large rectangles that cover exactly the wall cells: less for MuJoCo to test."""
        return tuple(self.rectangle(first, last) for first, last in self._wall_blocks)

    @cached_property
    def deep_walls(self) -> tuple[Rectangle, ...]:
        """The walls, each grown into its neighbours while all that it covers is wall."""
        grown = (self._grow(first, last) for first, last in self._wall_blocks)
        return tuple(dict.fromkeys(self.rectangle(first, last) for first, last in grown))

    def _grow(self, first: Cell, last: Cell) -> tuple[Cell, Cell]:
        (top, west), (bottom, east) = first, last
        while top > 0 and self._all_wall(top - 1, west, top - 1, east):
            top -= 1
        while bottom + 1 < len(self.rows) and self._all_wall(bottom + 1, west, bottom + 1, east):
            bottom += 1
        while west > 0 and self._all_wall(top, west - 1, bottom, west - 1):
            west -= 1
        while east + 1 < len(self.rows[0]) and self._all_wall(top, east + 1, bottom, east + 1):
            east += 1
        return (top, west), (bottom, east)

    def _all_wall(self, top: int, west: int, bottom: int, east: int) -> bool:
        rows = self.rows[top : bottom + 1]
        return all(set(row[west : east + 1]) == {WALL} for row in rows)

    @cached_property
    def _wall_blocks(self) -> tuple[tuple[Cell, Cell], ...]:
        """North-western and south-eastern cell of each rectangle of walls."""
        left = set(self.find(WALL))
        blocks = []
        for row, column in self.find(WALL):
            if (row, column) not in left:
                continue
            width = height = 1
            while (row, column + width) in left:
                width += 1
            while all((row + height, column + i) in left for i in range(width)):
                height += 1
            covered = {(row + j, column + i) for j in range(height) for i in range(width)}
            left -= covered
            blocks.append(((row, column), (row + height - 1, column + width - 1)))
        return tuple(blocks)


def random_free_point(
    layout: Layout, generator: np.random.Generator, clearance: float, taken: str = BLOCK
) -> tuple[float, float]:
    """Uniform over the cells that can be reached and are not `taken`, off their edges."""
    cells = [cell for cell in layout.reachable if layout.rows[cell[0]][cell[1]] not in taken]
    x, y = layout.centre(cells[generator.integers(len(cells))])
    room = max(layout.cell / 2 - clearance, 0.0)
    dx, dy = generator.uniform(-room, room, 2).tolist()
    return x + dx, y + dy
