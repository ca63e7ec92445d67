"""Metrics of a run that may still be training: only what is new is read again."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hess.analysis.reading import Series, parse_metrics
from hess.errors import HessError

_TAIL = 256  # bytes before the end of what is known, to notice a file that was cut and regrown


class GrowingMetrics:
    """The columns of one metrics.jsonl, kept up to date."""

    def __init__(self, path: Path):
        self._path = path
        self._forget()

    def read(self) -> dict[str, Series]:
        """All quantities as of now; a last line without its end waits for the next call."""
        try:
            with self._path.open("rb") as file:
                file.seek(max(self._known - _TAIL, 0))
                before = file.read(min(self._known, _TAIL))
                if before != self._tail:  # a resumed run cuts the file back to its checkpoint
                    self._forget()
                    file.seek(0)
                new = file.read()
        except FileNotFoundError:
            self._forget()
            return {}
        except OSError as error:
            raise HessError(f"cannot read {str(self._path)!r}: {error.strerror}") from error
        self._take(new[: new.rfind(b"\n") + 1])
        return {name: _joined(parts) for name, parts in self._parts.items()}

    def _forget(self) -> None:
        self._known = 0
        self._lines = 0
        self._tail = b""
        self._parts: dict[str, list[Series]] = {}

    def _take(self, new: bytes) -> None:
        if not new:
            return
        lines = new.decode(errors="replace").splitlines()
        columns = parse_metrics(lines, str(self._path), first=self._lines + 1)
        for name, series in columns.items():
            self._parts.setdefault(name, []).append(series)
        self._known += len(new)
        self._lines += len(lines)
        self._tail = (self._tail + new)[-_TAIL:]


def _joined(parts: list[Series]) -> Series:
    """One series of many; the list is shortened on the way, so that it does not grow for days."""
    if len(parts) > 1:
        steps = np.concatenate([part.steps for part in parts])
        parts[:] = [Series(steps, np.concatenate([part.values for part in parts]))]
    return parts[0]
