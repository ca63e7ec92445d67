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
    suite: str = "main"
    """The comparison that they belong to."""
    folder: Path = Path("results")
    """Where results are kept."""
    readme: Path = Path("README.md")
    """The file whose results table is renewed."""

    def run(self) -> int:
        """Add the runs, then write the tables."""
        from hess.experiments.results import markdown_table, read_curves, record_run, update_tables

        for run in self.run_folders:
            print(f"recorded {run} in {record_run(run, self.folder, self.suite)}")
        update_tables(self.folder, self.readme)
        print(markdown_table(read_curves(self.folder), self.suite))
        return 0
