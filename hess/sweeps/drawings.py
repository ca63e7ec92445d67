"""How the suites of the paper are drawn, from runs that have finished."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from hess import runtime
from hess.analysis import curves, style
from hess.analysis.comparison import ComparedRun, Measure, compare
from hess.analysis.figures import CURVE_FIGURES, FORMATS, METHOD_FIGURES, RUN_FIGURES
from hess.analysis.groups import Setting
from hess.analysis.tables import as_markdown
from hess.files import write_atomic
from hess.runs.run import Run
from hess.sweeps.reproduction import Line, Panel
from hess.sweeps.suites import Suite, hyper_parameters


@dataclass(frozen=True)
class Material:
    """What a drawing is made of."""

    suite: Suite
    tasks: tuple[str, ...]
    panels: tuple[Panel, ...]
    runs: Path  # folder of all runs
    smooth: int  # evaluations in the running mean of curves

    def runs_of(self, line: Line) -> tuple[Run, ...]:
        """The folders of a line's seeds."""
        return tuple(Run(run.path(self.runs)) for run in line.runs)

    def pictured(self, panel: Panel) -> list[Run]:
        """The first seed of every line, as it was at the moment of the picture."""
        moments = [round(line.runs[0].config.steps * self.suite.moment) for line in panel.lines]
        first = [self.runs_of(line)[0] for line in panel.lines]
        return [run.until(moment) for run, moment in zip(first, moments, strict=True)]


def draw(material: Material, out: Path) -> list[Path]:
    """Write the files of a suite to a folder; their paths."""
    return DRAWINGS[material.suite.drawing](material, out / material.suite.name)


Draw = Callable[[Material, Path], list[Path]]


def _curves(material: Material, out: Path) -> list[Path]:
    """Success over steps, and the same runs as a table."""
    settings = {
        panel.title: [Setting(line.label, material.runs_of(line)) for line in panel.lines]
        for panel in material.panels
    }
    figure = curves.panel_curves(settings, material.smooth)
    measure = Measure()
    runs = [
        ComparedRun.of(run, title, setting.label)
        for title, group in settings.items()
        for setting in group
        for run in setting.runs
    ]
    table = as_markdown(compare(runs, measure), measure)
    write_atomic(out.with_suffix(".md"), table + "\n")
    return [*_save(figure, out), out.with_suffix(".md")]


def _one_run(name: str, material: Material, out: Path) -> list[Path]:
    """A figure of `hess plot` of the first run, one for every task."""
    draw_run = RUN_FIGURES[name]
    pictures = [draw_run(material.pictured(panel)[0]) for panel in material.panels]
    return _save_each(pictures, material.panels, out)


def _side_by_side(name: str, material: Material, out: Path) -> list[Path]:
    """A figure of `hess plot` with one run of every variant, one for every task."""
    draw_runs = METHOD_FIGURES[name]
    pictures = [draw_runs(material.pictured(panel)) for panel in material.panels]
    return _save_each(pictures, material.panels, out)


def _all_runs(name: str, material: Material, out: Path) -> list[Path]:
    """A figure of `hess plot` of all runs together."""
    runs = [
        run for panel in material.panels for line in panel.lines for run in material.runs_of(line)
    ]
    return _save(CURVE_FIGURES[name](runs, material.smooth), out)


def _task(material: Material, out: Path) -> list[Path]:
    """A picture of every task."""
    from hess.envs.rendering import render_picture

    runtime.configure()
    files = _files(out, material.tasks)
    for task, file in zip(material.tasks, files, strict=True):
        render_picture(task, file.with_suffix(".png"))
    return [file.with_suffix(".png") for file in files]


def _gallery(material: Material, out: Path) -> list[Path]:
    """All tasks in one picture."""
    from hess.envs.gallery import render_gallery

    runtime.configure()
    file = out.with_suffix(".png")
    render_gallery(file)
    return [file]


def _hyper_parameters(material: Material, out: Path) -> list[Path]:
    file = out.with_suffix(".md")
    write_atomic(file, hyper_parameters() + "\n")
    return [file]


DRAWINGS: dict[str, Draw] = {
    "curves": _curves,
    "measures": partial(_one_run, "measures"),
    "skills": partial(_one_run, "skills"),
    "latent": partial(_one_run, "latent"),
    "representation": partial(_side_by_side, "representation"),
    "subgoals": partial(_side_by_side, "subgoals"),
    "intrinsic-variance": partial(_all_runs, "intrinsic-variance"),
    "task": _task,
    "tasks": _gallery,
    "hyper-parameters": _hyper_parameters,
}


def _save_each(pictures: Sequence[Figure], panels: Sequence[Panel], out: Path) -> list[Path]:
    files = _files(out, [panel.title for panel in panels])
    return [path for file, each in zip(files, pictures, strict=True) for path in _save(each, file)]


def _files(out: Path, names: Sequence[str]) -> list[Path]:
    """The suite's own name, with what tells files apart where there are several."""
    if len(names) == 1:
        return [out]
    return [out.with_name(f"{out.name}-{name}".replace("/", "-")) for name in names]


def _save(figure: Figure, out: Path) -> list[Path]:
    files = [out.with_name(out.name + ending) for ending in FORMATS]
    for file in files:
        style.save_figure(figure, file)
    return files
