"""A suite as a plan: which runs make up which curve of which panel, in full or in miniature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hess.config import Config, flat_fields
from hess.errors import HessError, require_at_least
from hess.sweeps.plan import Plan, PlannedRun, combine, planned_run
from hess.sweeps.suites import Suite, Variant


@dataclass(frozen=True)
class Request:
    """How a suite is to be run."""

    seeds: int | None = None
    """As many as the suite has by default, if not given."""
    tasks: tuple[str, ...] = ()
    """Instead of the suite's own."""
    preset: str = "default"
    scale: float = 1.0


Panels = dict[str, dict[str, tuple[PlannedRun, ...]]]
"""Runs by the title of a panel, or a picture of maps, and by the label of their variant in it."""


def panels(suite: Suite, request: Request) -> Panels:
    """What is drawn, and the runs behind it; every name and value is checked."""
    require_at_least("seeds", request.seeds, 1)
    tasks = request.tasks or suite.tasks
    seeds = range(request.seeds or suite.seeds)
    return {
        _title(title, task, len(tasks)): {
            variant.label: tuple(_run(task, variant, seed, request) for seed in seeds)
            for variant in variants
        }
        for title, variants in suite.studies.items()
        for task in tasks
    }


def plan_of(*shown: Panels) -> Plan:
    """All runs, each once: panels, and figures, share what they have in common."""
    lines = [line for panels in shown for panel in panels.values() for line in panel.values()]
    return combine(*lines)


def _title(study: str, task: str, tasks: int) -> str:
    if not study:
        return task
    return f"{study} on {task}" if tasks > 1 else study


def _run(task: str, variant: Variant, seed: int, request: Request) -> PlannedRun:
    full = planned_run(variant.method, task, seed, variant.values, request.preset)
    smaller = miniature(full.config, request.scale)
    values = {**variant.values, **smaller}
    return planned_run(variant.method, task, seed, values, request.preset) if smaller else full


# --- miniatures: short runs that go through all that long ones do -----------------------------
# The settings of learners, networks and measures stay; so a miniature shows that everything works
# and what a figure will look like, not how well a method learns.

_FEWEST_STEPS = 2_000  # two episodes of the longest tasks
_EVALUATIONS = 10  # in a run, about; as many as in a long one would take most of the time
_USUAL_SCALE = 0.05  # from here on evaluations have all their episodes

# Field -> the least that makes sense.
_LEAST = {
    "capacity": 10_000,
    "representation.first_update": 1,
    "representation.interval": 1,
    "representation.minibatches": 100,
    "representation.refresh": 50,
    "exploration.success_window": 5,
    "exploration.novelty_interval": 1,
    "record.checkpoint_interval": 1_000,
    "record.snapshot_interval": 1,
}


def miniature(config: Config, scale: float) -> dict[str, Any]:
    """Values that make a run a share of its length; none at a scale of 1."""
    if not 0.0 < scale <= 1.0:
        raise HessError(f"scale={scale:g} is impossible; it must be above 0 and at most 1")
    if scale == 1.0:
        return {}
    steps = min(max(round(config.steps * scale), _FEWEST_STEPS), config.steps)
    share = steps / config.steps
    fields = flat_fields(config)
    values = {
        name: min(max(round(fields[name] * share), least), fields[name])
        for name, least in _LEAST.items()
    }
    interval, episodes = config.evaluation.interval, config.evaluation.episodes
    return values | {
        "steps": steps,
        "evaluation.interval": min(max(round(interval * share), steps // _EVALUATIONS), interval),
        "evaluation.episodes": max(round(episodes * min(share / _USUAL_SCALE, 1.0)), 2),
    }
