"""`hess results`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro


@dataclass(frozen=True)
class Results:
    """Record finished runs among the committed results and renew the tables made from them."""

    run_folders: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Finished runs to add; none just renews the tables."""
    replace: bool = False
    """Put these runs in place of all recorded seeds of their method and task."""
    suite: str = "main"
    """The comparison that they belong to."""
    folder: Path = Path("results")
    """Where results are kept."""
    readme: Path = Path("README.md")
    """The file whose results table is renewed."""

    def run(self) -> int:
        """Add the runs, then write the tables."""
        from hess.analysis.pages import results_table, update_tables
        from hess.analysis.recorded import read_curves
        from hess.analysis.recording import record_runs

        recorded = record_runs(self.run_folders, self.folder, self.suite, replace=self.replace)
        for table, seeds in recorded.items():
            print(f"recorded seed{'s' if len(seeds) > 1 else ''} {str(seeds)[1:-1]} in {table}")
        update_tables(self.folder, self.readme)
        print(results_table(read_curves(self.folder), self.suite))
        return 0
