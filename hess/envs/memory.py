"""How much of this machine's memory stored observations may take."""

from __future__ import annotations

import os

_MOST = 0.8  # of what the machine has


def machine_memory() -> int:
    """Bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def most_memory() -> int:
    """Bytes that a replay may take."""
    return int(_MOST * machine_memory())
