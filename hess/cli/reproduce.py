"""`hess reproduce`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from hess.cli.sweep import ManyRuns

if TYPE_CHECKING:
    from hess.sweeps.reproduction import Panels
    from hess.sweeps.suites import Suite


@dataclass(frozen=True)
class Reproduce(ManyRuns):
    """Run what a figure or table of the paper needs, and draw it; `all` is all of them."""

    suites: tyro.conf.Positional[tuple[str, ...]] = ()
    """Names from --list, such as fig4."""
    show_list: Annotated[bool, tyro.conf.arg(name="list")] = False
    """List the figures and tables, the runs that each needs and what they cost; start nothing."""
    seeds: int | None = None
    """Runs of everything that is compared; by default 5 for curves, 1 for maps."""
    tasks: tuple[str, ...] = ()
    """Other tasks than the paper's."""
    preset: str = "default"
    """Where hyper-parameters come from: default (measured best) or paper (literal)."""
    scale: float = 1.0
    """A share of the steps: 0.05 makes a quick miniature, with its runs in RUNS-scale-0.05."""
    smooth: int = 5
    """Evaluations to average over, a tenth of a curve at most; 1 shows them as they are."""
    out: Path = Path("figures")
    """Where figures and tables go."""

    def run(self) -> int:
        """Plan all suites together, since they share runs; carry out; draw each."""
        from hess.errors import HessError, require_at_least
        from hess.sweeps.reproduction import Request, panels, plan_of
        from hess.sweeps.suites import ALL, SUITES, chosen_suites

        require_at_least("smooth", self.smooth, 1)
        if not self.suites and not self.show_list:
            raise HessError(f"name what to reproduce: {', '.join(SUITES)}, {ALL}; --list says more")
        chosen = chosen_suites(self.suites or (ALL,))
        request = Request(self.seeds, self.tasks, self.preset, self.scale)
        shown = {suite.name: panels(suite, request) for suite in chosen}
        if self.show_list:
            return self._list_suites(chosen, shown)
        plan = plan_of(*shown.values())
        code = self._where_runs_are().carry_out(plan) if plan else 0
        if not code and not self.dry_run:
            self._draw(chosen, shown)
        return code

    def _where_runs_are(self) -> Reproduce:
        """Miniatures stay apart: `hess plot runs` should not take one for the real thing."""
        if self.scale == 1.0:
            return self
        beside = self.runs.resolve() if self.runs.name in ("", "..") else self.runs
        return dataclasses.replace(
            self, runs=beside.with_name(f"{beside.name}-scale-{self.scale:g}")
        )

    def _draw(self, chosen: list[Suite], shown: dict[str, Panels]) -> None:
        from hess.analysis.figures import draw_each
        from hess.sweeps.drawings import Material, draw, trained_panels

        jobs = []
        for suite in chosen:
            trained = trained_panels(shown[suite.name], self._where_runs_are().runs)
            material = Material(suite, self.tasks or suite.tasks, trained, self.smooth)
            jobs.append((suite.name, partial(draw, material, self.out)))
        for paths in draw_each(jobs, print):
            print(*paths, sep="\n")

    def _list_suites(self, chosen: list[Suite], shown: dict[str, Panels]) -> int:
        """What there is, what it needs, and what of it is still to do."""
        from hess.console import print_table
        from hess.sweeps.progress import Watcher, seconds_left
        from hess.sweeps.reproduction import plan_of

        watcher = Watcher(self._where_runs_are().runs)

        def row(name: str, section: str, summary: str, *panels: Panels) -> tuple[str, ...]:
            runs = watcher.look(plan_of(*panels), {}).runs
            missing = sum(each.state != "done" for each in runs)
            hours = sum(seconds_left(runs)) / 3600
            return name, section, summary, str(len(runs)), str(missing), f"{hours:,.1f}"

        rows = [row(s.name, f"§{s.section}", s.summary, shown[s.name]) for s in chosen]
        if len(chosen) > 1:
            rows.append(row("all", "", "all of these, which share runs", *shown.values()))
        numbers = ("runs", "to do", "core-hours")
        print_table(("name", "paper", "what it shows"), rows, numbers)
        return 0
