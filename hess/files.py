"""Files that are complete or not there, JSON that knows whether it is whole, and locks."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import socket
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hess.errors import HessError

_TEMPORARY = ".tmp"
_JSON_LIMIT = 64 * 2**20  # bytes; ours are a thousand times smaller, a stranger's might not be


def write_atomic(path: Path, content: bytes | str) -> None:
    """Write the file under a temporary name, flush it to disk, then rename it into place."""
    data = content.encode() if isinstance(content, str) else content
    with named("write", path):
        _make_folder(path.parent)
        descriptor, temporary = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name}.", suffix=_TEMPORARY
        )
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        except BaseException:
            # The write has failed already; what stays behind goes at the next start.
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _sync_folder(path.parent)


def require_ending(path: Path, endings: Sequence[str]) -> None:
    """Refuse a name that says nothing of the formats that can be written."""
    if path.suffix.lower() not in endings:
        raise HessError(f"cannot write {str(path)!r}: the name must end in {' or '.join(endings)}")


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files that a killed process left in the folder itself."""
    for path in folder.glob(f".*{_TEMPORARY}"):
        with contextlib.suppress(OSError):  # they are in nobody's way
            path.unlink()


def _make_folder(path: Path) -> None:
    if path.is_dir():
        return
    _make_folder(path.parent)
    path.mkdir(exist_ok=True)
    _sync_folder(path.parent)


def _sync_folder(path: Path) -> None:
    """A new name survives a power cut only once its folder is on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some network file systems have no such thing
            raise
    finally:
        os.close(descriptor)


def read_bytes(path: Path, limit: int) -> bytes:
    """The content of a plain file; a link, a device or a file above the limit is refused unread."""
    with named("read", path):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise HessError(f"cannot read {str(path)!r}: it is not a plain file")
            if status.st_size > limit:
                raise HessError(
                    f"cannot read {str(path)!r}: it has {status.st_size:,} bytes, "
                    f"{limit:,} at most make sense"
                )
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return file.read(limit)
        finally:
            os.close(descriptor)


def refuse_links(folder: Path) -> None:
    """A stranger's run folder must not lead writes, or removals, to places outside of it."""
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = os.path.join(parent, name)
            if os.path.islink(path):
                raise HessError(f"{path!r} is a symbolic link; a run folder must not have any")


def digest(content: bytes) -> str:
    """A short fingerprint of bytes. It finds damage; it does not stop forgers."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON, atomically."""
    write_atomic(path, json.dumps(value, indent=2, sort_keys=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file; a missing or damaged one is named in the error."""
    content = read_bytes(path, _JSON_LIMIT)
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise HessError(f"cannot read {str(path)!r}: {error}") from error


def write_sealed(path: Path, value: dict[str, Any]) -> None:
    """Write an object as JSON that carries its own digest."""
    write_json(path, value | {"digest": _seal(value)})


def read_sealed(path: Path) -> dict[str, Any]:
    """Read what `write_sealed` wrote; a change of any value is noticed."""
    value = read_json(path)
    if not isinstance(value, dict) or "digest" not in value:
        raise HessError(f"{str(path)!r} is damaged: it has no digest")
    seal = value.pop("digest")
    try:
        fits = seal == _seal(value)
    except RecursionError as error:
        raise HessError(f"cannot read {str(path)!r}: {error}") from error
    if not fits:
        raise HessError(f"{str(path)!r} was damaged or edited: its digest does not fit")
    return value


def _seal(value: dict[str, Any]) -> str:
    return digest(json.dumps(value, sort_keys=True).encode())


@contextlib.contextmanager
def named(action: str, path: Path) -> Iterator[None]:
    """What the system refuses to do with a file, as a sentence that names it."""
    try:
        yield
    except OSError as error:
        raise HessError(f"cannot {action} {str(path)!r}: {reason(error)}") from error


def reason(error: OSError) -> str:
    """What the system says, without numbers."""
    return error.strerror or str(error)


# --- locks --------------------------------------------------------------------------------------


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
