"""Snapshots: one small file per moment of training, written, listed, read and put on paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from hess.agents.agent import BaseAgent
from hess.agents.hess.exploration.directions import widest_directions
from hess.arrays import Arrays, Floats
from hess.errors import HessError
from hess.files import named, read_bytes, write_atomic
from hess.runs.folder import RunFolder
from hess.runs.tensors import pack_sealed, unpack_sealed

Parsed = TypeVar("Parsed")

_LIMIT = 2**30  # bytes; a snapshot is small
_REGION = 1.5  # sizes around a cell's centre that belong to it, if no other is nearer

# How names of files begin. Skills have files of their own: who shows φ need not know of them.
SUBGOAL_SPACE, SKILLS = "", "skills-"


def write_snapshot(folder: RunFolder, step: int, agent: BaseAgent) -> None:
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
                with named("remove", path):
                    path.unlink()


# --- as figures read it ---------------------------------------------------------------------


@dataclass(frozen=True)
class States:
    """Visited states, drawn uniformly from the replay."""

    positions: Floats  # [n, 2]
    embeddings: Floats  # [n, d]
    steps: NDArray[Any]  # [n] within their episodes
    observations: Floats  # [m, obs] of the first m of them


@dataclass(frozen=True)
class Cells:
    """The measures on the grid over φ-space."""

    size: float  # edge of a cell
    plane: Floats  # [d, k] the directions of φ that cells divide
    centres: Floats  # [n, k] along them
    counts: Floats  # [n]
    novelty: Floats  # [n]
    potential: Floats  # [n]

    def indices(self, embeddings: Floats) -> NDArray[np.intp]:
        """The cell whose centre is nearest to each embedding; -1 where all are far. [m, d] -> [m].

        In a visited cell of a grid that is the cell's own centre; landmarks have no other cells.
        """
        if len(self.centres) == 0:
            return np.full(len(embeddings), -1, np.intp)
        limit = _REGION * self.size
        tree = cKDTree(self.centres)
        _, nearest = tree.query(embeddings @ self.plane, distance_upper_bound=limit)
        return np.where(nearest < len(self.centres), nearest, -1)


@dataclass(frozen=True)
class Trajectory:
    """One of the newest episodes, thinned, with the subgoals that were set in it."""

    positions: Floats  # [k, 2]
    embeddings: Floats  # [k, d]
    success: bool
    observations: Floats  # [j, obs]; j is 0 for the older ones
    active: NDArray[np.bool_]  # [s] set by active exploration, not by the high-level policy
    subgoals: Floats  # [s, d] as pursued: where active, the imagined ones
    selected: Floats  # [s, d] before they were extended
    subgoal_positions: Floats  # [s, 2] x, y of the visited state nearest to it
    selected_positions: Floats  # [s, 2]


@dataclass(frozen=True)
class Snapshot:
    """What the agent knew at one moment of training; everything in φ of that moment."""

    step: int
    states: States
    cells: Cells
    trajectories: tuple[Trajectory, ...]  # oldest first
    layers: tuple[tuple[Floats, Floats], ...]  # φ: weights [in, out] and biases [out]

    def embed(self, observations: Floats) -> Floats:
        """φ of this moment. [..., obs] -> [..., d]."""
        hidden = np.asarray(observations, np.float32)
        for weight, bias in self.layers[:-1]:
            hidden = np.maximum(hidden @ weight + bias, 0.0)
        weight, bias = self.layers[-1]
        return hidden @ weight + bias

    def position_of(self, embedding: Floats) -> Floats:
        """x, y of the visited state nearest to a point of φ-space. [d] -> [2]."""
        embeddings, positions = self._neighbours
        nearest = np.argmin(((embeddings - embedding) ** 2).sum(-1))
        return positions[nearest]

    @cached_property
    def _neighbours(self) -> tuple[Floats, Floats]:
        parts: list[States | Trajectory] = [self.states, *self.trajectories]
        embeddings = np.concatenate([part.embeddings for part in parts])
        return embeddings, np.concatenate([part.positions for part in parts])


def load_snapshot(path: Path, read: Callable[[Path], Arrays] = read_snapshot) -> Snapshot:
    """Read and check a snapshot's file."""
    return parse_file(path, lambda arrays: _parse(int(path.stem), arrays), read)


def parse_file(
    path: Path, parse: Callable[[Arrays], Parsed], read: Callable[[Path], Arrays] = read_snapshot
) -> Parsed:
    """What `parse` makes of the file's arrays; a file that does not fit is one sentence."""
    arrays = read(path)
    try:
        return parse(arrays)
    except KeyError as error:
        raise HessError(
            f"the snapshot {str(path)!r} is of another version: it has no {error}"
        ) from error
    except (ValueError, IndexError, TypeError) as error:
        raise HessError(f"the snapshot {str(path)!r} is damaged: {error}") from error


