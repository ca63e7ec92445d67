"""How the suites of the paper are drawn, from runs that have finished."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from hess.sweeps.grids import hyper_parameters
from hess.sweeps.reproduction import Panels
from hess.sweeps.suites import Suite

CURVES = "curves"

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
    for title, figure in figures(material).items():
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


def figures(material: Material) -> dict[str, Figure]:
    """Figures of `hess plot`, from runs, by what tells them apart; "" where there is one."""
    name, panels = material.suite.drawing, material.panels
    if name == CURVES:
        return {"": curves.panel_curves(panels, material.smooth)}
    if name in CURVE_FIGURES:
        runs = [run for panel in panels.values() for each in panel for run in each.runs]
        return {"": CURVE_FIGURES[name](runs, material.smooth)}
    return {
        title if len(panels) > 1 else "": _draw_panel(name, material.pictured(panel))
        for title, panel in panels.items()
    }


def _draw_panel(name: str, runs: Sequence[Run]) -> Figure:
    """One run of every variant side by side, or the first of them alone."""
    return METHOD_FIGURES[name](runs) if name in METHOD_FIGURES else RUN_FIGURES[name](runs[0])


# --- without runs -----------------------------------------------------------------------------


def _task(material: Material, out: Path) -> list[Path]:
    """A picture of every task."""
    from hess.envs.rendering import render_picture

    runtime.configure()
    files = []
    for task in material.tasks:
        title = task if len(material.tasks) > 1 else ""
        files.append(_named(out, title).with_suffix(".png"))
        render_picture(task, files[-1])
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
