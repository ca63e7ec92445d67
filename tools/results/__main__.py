"""`python -m tools.results`, or `make results`: from finished runs to results/ and its pages."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tyro

from hess.analysis.recorded import read_curves
from hess.cli import exit_code, parse
from hess.sweeps.suites import SUITES
from tools.results.evidence import MAIN, keep_snapshots, varied_fields
from tools.results.page import PICTURES, write_page
from tools.results.recording import record_runs
from tools.results.tables import marked_text, results_table, update_tables

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
        marked_text(self.readme)  # before anything is written
        self._record()
        for path in write_page(self.folder, self.page):
            print(path)
        update_tables(self.folder, self.readme, self.page.parent / PICTURES / _SHOWN)
        print(results_table(read_curves(self.folder), self.suite))

    def _record(self) -> None:
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    return exit_code(lambda: parse(Results, "python -m tools.results", given).run())


if __name__ == "__main__":
    sys.exit(main())
