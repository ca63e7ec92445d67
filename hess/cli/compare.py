"""`hess compare`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import tyro


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
