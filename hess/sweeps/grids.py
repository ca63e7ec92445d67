"""The paper's hyper-parameters: those that it varies, and Table 1, made from the presets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hess.config import flat_fields
from hess.config.presets import preset
from hess.config.subgoals import MOST_DIMENSIONS


@dataclass(frozen=True)
class Grid:
    """A row of `hess methods --grids`."""

    symbol: str
    field: str
    """Dotted, as in a config override."""
    values: tuple[Any, ...]
    section: str
    """Where the paper varies it. Values that are ours lie around the one that it settled on, as it
    shows them in a figure only."""


GRIDS = {
    "potential-weight": Grid(
        "α", "exploration.potential_weight", (0.003, 0.01, 0.03, 0.1, 0.3), "5.5 (values ours)"
    ),
    "extension": Grid("d_e", "exploration.extension", (2.0, 5.0, 10.0, 20.0), "5.5 (values ours)"),
    "stable-fraction": Grid(
        "k%", "representation.stable_fraction", (0.1, 0.3, 0.5, 0.8), "5.5 (values ours)"
    ),
    "subgoal-interval": Grid("c", "subgoal_interval", (10, 20, 50, 100), "5.5"),
    "representation-interval": Grid("I", "representation.interval", (50, 100, 150, 500), "E.1"),
    "capacity": Grid("bs", "capacity", (200_000, 1_000_000, 2_000_000), "E.1"),
    "probability": Grid("p₀", "exploration.probability", (0.3, 0.5, 0.7), "E.1"),
    "subgoal-radius": Grid("r_g", "subgoal_radius", (10.0, 20.0), "B"),
    "cell-size": Grid("grid size", "exploration.cell_size", (2.0, 3.0, 5.0, 8.0), "B"),
    "high-reward-scale": Grid("high reward scale", "high.reward_scale", (1.0, 0.1), "B"),
    "low-reward-scale": Grid("low reward scale", "low.reward_scale", (1.0, 0.1), "B"),
    "minibatches": Grid("m", "representation.minibatches", (10_000, 50_000), "B"),
    "reactive-novelty": Grid("η₁", "intrinsic.novelty_weight", (10.0, 100.0, 1_000.0), "B"),
    "reactive-potential": Grid("η₂", "intrinsic.potential_weight", (10.0, 100.0, 1_000.0), "B"),
}


# --- Table 1, with the values of Section 5.5 --------------------------------------------------

# The paper's names for them, in its order; the field that holds the value.
_HYPER_PARAMETERS = {
    "subgoal dimension d": "representation.dim",
    "radius r_g of the neighbourhood for subgoals": "subgoal_radius",
    "grid size for counts": "exploration.cell_size",
    "candidate subgoals M": "exploration.candidates",
    "learning rate, high level": "high.learning_rate",
    "learning rate, low level": "low.learning_rate",
    "learning rate, subgoal representation": "representation.learning_rate",
    "discount γ, high level": "high.discount",
    "discount γ, low level": "low.discount",
    "discount γ, cumulative counts": "exploration.count_discount",
    "soft update rate, both levels": "low.target_rate",
    "replay buffer size, both levels": "capacity",
    "reward scaling, high level": "high.reward_scale",
    "reward scaling, low level": "low.reward_scale",
    "high-level action frequency c": "subgoal_interval",
    "batch size, high level": "high.batch_size",
    "batch size, low level": "low.batch_size",
    "batch size, representation": "representation.batch_size",
    "intrinsic reward coefficient η₁": "intrinsic.novelty_weight",
    "intrinsic reward coefficient η₂": "intrinsic.potential_weight",
    "stability coefficient λ₀": "representation.stability_weight",
    "episodes I between representation updates": "representation.interval",
    "minibatches m in one representation update": "representation.minibatches",
    "extension d_e of imagined subgoals": "exploration.extension",
    "scaling factor α": "exploration.potential_weight",
    "stable ratio k%": "representation.stable_fraction",
    "initial probability p₀ of active selection": "exploration.probability",
}


def hyper_parameters() -> str:
    """A Markdown table made from the presets."""
    paper, default = flat_fields(preset("paper")), flat_fields(preset("default"))
    tried = {row.field: ", ".join(f"{value:g}" for value in row.values) for row in GRIDS.values()}
    lines = [
        "| hyper-parameter | field | paper | default | values tried |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | `{field}` | {_shown(paper[field])} | {_shown(default[field])} | "
        f"{tried.get(field, '')} |"
        for name, field in _HYPER_PARAMETERS.items()
    ]
    return "\n".join(lines)


def _shown(value: float | None) -> str:
    return f"at most {MOST_DIMENSIONS}" if value is None else f"{value:g}"  # d alone may be open
