"""Cores that other threads of ours keep busy: matmuls leave them alone meanwhile."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

from hess.native.library import BUSY, loaded


@contextmanager
def busy_core() -> Iterator[None]:
    """While this thread simulates, matmuls share their work among one thread less.

    The numbers that come out are the same.
    """
    change_busy(1)
    try:
        yield
    finally:
        change_busy(-1)


def change_busy(change: int) -> int:
    """Count threads that compute outside of XLA; how many there are now, 0 without our code."""
    library = loaded()
    if library is None:
        return 0
    function = getattr(library, BUSY)
    function.argtypes, function.restype = [ctypes.c_int64], ctypes.c_int64
    return int(function(change))
