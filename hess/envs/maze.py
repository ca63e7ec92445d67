"""What the point and the ant share in a maze."""

from __future__ import annotations

import numpy as np

from hess.envs.layouts import BLOCK, Layout


def random_free_point(
    layout: Layout, generator: np.random.Generator, clearance: float, taken: str = BLOCK
) -> tuple[float, float]:
    """Uniform over the cells that can be reached and are not `taken`, off their edges."""
    cells = [cell for cell in layout.reachable if layout.rows[cell[0]][cell[1]] not in taken]
    x, y = layout.centre(cells[generator.integers(len(cells))])
    room = max(layout.cell / 2 - clearance, 0.0)
    dx, dy = generator.uniform(-room, room, 2).tolist()
    return x + dx, y + dy
