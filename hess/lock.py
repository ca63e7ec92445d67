"""A lock on a file, which the system frees when its holder dies."""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path

from hess.errors import HessError


class TakenError(HessError):
    """Another process holds the lock; the message names it."""


class FileLock:
    """Held by one process at a time, also across machines where the file system allows it."""

    def __init__(self, path: Path):
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock and leave a note about who holds it, or raise `TakenError` at once."""
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
        except BlockingIOError as error:
            holder = os.read(self._descriptor, 200).decode(errors="replace")
            self.release()
            raise TakenError(holder or "another process") from error
        except OSError:
            self.release()
            raise

    def release(self) -> None:
        """Let others have it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @property
    def lost(self) -> bool:
        """Whether the file was removed while this process held it: others may hold one by now."""
        if self._descriptor is None:
            return False
        try:
            return not os.path.samestat(os.stat(self._path), os.fstat(self._descriptor))
        except OSError:
            return True
