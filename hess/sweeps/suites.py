"""The paper's figures, tables and sensitivity studies: which runs each needs.

Suites go by their number in the paper; figures 1 and 2 are drawings of the method and show no data.
Where the paper leaves a task to a picture, the choice is ours and the comment beside it says so.
Every run is as long as the budget of its task (hess/analysis/protocol.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hess.config import flat_fields
from hess.config.presets import preset
from hess.config.subgoals import MOST_DIMENSIONS
from hess.errors import unknown

# --- sensitivity: which field takes which values, all else as it is ---------------------------


@dataclass(frozen=True)
class Grid:
    """A row of `hess methods --grids`."""

    name: str
    symbol: str
    field: str
    """Dotted, as in a config override."""
    values: tuple[Any, ...]
    section: str
    """Where the paper varies it. Values that are ours lie around the one that it settled on, as it
    shows them in a figure only."""


_GRID_ROWS = (
    Grid(
        "potential-weight",
        "α",
        "exploration.potential_weight",
        (0.003, 0.01, 0.03, 0.1, 0.3),
        "5.5 (values ours)",
    ),
    Grid("extension", "d_e", "exploration.extension", (2.0, 5.0, 10.0, 20.0), "5.5 (values ours)"),
    Grid(
        "stable-fraction",
        "k%",
        "representation.stable_fraction",
        (0.1, 0.3, 0.5, 0.8),
        "5.5 (values ours)",
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

GRIDS = {row.name: row for row in _GRID_ROWS}


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


# --- figures ----------------------------------------------------------------------------------

ALL = "all"
_SEEDS = 5  # §5: "the mean of 5 runs"

_VECTOR_AND_IMAGES = ("AntMaze", "AntPush", "AntMazeImages", "AntPushImages")
_ALL_TASKS = ("PointMaze", *_VECTOR_AND_IMAGES, "AntFourRooms", "CheetahHurdle", "CheetahAscending")


@dataclass(frozen=True)
class Variant:
    """A curve, or a row of pictures."""

    label: str
    method: str
    values: Mapping[str, Any] = field(default_factory=dict)
    """Fields that differ from the method's row."""


Studies = dict[str, tuple[Variant, ...]]
"""By title: variants that share a panel, on every task of their suite."""


@dataclass(frozen=True)
class Suite:
    """A row of `hess reproduce --list`."""

    name: str
    summary: str
    section: str
    """Where the paper has it."""
    drawing: str
    """Of its runs a figure of `hess plot`, or curves; without runs a row in drawings.py."""
    tasks: tuple[str, ...] = ()
    studies: Studies = field(default_factory=dict)
    seeds: int = _SEEDS
    moment: float = 1.0
    """The share of a run after which its maps are drawn."""


def suite(name: str) -> Suite:
    """The row of that name."""
    if name not in SUITES:
        raise unknown("suite", name, SUITES)
    return SUITES[name]


def chosen_suites(names: tuple[str, ...]) -> list[Suite]:
    """The rows of these names, each once; "all" is every one."""
    wanted = list(SUITES) if ALL in names else list(dict.fromkeys(names))
    return [suite(name) for name in wanted]


def _methods(*names: str) -> Studies:
    return {"": tuple(Variant(name, name) for name in names)}


def _grids(*names: str) -> Studies:
    return {
        row.symbol: tuple(
            Variant(f"{row.symbol} = {value:g}", "hess", {row.field: value}) for value in row.values
        )
        for row in map(GRIDS.__getitem__, names)
    }


_SUITE_ROWS = (
    Suite("table1", "hyper-parameters, the paper's and ours", "B", "hyper-parameters"),
    Suite(
        "fig3",
        "the illustrative example: visits, change of φ, potential, combined score",
        "3.2",
        "measures",
        ("AntMaze",),
        _methods("hess"),
        seeds=1,
        moment=0.4,  # "at 0.2M steps", of 0.5M
    ),
    Suite(
        "fig4",
        "HESS and the baselines on all tasks",  # without dads, whose success is 0 everywhere
        "5.2",
        "curves",
        _ALL_TASKS,
        _methods("hess", "h-icm", "h-sr", "lesson", "sac"),
    ),
    Suite("fig5", "the AntMaze task", "5.3", "task", ("AntMaze",)),
    Suite(
        "fig6",
        "φ over training with and without stability",
        "5.3",
        "representation",
        ("AntMazeImages",),
        _methods("hess", "hess-no-stability"),
        seeds=1,
    ),
    Suite(
        "fig7",
        "ablations of representation learning and of exploration",
        "5.4",
        "curves",
        _VECTOR_AND_IMAGES,  # "the tasks with image input", "the tasks with vector input"
        _methods(
            "hess",
            "hess-no-stability",
            "hess-no-stability-no-priority",
            "hess-no-potential",
            "hess-immediate-counts",
            "hess-reactive",
        ),
    ),
    Suite(
        "fig8",
        "subgoals that were chosen, without potential and with immediate counts",
        "5.4",
        "subgoals",
        ("AntMaze",),
        _methods("hess", "hess-no-potential", "hess-immediate-counts"),
        seeds=1,
        moment=0.5,  # "at 0.25 million timesteps", of 0.5M
    ),
    Suite(
        "fig9",
        "sensitivity to α, d_e, k% and c",
        "5.5",
        "curves",
        ("AntPushImages",),
        _grids("potential-weight", "extension", "stable-fraction", "subgoal-interval"),
    ),
    Suite("fig10", "all tasks", "A", "tasks"),
    Suite(
        "fig11",
        "variance of the intrinsic rewards of H-SR",
        "D",
        "intrinsic-variance",
        ("AntMaze",),
        _methods("h-sr"),
    ),
    Suite("fig12", "traces of DADS skills", "D", "skills", ("AntMaze",), _methods("dads"), seeds=1),
    Suite(
        "fig13",
        "FuN: trajectories in the plane and in its latent space",
        "D",
        "latent",
        ("AntMaze",),
        _methods("fun"),  # for 70 million steps in the paper (Appendix D)
        seeds=1,
    ),
    Suite(
        "fig14",
        "update interval I, buffer size and p₀",
        "E.1",
        "curves",
        ("AntMaze", "AntMazeImages"),
        _grids("representation-interval", "capacity", "probability"),
    ),
    Suite(
        "fig15",
        "with and without imagined subgoals",
        "E.2",
        "curves",
        ("AntPush", "AntPushImages"),
        _methods("hess", "hess-no-imagined", "hess-no-imagined-wide"),
    ),
    Suite(
        "fig16",
        "novelty by age discount and by importance sampling",
        "E.3",
        "curves",
        ("AntMaze",),
        {
            "": (
                Variant("age discount", "hess", {"exploration.novelty": "cumulative"}),
                Variant("importance sampling", "hess-importance-novelty"),
            )
        },
    ),
    Suite(
        "fig17",
        "binary and continuous λ(s)",
        "E.4",
        "curves",
        ("AntMaze", "AntMazeImages"),  # the text names no task
        _methods("hess", "hess-continuous-stability"),
    ),
)

SUITES = {row.name: row for row in _SUITE_ROWS}
