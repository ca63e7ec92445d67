"""`hess results` and `hess compare`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import tyro

_SHOWN = "fig4.png"  # the figure of the README


@dataclass(frozen=True)
class Results:
    """Record finished runs among the committed results and renew what is made from them."""

    run_folders: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Finished runs to add; none just renews tables, page and pictures."""
    replace: bool = False
    """Put these runs in place of all recorded seeds of their method and task."""
    suite: str = "main"
    """The comparison that they belong to; of a figure's values, the figure: fig9."""
    folder: Path = Path("results")
    """Where results are kept."""
    readme: Path = Path("README.md")
    """The file whose results table is renewed."""
    page: Path = Path("docs/paper.md")
    """The page of the paper's figures, with its pictures in images/paper beside it."""

    def run(self) -> None:
        from hess.analysis.recorded import read_curves
        from hess.analysis.tables import marked_text, results_table, update_tables
        from hess.sweeps.page import PICTURES, write_page

        marked_text(self.readme)  # before anything is written
        self._record()
        for path in write_page(self.folder, self.page):
            print(path)
        update_tables(self.folder, self.readme, self.page.parent / PICTURES / _SHOWN)
        print(results_table(read_curves(self.folder), self.suite))

    def _record(self) -> None:
        from hess.analysis.recording import record_runs
        from hess.sweeps.evidence import MAIN, keep_snapshots, varied_fields
        from hess.sweeps.suites import SUITES

        own = SUITES.get(self.suite)
        varied = varied_fields(own) if own is not None else ()
        recorded = record_runs(
            self.run_folders, self.folder, self.suite, varied, replace=self.replace
        )
        for table, seeds in recorded.items():
            print(f"recorded seed{'s' if len(seeds) > 1 else ''} {str(seeds)[1:-1]} in {table}")
        if self.suite == MAIN:
            for path in keep_snapshots(self.run_folders, self.folder, replace=self.replace):
                print(f"kept what its figure shows in {path}")


@dataclass(frozen=True)
class Compare:
    """Compare methods on tasks: final success, IQM, improvement and steps to a threshold."""

    paths: tyro.conf.Positional[tuple[Path, ...]] = (Path("runs"),)
    """Run folders, folders of them, and tables below results/."""
    reference: str | None = None
    """The method that others should improve on; hess by default."""
    threshold: float = 0.9
    """Success that counts as solved."""
    last: int = 4
    """Evaluations whose mean is the final success."""
    until: int | None = None
    """Compare all runs as they were at this step, also those that are not finished."""
    format: Literal["text", "markdown", "csv", "json"] | None = None
    """How to print; by the ending of --out, otherwise text."""
    out: Path | None = None
    """Write the table there instead of printing it."""

    def run(self) -> None:
        from hess.errors import HessError, require_at_least

        if not 0.0 <= self.threshold <= 1.0:
            bounds = "it must be between 0 and 1"
            raise HessError(f"threshold={self.threshold} is impossible; {bounds}")
        require_at_least("last", self.last, 1)
        require_at_least("until", self.until, 1)
        from hess.analysis.comparison import Measure, compare, read_compared
        from hess.analysis.tables import ENDINGS, FORMATS
        from hess.files import write_atomic

        kind = self.format or (ENDINGS.get(self.out.suffix) if self.out else "text")
        if kind is None:
            endings = ", ".join(ENDINGS)
            raise HessError(f"cannot tell the format of {str(self.out)!r}; endings: {endings}")
        measure = Measure(self.last, self.threshold, self.reference)
        # Beside the table, so that what is piped on stays a table.
        outcomes = read_compared(self.paths, self.until, partial(print, file=sys.stderr))
        table = FORMATS[kind](compare(outcomes, measure), measure)
        if self.out is None:
            print(table)
        else:
            write_atomic(self.out, table + "\n")
            print(f"table  {self.out}")
