"""`hess plot`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro


@dataclass(frozen=True)
class Plot:
    """Draw the figures of runs: curves, visits, measures, φ, subgoals, skills; PNG and PDF."""

    paths: tyro.conf.Positional[tuple[Path, ...]] = (Path("runs"),)
    """Run folders, or folders of them."""
    out: Path = Path("figures")
    """Where the figures go: comparisons at the top, a folder per run below."""
    smooth: int = 1
    """Evaluations to average over in comparisons; 1 shows them as they are."""

    def run(self) -> int:
        """Draw everything that there is data for."""
        from hess.errors import HessError

        if self.smooth < 1:
            raise HessError(f"smooth={self.smooth} is impossible; it must be at least 1")
        from hess.analysis.figures import draw_all
        from hess.runs.run import find_runs

        for path in draw_all(find_runs(self.paths), self.out, self.smooth, print):
            print(path)
        print(f"each also as PDF, in {self.out}")
        return 0
