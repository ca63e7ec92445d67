"""What the config chooses by name: methods, novelties, potentials, intrinsic rewards."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from hess.errors import HessError, unknown

T = TypeVar("T")


class Registry(dict[str, T]):
    """Refuses unknown names with the known ones, and grows by registration."""

    def __init__(self, kind: str, rows: Mapping[str, T]):
        super().__init__(rows)
        self._kind = kind

    def __missing__(self, name: str) -> T:
        raise unknown(self._kind, name, self)

    def check(self, field: str, name: str) -> None:
        """Refuse a config field that names none."""
        if name not in self:
            raise HessError(f"{field}={name} is impossible; it may be {', '.join(self)}")

    def register(self, name: str, value: T) -> None:
        """Make one known under a name that is free; an equal one may come again."""
        if not re.fullmatch(r"[\w-]+", name):
            raise HessError(
                f"the name of a {self._kind} must be letters, digits and -, not {name!r}"
            )
        if self.setdefault(name, value) != value:
            raise HessError(f"the {self._kind} {name!r} exists already; rename yours")
