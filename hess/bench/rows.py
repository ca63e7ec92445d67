"""A row of the table, and the goal that it has to meet."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Goal:
    """A bound on a row's ratio, or on what was measured where there is nothing to compare with."""

    relation: Literal["at least", "at most"]
    value: float
    of: Literal["ratio", "measured"] = "ratio"

    def holds(self, value: float) -> bool:
        """Whether a value is within the bound."""
        return value >= self.value if self.relation == "at least" else value <= self.value


@dataclass(frozen=True)
class Row:
    """One measurement; times are medians over the repetitions."""

    group: str
    name: str
    measured: float
    unit: str
    reference: float | None = None
    """In the same unit as `measured`."""
    reference_name: str = ""
    ratio: float | None = None
    """Of `measured` to `reference` or the other way round; `ratio_name` says which."""
    ratio_name: str = ""
    goal: Goal | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without a goal."""
        if self.goal is None:
            return None
        value = self.ratio if self.goal.of == "ratio" else self.measured
        return value is not None and self.goal.holds(value)

    def to_json(self) -> dict[str, Any]:
        """All fields, and whether the goal is met."""
        return dataclasses.asdict(self) | {"met": self.met}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Row:
        """The row that `to_json` described."""
        fields = {name: value for name, value in values.items() if name != "met"}
        goal = fields["goal"]
        return cls(**fields | {"goal": None if goal is None else Goal(**goal)})
