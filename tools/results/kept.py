"""What figures show of a recorded run beside its curve, small enough to be committed.

    results/<suite>/<method>/<task>-<figure>.npz   seed/file/array

Each figure keeps of the snapshots only what it draws, in half precision and compressed. φ itself is
not kept but what it gives: where the figure asks for the φ of several moments, the observations are
replaced by their embeddings at all of these, one beside the other, and φ of a moment is the matrix
that takes its own columns.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hess.analysis.curves import VARIANCE
from hess.analysis.explored import earlier_representation, moments
from hess.analysis.latent import newest_trajectories, stride_of
from hess.analysis.maps import ARROWS
from hess.analysis.recorded import RecordedSeed
from hess.analysis.skills import skill_moments
from hess.arrays import Arrays, Floats
from hess.errors import HessError
from hess.files import read_bytes, write_atomic
from hess.runs.logs import Series
from hess.runs.run import About, NothingToDrawError, Run
from hess.runs.snapshots import SKILLS

Files = dict[str, Arrays]
"""By the name that the file has in a run folder, without its ending."""

_LIMIT = 2**24  # bytes; ours are a hundred times smaller
_METRICS = "metrics"
_POINTS = 500  # of a metric: as many as a figure shows without thinning them again
# Arrays of a snapshot, by how their names begin.
_STATES, _TRAJECTORIES = "states.", "latest."
_PATHS = ("latest.positions", "latest.embeddings")
_CELLS = ("cells.centres", "cells.counts", "cells.novelty", "cells.potential")


# --- what is kept ---------------------------------------------------------------------------


def keep_measures(run: Run) -> Files:
    """Fig. 3: states and cells of the last moment, and how φ has changed since before."""
    *_, last = moments(run)
    before = earlier_representation(run, last)
    steps = [last] if before is None else [before, last]
    arrays = run.read(run.snapshots[last])
    shown = arrays["states.observations"][:ARROWS]
    embedded, selectors = _embedded(run, steps, shown)
    own = arrays | _cut(arrays, np.s_[:0], _TRAJECTORIES) | {"states.observations": embedded}
    return _moments_of(run, steps, own, selectors)


def keep_representation(run: Run) -> Files:
    """Fig. 6: φ of the newest trajectories at several moments."""
    steps = moments(run)
    arrays = run.read(run.snapshots[steps[-1]])
    embedded, selectors = _embedded(run, steps, arrays["latest.observations"])
    own = {**arrays, "latest.observations": embedded}
    own |= _cut(own, np.s_[-len(embedded) :], _TRAJECTORIES)
    own |= _cut(own, np.s_[:, :1], *_PATHS)
    own["states.observations"] = np.zeros((0, 1))
    # Embeddings tell which directions of φ are the widest; nothing else of the states is shown.
    own |= {"states.positions": np.zeros((0, 2)), "states.steps": own["states.steps"][:0]}
    return _moments_of(run, steps, own, selectors)


def keep_subgoals(run: Run) -> Files:
    """Fig. 8: visited states and the subgoals of the newest episodes at the last moment."""
    *_, last = moments(run)
    arrays = run.read(run.snapshots[last])
    own = arrays | _cut(arrays, np.s_[:, :1], *_PATHS)
    own |= {
        "states.observations": np.zeros((0, 1)),
        "latest.observations": arrays["latest.observations"][:0],
    }
    return _moments_of(run, [last], own, [])


def keep_latent(run: Run) -> Files:
    """Fig. 13: the newest trajectories of the last moment, as many points as are drawn."""
    *_, last = moments(run)
    arrays = run.read(run.snapshots[last])
    newest = newest_trajectories(run.snapshot(last))
    stride = stride_of(newest)
    own = arrays | _cut(arrays, np.s_[:0], _STATES)
    own |= _cut(own, np.s_[-len(newest) :], _TRAJECTORIES)
    own |= _cut(own, np.s_[:, ::stride], *_PATHS)
    own["latest.stride"] = arrays["latest.stride"] * stride
    own["latest.observations"] = arrays["latest.observations"][:0]
    return _moments_of(run, [last], own, [])


def keep_skills(run: Run) -> Files:
    """Fig. 12: traces of skills at several moments."""
    files = [run.skill_files[step] for step in skill_moments(run)]
    return {file.stem: _small(run.read(file)) for file in files}


def keep_variance(run: Run) -> Files:
    """Fig. 11: the variance of the intrinsic reward."""
    if VARIANCE not in run.metrics:
        raise NothingToDrawError(f"{run.title} has no intrinsic reward")
    series = run.metrics[VARIANCE].thinned(_POINTS)
    return {_METRICS: {VARIANCE: np.stack([series.steps, series.values]).astype(np.float32)}}


KEEPERS: dict[str, Callable[[Run], Files]] = {
    "measures": keep_measures,
    "representation": keep_representation,
    "subgoals": keep_subgoals,
    "latent": keep_latent,
    "skills": keep_skills,
    "intrinsic-variance": keep_variance,
}
"""By the drawing of a suite (hess/sweeps/drawings.py)."""


def _embedded(run: Run, steps: Sequence[int], observations: Floats) -> tuple[Floats, list[Floats]]:
    """φ of several moments, one beside the other, and what takes one of them out.

    [..., obs] -> [..., moments * d], each [moments * d, d].
    """
    own = [run.snapshot(step).embed(observations) for step in steps]
    dim = own[0].shape[-1]
    selectors = np.split(np.eye(dim * len(steps), dtype=np.float16), len(steps), axis=1)
    return np.concatenate(own, axis=-1), selectors


def _moments_of(run: Run, steps: Sequence[int], last: Arrays, selectors: Sequence[Floats]) -> Files:
    """The last moment as given, of those before nothing but φ."""
    plain = {name: each for name, each in last.items() if not name.startswith("representation.")}
    files: Files = {run.snapshots[step].stem: {} for step in steps}
    for arrays, selector in zip(files.values(), selectors, strict=False):
        arrays["representation.weights[0]"] = selector
        arrays["representation.biases[0]"] = np.zeros(selector.shape[1])
    files[run.snapshots[steps[-1]].stem] |= plain
    return {name: _small(arrays) for name, arrays in files.items()}


def _small(arrays: Arrays) -> Arrays:
    """Numbers as pictures need them; a share of visits may be too small for half precision."""
    return {
        name: array.astype(np.float32 if name.startswith("cells.") else np.float16)
        if array.dtype.kind == "f"
        else array
        for name, array in arrays.items()
    }


def _cut(arrays: Arrays, index: Any, *kinds: str) -> Arrays:
    """What an index leaves of the arrays whose names begin so; scalars stay out of it."""
    own = {name: each for name, each in arrays.items() if name.startswith(kinds) and each.ndim}
    return {name: array[index] for name, array in own.items()}


# --- files ----------------------------------------------------------------------------------


def kept_path(table: Path, figure: str) -> Path:
    """Beside the table of its row."""
    return table.with_name(f"{table.stem}-{figure}.npz")


def write_kept(path: Path, seeds: Mapping[int, Files]) -> None:
    """The files of some seeds of a row."""
    flat: dict[str, Any] = {
        f"{seed}/{file}/{name}": array
        for seed, files in sorted(seeds.items())
        for file, arrays in files.items()
        for name, array in arrays.items()
    }
    content = io.BytesIO()
    np.savez_compressed(content, **flat)
    write_atomic(path, content.getvalue())


def read_kept(path: Path) -> dict[int, Files]:
    """What `write_kept` wrote; nothing where there is no file."""
    if not path.exists():
        return {}
    found: dict[int, Files] = {}
    try:
        with np.load(io.BytesIO(read_bytes(path, _LIMIT)), allow_pickle=False) as arrays:
            for key in arrays.files:
                seed, file, name = key.split("/", 2)
                found.setdefault(int(seed), {}).setdefault(file, {})[name] = arrays[key]
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as error:
        raise HessError(f"{str(path)!r} is damaged: {error}") from error
    return found


class RecordedRun(Run):
    """A recorded seed as figures read it: its curve, and what was kept for one of them."""

    def __init__(self, curve: RecordedSeed, kept: Files | None = None):
        # Named as `hess train` names the folder of a run.
        super().__init__(Path(curve.suite, curve.method, curve.task, f"seed-{curve.seed}"))
        self._kept = kept or {}
        metrics = self._kept.get(_METRICS, {})
        self.config = About.of(dict(curve.about["config"]), str(self.path))
        self.metrics = {name: Series(*array.astype(np.float64)) for name, array in metrics.items()}
        steps = np.array(curve.steps, np.float64)
        self.evaluations = {"success_rate": Series(steps, np.array(curve.success))}
        self.snapshots = self._files("")
        self.skill_files = self._files(SKILLS)

    def read(self, file: Path) -> Arrays:
        """The arrays that were kept of a file; of a moment before the last, only φ was."""
        kept = self._kept[file.stem]
        if file not in self.snapshots.values():
            return kept
        last = self._kept[max(filter(str.isdecimal, self._kept))]
        return last | _cut(last, np.s_[:0], _STATES, _TRAJECTORIES, *_CELLS) | kept

    def _files(self, kind: str) -> dict[int, Path]:
        names = [file.removeprefix(kind) for file in self._kept if file.startswith(kind)]
        steps = sorted(int(name) for name in names if name.isdecimal())
        return {step: Path(f"{kind}{step:09d}.safetensors") for step in steps}
