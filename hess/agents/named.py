"""Classes that the config chooses by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from hess.errors import HessError, unknown

T = TypeVar("T")


class Named(Mapping[str, T], Generic[T]):
    """A mapping that refuses unknown names with the known ones, and grows by registration."""

    def __init__(self, kind: str, rows: Mapping[str, T]):
        self._kind, self._rows = kind, dict(rows)

    def __getitem__(self, name: str) -> T:
        if name not in self._rows:
            raise unknown(self._kind, name, self._rows)
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def check(self, field: str, name: str) -> None:
        """Refuse a config field that names none."""
        if name not in self._rows:
            raise HessError(f"{field}={name} is impossible; it may be {', '.join(self._rows)}")

    def register(self, name: str, value: T) -> None:
        """Make one known under a name that is free; the same one may come again."""
        if not re.fullmatch(r"[\w-]+", name):
            raise HessError(f"the name of a {self._kind} must be letters, digits and -: {name!r}")
        if self._rows.setdefault(name, value) is not value:
            raise HessError(f"the {self._kind} {name!r} exists already; rename yours")

    def forget(self, name: str) -> None:
        """Take a name back."""
        del self._rows[name]
