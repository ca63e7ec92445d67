"""The figures that `hess plot` makes. A new one is a function and a row in one of the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from hess.analysis import curves, explored, latent, skills, style
from hess.analysis.groups import by_method, by_task
from hess.errors import MissingExtraError
from hess.runs.folder import folder_name
from hess.runs.run import NothingToDrawError, Run

# One run each.
RUN_FIGURES: dict[str, Callable[[Run], Figure]] = {
    "curve": curves.run_curve,
    "diagnostics": curves.diagnostics,
    "measures": explored.measures,
    "visits": explored.visits_over_time,
    "representation": lambda run: explored.representation_over_time([run]),
    "subgoals": lambda run: explored.subgoals([run]),
    "stages": explored.stages,
    "latent": latent.latent_trajectories,
    "skills": skills.skill_traces,
}
# All runs together; the number is the window of smoothing.
CURVE_FIGURES: dict[str, Callable[[Sequence[Run], int], Figure]] = {
    "methods": curves.method_curves,
    "sensitivity": curves.value_curves,
    "intrinsic-variance": curves.intrinsic_variance,
}
# One run per method, all on one task.
METHOD_FIGURES: dict[str, Callable[[Sequence[Run]], Figure]] = {
    "representation": explored.representation_over_time,
    "subgoals": explored.subgoals,
}


def draw_all(
    runs: Sequence[Run], out: Path, smooth: int, skipped: Callable[[str], None]
) -> Iterator[Path]:
    """Write every figure that the runs allow and yield its PNG; `skipped` hears of the others."""

    def job(path: Path, draw: Callable[[], Figure]) -> tuple[str, Callable[[], list[Path]]]:
        return path.name, lambda: style.save_formats(draw(), path)

    jobs = (job(path, draw) for path, draw in _jobs(runs, out, smooth))
    return (files[0] for files in draw_each(jobs, skipped))


def draw_each(
    jobs: Iterable[tuple[str, Callable[[], list[Path]]]], skipped: Callable[[str], None]
) -> Iterator[list[Path]]:
    """The files that each job writes; `skipped` hears of those that have nothing to draw, by name.

    One that needs what is not installed is an error, once the others are drawn.
    """
    missing: MissingExtraError | None = None
    for name, draw in jobs:
        try:
            yield draw()
        except NothingToDrawError as reason:
            skipped(f"no {name}: {reason}")
        except MissingExtraError as error:
            missing = error
    if missing is not None:
        raise missing


def _jobs(
    runs: Sequence[Run], out: Path, smooth: int
) -> Iterator[tuple[Path, Callable[[], Figure]]]:
    names = Counter[str]()
    for run in runs:
        name = folder_name(f"{run.config.task}-{run.config.method}-{run.path.name}")
        names[name] += 1  # runs of several folders may be named alike
        folder = out / (name if names[name] == 1 else f"{name}-{names[name]}")
        for figure, draw_run in RUN_FIGURES.items():
            yield folder / figure, partial(draw_run, run)
    if len(runs) == 1:
        return
    for name, draw_curves in CURVE_FIGURES.items():
        yield out / name, partial(draw_curves, runs, smooth)
    for task, own in by_task(runs).items():
        chosen = one_per_method(own)
        for name, draw_methods in METHOD_FIGURES.items():
            if len(chosen) > 1:
                file = f"{name}-{task}".replace("/", "-")
                yield out / file, partial(draw_methods, chosen)


def one_per_method(runs: Sequence[Run]) -> list[Run]:
    """The first run of every method that has snapshots to show."""
    settings = by_method(runs)
    first = [next((run for run in s.runs if run.snapshots), None) for s in settings]
    return [run for run in first if run is not None]