def newest_snapshot(folder: RunFolder) -> Snapshot | None:
    """The last snapshot of a run; None before the first."""
    files = list_snapshots(folder)
    return load_snapshot(files[max(files)]) if files else None


def _parse(step: int, arrays: Arrays) -> Snapshot:
    wide = {
        name: array.astype(np.float32) if array.dtype.kind == "f" else array
        for name, array in arrays.items()
    }
    states = States(
        positions=_matrix(wide["states.positions"], 2),
        embeddings=_matrix(wide["states.embeddings"]),
        steps=wide["states.steps"],
        observations=_matrix(wide["states.observations"]),
    )
    # Before they had a plane, cells divided all directions.
    plane = _matrix(wide.get("cells.plane", np.eye(states.embeddings.shape[1])))
    cells = Cells(
        size=float(wide["cells.size"]),
        plane=plane,
        centres=_matrix(wide["cells.centres"], plane.shape[1]),
        counts=wide["cells.counts"],
        novelty=wide["cells.novelty"],
        potential=wide["cells.potential"],
    )
    count = len(wide["latest.lengths"])
    trajectories = tuple(_trajectory(wide, index, count) for index in range(count))
    return Snapshot(step, states, cells, trajectories, _layers(wide))


def _matrix(array: Floats, columns: int | None = None) -> Floats:
    if array.ndim != 2 or (columns is not None and array.shape[1] != columns):
        raise ValueError(f"an array of shape {array.shape} where {columns or 'n'} columns belong")
    if not np.isfinite(array).all():
        raise ValueError("numbers that are not finite")
    return array


def _trajectory(arrays: Arrays, index: int, count: int) -> Trajectory:
    length = int(arrays["latest.lengths"][index])
    kept = length // int(arrays["latest.stride"]) + 1
    started = int(arrays["latest.segments"][index])
    observed = arrays["latest.observations"]
    place = index - (count - len(observed))
    kept_observations = length // int(arrays["latest.observations_stride"]) + 1
    empty = np.zeros((0, observed.shape[-1]), np.float32)
    return Trajectory(
        positions=_matrix(arrays["latest.positions"][index, :kept], 2),
        embeddings=_matrix(arrays["latest.embeddings"][index, :kept]),
        success=bool(arrays["latest.successes"][index]),
        observations=observed[place, :kept_observations] if place >= 0 else empty,
        active=arrays["latest.active"][index, :started].astype(np.bool_),
        subgoals=arrays["latest.subgoals"][index, :started],
        selected=arrays["latest.selected"][index, :started],
        subgoal_positions=arrays["latest.subgoals_positions"][index, :started],
        selected_positions=arrays["latest.selected_positions"][index, :started],
    )


def _layers(arrays: Arrays) -> tuple[tuple[Floats, Floats], ...]:
    count = sum(name.startswith("representation.weights[") for name in arrays)
    return tuple(
        (arrays[f"representation.weights[{index}]"], arrays[f"representation.biases[{index}]"])
        for index in range(count)
    )


# --- on paper -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Projection:
    """A linear map from φ-space to the plane."""

    directions: Floats  # [d, 2]
    title: str
    labels: tuple[str, str]

    @classmethod
    def of(cls, snapshot: Snapshot) -> Projection:
        """The identity for d = 2; otherwise the first two that are explored, or else the widest."""
        embeddings, explored = snapshot.states.embeddings, snapshot.cells.plane
        if embeddings.shape[1] <= 2:
            return cls(np.eye(embeddings.shape[1], 2), "φ-space", ("φ₁", "φ₂"))
        given = explored.shape[1] >= 2 and not np.array_equal(explored, np.eye(len(explored)))
        directions = explored[:, :2] if given else widest_directions(embeddings, 2)
        # A direction's sign is arbitrary; fixed here, so that pictures do not flip over time.
        signs = np.sign(directions[np.abs(directions).argmax(0), (0, 1)])
        which = "explored" if given else "widest"
        labels = (f"φ, 1st {which} direction", f"φ, 2nd {which} direction")
        count = "two" if not given or explored.shape[1] == 2 else "first two"
        title = f"φ, d = {embeddings.shape[1]}, along its {count} {which} directions"
        return cls(directions * signs, title, labels)

    def __call__(self, embeddings: Floats) -> Floats:
        """[..., d] -> [..., 2]."""
        return embeddings @ self.directions
