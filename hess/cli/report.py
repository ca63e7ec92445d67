"""`hess report`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro


@dataclass(frozen=True)
class Report:
    """Write all there is to say about a run, or a folder of runs, into one HTML file."""

    paths: tyro.conf.Positional[tuple[Path, ...]] = (Path("runs"),)
    """Run folders, or folders of them."""
    out: Path | None = None
    """The file; report.html in the first of the folders by default."""

    def run(self) -> int:
        """Write it; it opens offline and loads nothing."""
        from hess.runs.run import find_runs
        from hess.viewer.report import write_report

        runs = find_runs(self.paths)
        out = self.out or self.paths[0] / "report.html"
        write_report(runs, out)
        print(f"report  {out}  ({out.stat().st_size / 1e6:.1f} MB)")
        return 0
