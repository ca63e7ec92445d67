"""The paper's Table 1 with the values of its Section 5.5, beside the values that runs here have."""

from __future__ import annotations

from hess.config import flat_fields
from hess.experiments.grids import GRIDS
from hess.presets import preset

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
        f"| {name} | `{field}` | {paper[field]:g} | {default[field]:g} | {tried.get(field, '')} |"
        for name, field in _HYPER_PARAMETERS.items()
    ]
    return "\n".join(lines)
