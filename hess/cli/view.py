"""`hess view`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro


@dataclass(frozen=True)
class View:
    """Open a local page that shows runs live: what they explore, and why."""

    folder: tyro.conf.Positional[Path] = Path("runs")
    """A folder of runs, or one run."""
    port: int = 8642
    """Port on 127.0.0.1; 0 takes any that is free."""
    browser: bool = True
    """Open the page in a browser, where there is one."""

    def run(self) -> int:
        """Serve until Ctrl-C."""
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
        return 0
