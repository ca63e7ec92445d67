from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hess.envs.layouts import FOUR_ROOMS, PUSH, U_MAZE, Layout
from hess.envs.topdown import TopDownView


def slow_view(layout: Layout, x: float, y: float, block: tuple[float, float] | None) -> Any:
    """The specification, pixel by pixel and block by block."""
    view = np.zeros((5, 5, 3))
    blocks = [(layout.centre(cell), 0) for cell in layout.find("#")]
    if block is not None:
        blocks.append((block, 2))
    for (block_x, block_y), channel in blocks:
        column = 2.5 + (block_x - x) / layout.cell
        row = 2.5 + (block_y - y) / layout.cell
        for i in range(5):
            for j in range(5):
                height = min(i + 1, row + 0.5) - max(i, row - 0.5)
                width = min(j + 1, column + 0.5) - max(j, column - 0.5)
                if height > 0 and width > 0:
                    view[i, j, channel] += height * width
    return view


@pytest.mark.parametrize(("text", "cell"), [(U_MAZE, 4.0), (PUSH, 4.0), (FOUR_ROOMS, 2.0)])
def test_the_view_is_the_slow_one(text: str, cell: float) -> None:
    layout = Layout.parse(text, cell)
    view = TopDownView(layout)
    generator = np.random.default_rng(0)
    xmin, ymin, xmax, ymax = layout.extent
    for _ in range(200):
        x, y = generator.uniform((xmin - 9, ymin - 9), (xmax + 9, ymax + 9))
        block = tuple(generator.uniform(-9, 9, 2)) if layout.block else None
        assert view(x, y, block) == pytest.approx(slow_view(layout, x, y, block), abs=1e-12)


def test_the_view_from_the_start_of_the_corridor() -> None:
    layout = Layout.parse(U_MAZE)
    walls = TopDownView(layout)(0.0, 0.0)[:, :, 0]
    # Rows run north: the free corridor leads east from the middle, walls are south and north of it.
    assert walls.tolist() == [
        [0, 0, 0, 0, 0],
        [0, 1, 1, 1, 1],
        [0, 1, 0, 0, 0],
        [0, 1, 1, 1, 0],
        [0, 1, 0, 0, 0],
    ]


@pytest.mark.parametrize("name", ["PointMaze", "AntMaze", "AntPush", "AntFourRooms"])
def test_images_replace_x_and_y(name: str, build: Any) -> None:
    plain, images = build(name), build(f"{name}Images")
    actions = np.random.default_rng(0).uniform(-1, 1, (30, *plain.action_space.shape))
    plain.reset(seed=0)
    images.reset(seed=0)
    layout = images.unwrapped.layout
    for action in actions:
        numbers = plain.step(action)[0]
        seen, _, _, _, info = images.step(action)
        size = numbers["observation"].size
        assert seen["observation"][:2].tolist() == [0.0, 0.0]
        assert np.array_equal(seen["observation"][2:size], numbers["observation"][2:])
        assert np.array_equal(seen["achieved_goal"], numbers["achieved_goal"])
        x, y = info["xy"]
        expected = slow_view(layout, x, y, info.get("block"))
        assert seen["observation"][size:] == pytest.approx(expected.ravel(), abs=1e-12)
