"""The manifest of a checkpoint: what belongs to it and how to know whether it is whole.

Data files are named by their content, so a name is never reused for something else and a
manifest has no paths in it that could lead out of the run folder.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from hess import runtime
from hess.config import Config
from hess.errors import HessError
from hess.files import read_sealed, write_sealed
from hess.native import library
from hess.runs.folder import RunFolder, from_json, refuse_changes

FORMAT = 8
MANIFEST = "manifest.json"
_FOLDER = re.compile(r"[0-9]{9,15}")
_DIGEST = re.compile(r"[0-9a-f]{32}")


class FormatError(HessError):
    """A checkpoint that is whole and not for this version; falling back would lose it."""


@dataclass(frozen=True)
class Position:
    """How long a growing file was, and the checksum of that much of it."""

    size: int
    checksum: int


@dataclass(frozen=True)
class RecordsPosition:
    """Where metrics.jsonl stood, and all of eval.csv: it is small, and the result of a run."""

    metrics: Position
    evaluations: str


@dataclass(frozen=True)
class StateFile:
    """Everything but the stored episodes."""

    size: int
    digest: str

    @property
    def name(self) -> str:
        """Where it lies in the checkpoint's folder."""
        return f"state-{self.digest}.safetensors"


@dataclass(frozen=True)
class EpisodeFile:
    """The stored episodes first..last-1."""

    first: int
    last: int
    size: int
    digest: str

    @property
    def name(self) -> str:
        """Where it lies in the run's replay folder."""
        return f"{self.first:08d}-{self.last:08d}-{self.digest}.safetensors"


@dataclass(frozen=True)
class Origin:
    """What bit-equality depends on."""

    hess: str
    jax: str
    jaxlib: str
    numpy: str
    mujoco: str
    cpu: str
    products: str


@dataclass(frozen=True)
class Manifest:
    """One checkpoint."""

    format: int
    origin: Origin
    step: int
    config: Config
    state: StateFile
    revision: int
    """How often stored episodes had been rewritten in place."""
    episodes: tuple[EpisodeFile, ...]
    """Oldest first, without gaps."""
    records: RecordsPosition


def folder_name(step: int) -> str:
    """Of the checkpoint at a step."""
    return f"{step:09d}"


def origin() -> Origin:
    """This installation."""
    packages = ("hess", "jax", "jaxlib", "numpy", "mujoco")
    versions = {name: version(name) for name in packages}
    return Origin(**versions, cpu=runtime.cpu_model(), products=library.kind())


def changes(before: Origin) -> str:
    """What differs between another installation and this one; empty if nothing does."""
    old, new = dataclasses.asdict(before), dataclasses.asdict(origin())
    differing = [name for name in old if old[name] != new[name]]
    return ", ".join(f"{name} {old[name]} (now {new[name]})" for name in differing)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """The last file of a checkpoint: with it, the checkpoint exists."""
    write_sealed(folder / MANIFEST, dataclasses.asdict(manifest))


def read_manifest(folder: Path) -> Manifest:
    """A manifest that is whole and makes sense; the files it names may still be damaged."""
    values = read_sealed(folder / MANIFEST)
    if values.get("format") != FORMAT:
        writer = values.get("origin")
        by = writer.get("hess") if isinstance(writer, dict) else None
        raise FormatError(
            f"the checkpoint {str(folder)!r} was written by hess {str(by)[:20]} in format "
            f"{str(values.get('format'))[:20]}; this is hess {version('hess')}, "
            f"which reads format {FORMAT}"
        )
    manifest: Manifest = from_json(Manifest, values, MANIFEST)
    _require(folder.name == folder_name(manifest.step), "its step is not that of its folder")
    _require(_DIGEST.fullmatch(manifest.state.digest) is not None, "no digest of the state")
    _require(min(manifest.state.size, manifest.revision) >= 0, "a number is negative")
    metrics = manifest.records.metrics
    _require(min(metrics.size, metrics.checksum) >= 0, "a number is negative")
    _check_episodes(manifest.episodes)
    return manifest


def _check_episodes(files: tuple[EpisodeFile, ...]) -> None:
    for file in files:
        _require(_DIGEST.fullmatch(file.digest) is not None, "no digest of episodes")
        _require(0 <= file.first < file.last and file.size >= 0, "a range of episodes is empty")
    for before, after in zip(files[:-1], files[1:], strict=True):
        _require(before.last == after.first, "episodes are missing or named twice")


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise HessError(f"{MANIFEST} is damaged: {problem}")


def checkpoint_folders(run: Path) -> list[Path]:
    """Checkpoints with a manifest, oldest first; one without was never finished."""
    found = (run / "checkpoints").glob(f"*/{MANIFEST}")
    folders = [path.parent for path in found if _FOLDER.fullmatch(path.parent.name)]
    return sorted(folders, key=lambda folder: int(folder.name))


def unfinished_folders(run: Path) -> list[Path]:
    """Checkpoints that a killed process was writing, or removing."""
    finished = set(checkpoint_folders(run))
    found = (run / "checkpoints").glob("[0-9]*")
    return [path for path in found if _FOLDER.fullmatch(path.name) and path not in finished]


def newest_manifest(run: Path) -> Manifest | None:
    """The newest manifest that can be read; None if there is none."""
    for folder in reversed(checkpoint_folders(run)):
        try:
            return read_manifest(folder)
        except FormatError:
            raise
        except HessError:
            continue  # whoever loads the checkpoint reports the damage
    return None


def refuse_other_config(config: Config, folder: RunFolder) -> None:
    """The config in the newest checkpoint counts; config.json is for people and for figures."""
    manifest = newest_manifest(folder.path)
    if manifest is not None:
        refuse_changes(manifest.config, config)
    elif folder.config_file.exists():
        refuse_changes(folder.read_config(), config)
