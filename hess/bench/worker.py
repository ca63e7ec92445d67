"""The process in which something is measured: `python -m hess.bench.worker '{...}'`.

Cores and threads have to be set before JAX starts, hence a new process for each setting. With
"rows" it prints the rows of a group as JSON; with "pace" it prints one number for each line that
it reads, so that several workers can take turns.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

from hess import runtime
from hess.bench.sizes import Size


def main(job: dict[str, Any]) -> None:
    """Do one job."""
    runtime.configure(cores=job["cores"], threads=len(job["cores"]))
    size = Size(**job["size"])
    if job["kind"] == "rows":
        found = importlib.import_module(f"hess.bench.{job['name']}").rows(size)
        _say([row.to_json() for row in found])
        return
    from hess.bench.paces import PACES

    measure = PACES[job["name"]](size)
    _say("ready")
    for _ in sys.stdin:
        _say(measure())


def _say(value: Any) -> None:
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
