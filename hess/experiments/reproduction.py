"""A suite as a plan: which runs make up which curve of which panel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hess.errors import HessError
from hess.experiments.miniature import miniature
from hess.experiments.plan import Plan, PlannedRun, combine, planned_run
from hess.experiments.suites import Suite, Variant


@dataclass(frozen=True)
class Request:
    """How a suite is to be run."""

    seeds: int | None = None
    """As many as the suite has by default, if not given."""
    tasks: tuple[str, ...] = ()
    """Instead of the suite's own."""
    preset: str = "default"
    scale: float = 1.0


@dataclass(frozen=True)
class Line:
    """The seeds of a variant."""

    label: str
    runs: tuple[PlannedRun, ...]


@dataclass(frozen=True)
class Panel:
    """Variants on a task."""

    title: str
    lines: tuple[Line, ...]


def panels(suite: Suite, request: Request) -> tuple[Panel, ...]:
    """What is drawn, and the runs behind it; every name and value is checked."""
    if request.seeds is not None and request.seeds < 1:
        raise HessError(f"seeds={request.seeds} is impossible; it must be at least 1")
    tasks = request.tasks or suite.tasks
    return tuple(
        Panel(
            _title(study.title, task, len(tasks)),
            tuple(_line(suite, task, variant, request) for variant in study.variants),
        )
        for study in suite.studies
        for task in tasks
    )


def plan_of(shown: Iterable[Panel]) -> Plan:
    """All runs, each once: panels, and figures, share what they have in common."""
    return combine(run for panel in shown for line in panel.lines for run in line.runs)


def _title(study: str, task: str, tasks: int) -> str:
    if not study:
        return task
    return f"{study} on {task}" if tasks > 1 else study


def _line(suite: Suite, task: str, variant: Variant, request: Request) -> Line:
    seeds = range(request.seeds or suite.seeds)
    return Line(variant.label, tuple(_run(task, variant, seed, request) for seed in seeds))


def _run(task: str, variant: Variant, seed: int, request: Request) -> PlannedRun:
    full = planned_run(variant.method, task, seed, variant.values, request.preset)
    smaller = miniature(full.config, request.scale)
    values = {**variant.values, **smaller}
    return planned_run(variant.method, task, seed, values, request.preset) if smaller else full


def planned(suites: Sequence[Suite], request: Request) -> dict[str, tuple[Panel, ...]]:
    """The panels of several suites, by name."""
    return {suite.name: panels(suite, request) for suite in suites}
