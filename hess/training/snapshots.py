"""Snapshots on disk: one small file per moment of training."""

from __future__ import annotations

from pathlib import Path

from hess.agents.agent import Agent, Arrays
from hess.errors import HessError
from hess.files import read_bytes, reason, write_atomic
from hess.training.folder import RunFolder
from hess.training.tensors import pack_sealed, unpack_sealed

_LIMIT = 2**30  # bytes; a snapshot is small


def write_snapshot(folder: RunFolder, step: int, agent: Agent) -> None:
    """Write what figures and the viewer need; an agent without a φ yet has nothing to show."""
    arrays = agent.snapshot()
    if arrays:
        write_atomic(folder.snapshots / f"{step:09d}.safetensors", pack_sealed(arrays))


def list_snapshots(folder: RunFolder) -> dict[int, Path]:
    """The snapshots of a run by step."""
    found = sorted(folder.snapshots.glob("*.safetensors"))
    return {int(path.stem): path for path in found if path.stem.isdecimal()}


def read_snapshot(path: Path) -> Arrays:
    """The arrays of a snapshot."""
    return unpack_sealed(read_bytes(path, _LIMIT), f"the snapshot {str(path)!r}")


def drop_later_snapshots(folder: RunFolder, step: int) -> None:
    """Remove what a run that was cut back to `step` has not reached again yet."""
    for later, path in list_snapshots(folder).items():
        if later > step:
            try:
                path.unlink()
            except OSError as error:
                raise HessError(f"cannot remove {str(path)!r}: {reason(error)}") from error
