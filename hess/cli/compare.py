"""`hess compare`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
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

    def run(self) -> int:
        """Read, compare, print."""
        from hess.errors import HessError

        for name, low, high in (("threshold", 0.0, 1.0), ("last", 1, None), ("until", 1, None)):
            value = getattr(self, name)
            if value is not None and (value < low or (high is not None and value > high)):
                bounds = f"at least {low}" if high is None else f"between {low:g} and {high:g}"
                raise HessError(f"{name}={value} is impossible; it must be {bounds}")
        from hess.analysis.comparison import Measure, compare, read_compared
        from hess.analysis.tables import ENDINGS, FORMATS
        from hess.files import write_atomic

        kind = self.format or (ENDINGS.get(self.out.suffix) if self.out else "text")
        if kind is None:
            endings = ", ".join(ENDINGS)
            raise HessError(f"cannot tell the format of {str(self.out)!r}; endings: {endings}")
        measure = Measure(self.last, self.threshold, self.reference)
        outcomes = read_compared(self.paths, self.until, self._note)
        table = FORMATS[kind](compare(outcomes, measure), measure)
        if self.out is None:
            print(table)
        else:
            write_atomic(self.out, table + "\n")
            print(f"table  {self.out}")
        return 0

    @staticmethod
    def _note(text: str) -> None:
        """Beside the table, so that what is piped on stays a table."""
        print(text, file=sys.stderr)
