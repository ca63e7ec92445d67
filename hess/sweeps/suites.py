"""The paper's figures and tables: which runs each needs.

Suites go by their number in the paper; figures 1 and 2 are drawings of the method and show no data.
Where the paper leaves a task to a picture, the choice is ours and the comment beside it says so.
Every run is as long as the budget of its task (hess/config/budgets.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hess.errors import unknown
from hess.sweeps.grids import GRIDS

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


def chosen_suites(names: tuple[str, ...]) -> list[Suite]:
    """The rows of these names, each once; "all" is every one."""
    for name in names:
        if name not in (*SUITES, ALL):
            raise unknown("suite", name, SUITES)
    return [SUITES[name] for name in (SUITES if ALL in names else dict.fromkeys(names))]


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
