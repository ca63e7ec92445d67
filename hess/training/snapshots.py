"""Snapshots on disk: one small file per moment of training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from hess.agents.agent import Agent, Arrays
from hess.errors import HessError
from hess.files import write_atomic
from hess.training.folder import RunFolder


def write_snapshot(folder: RunFolder, step: int, agent: Agent) -> None:
    """Write what figures and the viewer need; an agent without a φ yet has nothing to show."""
    arrays = agent.snapshot()
    if arrays:
        contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        write_atomic(folder.snapshots / f"{step:09d}.safetensors", save(contiguous))


def list_snapshots(folder: RunFolder) -> dict[int, Path]:
    """The snapshots of a run by step."""
    return {int(path.stem): path for path in sorted(folder.snapshots.glob("*.safetensors"))}


def read_snapshot(path: Path) -> Arrays:
    """The arrays of a snapshot."""
    try:
        arrays: Arrays = load(path.read_bytes())
    except (OSError, SafetensorError) as error:
        raise HessError(f"cannot read the snapshot {str(path)!r}: {error}") from error
    return arrays
