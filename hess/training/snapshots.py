"""Snapshots on disk: one small file per moment of training."""

from __future__ import annotations

from pathlib import Path

from hess.agents.agent import Agent, Arrays
from hess.errors import HessError
from hess.files import read_bytes, reason, write_atomic
from hess.training.folder import RunFolder
from hess.training.tensors import pack_sealed, unpack_sealed

_LIMIT = 2**30  # bytes; a snapshot is small

# How names of files begin. Skills have files of their own: who shows φ need not know of them.
SUBGOAL_SPACE, SKILLS = "", "skills-"


def write_snapshot(folder: RunFolder, step: int, agent: Agent) -> None:
    """Write what figures and the viewer need; an agent without a φ yet has nothing to show."""
    arrays = agent.snapshot()
    if arrays:
        kind = SKILLS if any(name.startswith("skills.") for name in arrays) else SUBGOAL_SPACE
        write_atomic(folder.snapshots / f"{kind}{step:09d}.safetensors", pack_sealed(arrays))


def list_snapshots(folder: RunFolder, kind: str = SUBGOAL_SPACE) -> dict[int, Path]:
    """The snapshots of a run by step."""
    found = sorted(folder.snapshots.glob(f"{kind}*.safetensors"))
    numbers = [path.stem.removeprefix(kind) for path in found]
    return {
        int(number): path for number, path in zip(numbers, found, strict=True) if number.isdecimal()
    }


def read_snapshot(path: Path) -> Arrays:
    """The arrays of a snapshot."""
    return unpack_sealed(read_bytes(path, _LIMIT), f"the snapshot {str(path)!r}")


def drop_later_snapshots(folder: RunFolder, step: int) -> None:
    """Remove what a run that was cut back to `step` has not reached again yet."""
    for kind in (SUBGOAL_SPACE, SKILLS):
        for later, path in list_snapshots(folder, kind).items():
            if later > step:
                try:
                    path.unlink()
                except OSError as error:
                    raise HessError(f"cannot remove {str(path)!r}: {reason(error)}") from error
