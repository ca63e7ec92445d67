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
from hess.analysis.figures import CURVE_FIGURES, METHOD_FIGURES, RUN_FIGURES
from hess.analysis.groups import Setting
from hess.analysis.tables import as_markdown
from hess.files import write_atomic
from hess.runs.run import Run
from hess.sweeps.reproduction import Panels
from hess.sweeps.suites import Suite, hyper_parameters

ShownPanels = dict[str, list[Setting]]
"""By title: runs that share a panel, or a picture of maps."""


def trained_panels(panels: Panels, folder: Path) -> ShownPanels:
    """Planned panels with the runs that were trained in a folder."""
    return {
        title: [
            Setting(label, tuple(Run(run.path(folder)) for run in runs))
            for label, runs in panel.items()
        ]
        for title, panel in panels.items()
    }


@dataclass(frozen=True)
class Material:
    """What a drawing is made of."""

    suite: Suite
    tasks: tuple[str, ...]
    panels: ShownPanels
    smooth: int  # evaluations in the running mean of curves

    def pictured(self, panel: Sequence[Setting]) -> list[Run]:
        """The first seed of every setting, as it was at the moment of the picture."""
        first = [setting.runs[0] for setting in panel]
        return [run.until(round(run.config.steps * self.suite.moment)) for run in first]


def draw(material: Material, out: Path) -> list[Path]:
    """Write the files of a suite to a folder; their paths."""
    suite, file = material.suite, out / material.suite.name
    if suite.drawing in WITHOUT_RUNS:
        return WITHOUT_RUNS[suite.drawing](material, file)
    files = []
    for title, figure in FROM_RUNS[suite.drawing](material).items():
        files += style.save_formats(figure, _named(file, title))
    if suite.drawing == CURVES:
        table = file.with_suffix(".md")
        write_atomic(table, curve_table(material) + "\n")
        files.append(table)
    return files


def curve_table(material: Material) -> str:
    """The runs behind curves as `hess compare` compares them."""
    measure = Measure()
    runs = [
        ComparedRun.of(run, title, setting.label)
        for title, panel in material.panels.items()
        for setting in panel
        for run in setting.runs
    ]
    return as_markdown(compare(runs, measure), measure)


# --- from runs: figures by what tells them apart, "" where there is one ------------------------

Figures = dict[str, Figure]


def _curves(material: Material) -> Figures:
    """Success over steps."""
    return {"": curves.panel_curves(material.panels, material.smooth)}


def _one_run(name: str, material: Material) -> Figures:
    """A figure of `hess plot` of the first run, one for every task."""
    draw_run = RUN_FIGURES[name]
    return _per_panel(material, lambda panel: draw_run(material.pictured(panel)[0]))


def _side_by_side(name: str, material: Material) -> Figures:
    """A figure of `hess plot` with one run of every variant, one for every task."""
    draw_runs = METHOD_FIGURES[name]
    return _per_panel(material, lambda panel: draw_runs(material.pictured(panel)))


def _per_panel(material: Material, draw_panel: Callable[[list[Setting]], Figure]) -> Figures:
    panels = material.panels
    return {"" if len(panels) == 1 else title: draw_panel(panels[title]) for title in panels}


def _all_runs(name: str, material: Material) -> Figures:
    """A figure of `hess plot` of all runs together."""
    runs = [run for panel in material.panels.values() for each in panel for run in each.runs]
    return {"": CURVE_FIGURES[name](runs, material.smooth)}


CURVES = "curves"
FROM_RUNS: dict[str, Callable[[Material], Figures]] = {
    CURVES: _curves,
    "measures": partial(_one_run, "measures"),
    "skills": partial(_one_run, "skills"),
    "latent": partial(_one_run, "latent"),
    "representation": partial(_side_by_side, "representation"),
    "subgoals": partial(_side_by_side, "subgoals"),
    "intrinsic-variance": partial(_all_runs, "intrinsic-variance"),
}


# --- without runs -----------------------------------------------------------------------------


def _task(material: Material, out: Path) -> list[Path]:
    """A picture of every task."""
    from hess.envs.rendering import render_picture

    runtime.configure()
    titles = [""] if len(material.tasks) == 1 else list(material.tasks)
    files = [_named(out, title).with_suffix(".png") for title in titles]
    for task, file in zip(material.tasks, files, strict=True):
        render_picture(task, file)
    return files


def _gallery(material: Material, out: Path) -> list[Path]:
    """All tasks in one picture."""
    from hess.envs.rendering import render_gallery

    runtime.configure()
    file = out.with_suffix(".png")
    render_gallery(file)
    return [file]


def _hyper_parameters(material: Material, out: Path) -> list[Path]:
    file = out.with_suffix(".md")
    write_atomic(file, hyper_parameters() + "\n")
    return [file]


HYPER_PARAMETERS = "hyper-parameters"
WITHOUT_RUNS: dict[str, Callable[[Material, Path], list[Path]]] = {
    "task": _task,
    "tasks": _gallery,
    HYPER_PARAMETERS: _hyper_parameters,
}


def _named(out: Path, title: str) -> Path:
    """The suite's own name, with what tells files apart where there are several."""
    return out.with_name(f"{out.name}-{title}".replace("/", "-")) if title else out
