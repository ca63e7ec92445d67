"""The paper's sensitivity studies: which field takes which values, all else as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hess.errors import unknown


@dataclass(frozen=True)
class Grid:
    """A row of `hess methods --grids`."""

    name: str
    symbol: str
    field: str
    """Dotted, as in a config override."""
    values: tuple[Any, ...]
    section: str
    """Where the paper varies it."""
    chosen: bool = False
    """The paper shows the values in a figure only: these are ours, around the one it settled on."""

    def overrides(self) -> list[dict[str, Any]]:
        """A config override for each value."""
        return [{self.field: value} for value in self.values]


_ROWS = (
    Grid(
        "potential-weight",
        "α",
        "exploration.potential_weight",
        (0.003, 0.01, 0.03, 0.1, 0.3),
        "5.5",
        chosen=True,
    ),
    Grid("extension", "d_e", "exploration.extension", (2.0, 5.0, 10.0, 20.0), "5.5", chosen=True),
    Grid(
        "stable-fraction",
        "k%",
        "representation.stable_fraction",
        (0.1, 0.3, 0.5, 0.8),
        "5.5",
        chosen=True,
    ),
    Grid("subgoal-interval", "c", "subgoal_interval", (10, 20, 50, 100), "5.5"),
    Grid("representation-interval", "I", "representation.interval", (50, 100, 150, 500), "E.1"),
    Grid("capacity", "bs", "capacity", (200_000, 1_000_000, 2_000_000), "E.1"),
    Grid("probability", "p₀", "exploration.probability", (0.3, 0.5, 0.7), "E.1"),
    Grid("subgoal-radius", "r_g", "subgoal_radius", (10.0, 20.0), "B"),
    Grid("cell-size", "grid size", "exploration.cell_size", (2.0, 3.0, 5.0, 8.0), "B"),
    Grid("high-reward-scale", "high reward scale", "high.reward_scale", (1.0, 0.1), "B"),
    Grid("low-reward-scale", "low reward scale", "low.reward_scale", (1.0, 0.1), "B"),
    Grid("minibatches", "m", "representation.minibatches", (10_000, 50_000), "B"),
    Grid("reactive-novelty", "η₁", "intrinsic.novelty_weight", (10.0, 100.0, 1_000.0), "B"),
    Grid("reactive-potential", "η₂", "intrinsic.potential_weight", (10.0, 100.0, 1_000.0), "B"),
)

GRIDS = {row.name: row for row in _ROWS}


def grid(name: str) -> Grid:
    """The row of that name."""
    if name not in GRIDS:
        raise unknown("grid", name, GRIDS)
    return GRIDS[name]
