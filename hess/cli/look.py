"""`hess plot`, `hess report` and `hess view`: what runs have done."""

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
    """Evaluations to average over in comparisons, a tenth of a curve at most; 1 shows them as they
    are."""

    def run(self) -> None:
        from hess.errors import require_at_least

        require_at_least("smooth", self.smooth, 1)
        from hess.analysis.figures import draw_all
        from hess.runs.run import find_runs

        for path in draw_all(find_runs(self.paths), self.out, self.smooth, print):
            print(path)
        print(f"each also as PDF, in {self.out}")


@dataclass(frozen=True)
class Report:
    """Write all there is to say about a run, or a folder of runs, into one HTML file."""

    paths: tyro.conf.Positional[tuple[Path, ...]] = (Path("runs"),)
    """Run folders, or folders of them."""
    out: Path | None = None
    """The file; report.html in the first of the folders by default."""

    def run(self) -> None:
        from hess.runs.run import find_runs
        from hess.viewer.report import write_report

        runs = find_runs(self.paths)
        out = self.out or self.paths[0] / "report.html"
        write_report(runs, out)
        print(f"report  {out}  ({out.stat().st_size / 1e6:.1f} MB)")


@dataclass(frozen=True)
class View:
    """Open a local page that shows runs live: what they explore, and why."""

    folder: tyro.conf.Positional[Path] = Path("runs")
    """A folder of runs, or one run."""
    port: int = 8642
    """Port on 127.0.0.1; 0 takes any that is free."""
    browser: bool = True
    """Open the page in a browser, where there is one."""

    def run(self) -> None:
        import sys
        import webbrowser

        from hess import runtime
        from hess.viewer.server import Server

        with Server(self.folder, self.port) as server:
            port = server.server_address[1]
            print(f"{self.folder} is shown at {server.url}   (Ctrl-C ends)")
            print(f"from another machine: ssh -L {port}:127.0.0.1:{port} this-machine", flush=True)
            if self.browser and (runtime.has_display() or sys.platform == "darwin"):
                webbrowser.open(server.url)
            server.serve_forever()
