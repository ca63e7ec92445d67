"""Checkpoints of the whole training state: complete, checked, never half-written.

Networks, counts and counters are small and written anew each time. Stored episodes never change,
so each checkpoint writes only those that are new, into a file that later checkpoints refer to;
a checkpoint of a million steps costs what the last few thousand do. The format is safetensors
and JSON: opening a stranger's run folder runs no code.

    checkpoints/000050000/manifest.json   written last: what belongs to it, with digests
    checkpoints/000050000/state.safetensors
    replay/00000000-00000100-r1.safetensors
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from hess.agents.agent import Arrays
from hess.errors import HessError
from hess.files import write_atomic
from hess.replay import Episode

FORMAT = 1
_KEPT = 2  # the latest and the previous


class Checkpoint(NamedTuple):
    """What was read back."""

    step: int
    state: Arrays
    episodes: list[tuple[int, Episode]]  # number of the first one, stacked episodes
    extra: dict[str, Any]


class CheckpointFolder:
    """The checkpoints of one run."""

    def __init__(self, run: Path):
        self._checkpoints = run / "checkpoints"
        self._replay = run / "replay"

    def save(
        self,
        step: int,
        state: Arrays,
        replay: ReplaySource,
        extra: dict[str, Any],
    ) -> None:
        """Write a checkpoint; the one before the last is dropped afterwards."""
        files = self._save_episodes(replay)
        folder = self._checkpoints / f"{step:09d}"
        content = _encode(state)
        write_atomic(folder / "state.safetensors", content)
        manifest = {
            "format": FORMAT,
            "step": step,
            "state": _digest(content),
            "replay": files,
            "extra": extra,
        }
        write_atomic(folder / "manifest.json", _seal(manifest))
        self._drop_old()

    def load(self, warn: Any) -> Checkpoint | None:
        """The newest checkpoint that is whole; None if the run has none.

        A damaged one is reported through `warn` and the one before it is taken.
        """
        folders = self._folders()
        if not folders:
            return None
        problems = []
        for folder in reversed(folders):
            try:
                return self._read(folder)
            except HessError as error:
                problems.append(str(error))
                warn(f"the checkpoint at step {int(folder.name)} is not usable: {error}")
        raise HessError(f"no usable checkpoint in {str(self._checkpoints)!r}: {problems[-1]}")

    def _read(self, folder: Path) -> Checkpoint:
        manifest = _open_manifest(folder / "manifest.json")
        state = _decode(_read_checked(folder / "state.safetensors", manifest["state"]))
        episodes = []
        for name, digest in manifest["replay"].items():
            arrays = _decode(_read_checked(self._replay / _plain_name(name), digest))
            first = int(name.partition("-")[0])
            try:
                episodes.append((first, Episode(**arrays)))
            except TypeError as error:
                raise HessError(f"{name!r} does not hold episodes: {error}") from error
        return Checkpoint(manifest["step"], state, episodes, manifest["extra"])

    def _save_episodes(self, replay: ReplaySource) -> dict[str, str]:
        """Write the episodes that no file holds yet; all files needed, with digests."""
        known = self._known_files(replay)
        end = max((_range(name)[1] for name in known), default=replay.first)
        if end < replay.last:
            name = f"{end:08d}-{replay.last:08d}-r{replay.revision}.safetensors"
            content = _encode(replay.read(end, replay.last)._asdict())
            write_atomic(self._replay / name, content)
            known[name] = _digest(content)
        return known

    def _known_files(self, replay: ReplaySource) -> dict[str, str]:
        """Files of the last checkpoint that still belong to the ring."""
        folders = self._folders()
        if not folders:
            return {}
        try:
            files: dict[str, str] = _open_manifest(folders[-1] / "manifest.json")["replay"]
        except HessError:
            return {}  # the last checkpoint is damaged: nothing of it can be relied on
        return {
            name: digest
            for name, digest in files.items()
            if name.endswith(f"-r{replay.revision}.safetensors")
            and _range(name)[1] > replay.first
            and _range(name)[1] <= replay.last
            and (self._replay / name).exists()
        }

    def _drop_old(self) -> None:
        folders = self._folders()
        for folder in folders[:-_KEPT]:
            shutil.rmtree(folder)
        needed: set[str] = set()
        for folder in folders[-_KEPT:]:
            needed |= set(_open_manifest(folder / "manifest.json")["replay"])
        for file in self._replay.glob("*.safetensors"):
            if file.name not in needed:
                file.unlink()

    def _folders(self) -> list[Path]:
        """Complete checkpoints, oldest first; one without a manifest was never finished."""
        found = self._checkpoints.glob("[0-9]*/manifest.json")
        return sorted((path.parent for path in found), key=lambda folder: int(folder.name))


class ReplaySource(NamedTuple):
    """The episodes first..last-1 of a ring, to be read in part."""

    first: int
    last: int
    revision: int
    read: Any  # (start, stop) -> Episode of stacked host arrays


def _range(name: str) -> tuple[int, int]:
    first, last, _ = name.split("-")
    return int(first), int(last)


def _plain_name(name: str) -> str:
    """A manifest must not point outside its run folder."""
    if Path(name).name != name:
        raise HessError(f"the manifest names a file outside the run folder: {name!r}")
    return name


def _encode(arrays: Arrays) -> bytes:
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    # ascontiguousarray turns a scalar into an array of one element; the shape must survive.
    shaped = {name: array.reshape(arrays[name].shape) for name, array in contiguous.items()}
    return save_tensors(shaped)


def _decode(content: bytes) -> Arrays:
    try:
        arrays: Arrays = load_tensors(content)
    except (SafetensorError, ValueError, KeyError, OverflowError) as error:
        raise HessError(f"not a safetensors file: {error}") from error
    return arrays


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _read_checked(path: Path, digest: str) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise HessError(f"cannot read {path.name!r}: {error.strerror}") from error
    if _digest(content) != digest:
        raise HessError(f"{path.name!r} is damaged: its digest does not fit the manifest")
    return content


def _seal(manifest: dict[str, Any]) -> str:
    """JSON that carries its own digest."""
    body = json.dumps(manifest, sort_keys=True)
    return json.dumps({"digest": _digest(body.encode()), "manifest": manifest}, sort_keys=True)


def _open_manifest(path: Path) -> dict[str, Any]:
    try:
        sealed = json.loads(path.read_bytes())
        manifest: dict[str, Any] = sealed["manifest"]
        digest = sealed["digest"]
    except OSError as error:
        raise HessError(f"cannot read {path.name!r}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise HessError(f"{path.name!r} is damaged: {error}") from error
    if not isinstance(manifest, dict):
        raise HessError(f"{path.name!r} is damaged: no manifest inside")
    if manifest.get("format") != FORMAT:
        raise HessError(
            f"the checkpoint has format {manifest.get('format')}, this version reads {FORMAT}"
        )
    if _digest(json.dumps(manifest, sort_keys=True).encode()) != digest:
        raise HessError(f"{path.name!r} is damaged: its digest does not fit")
    return manifest


def stack_pending(episodes: Sequence[Episode]) -> Arrays:
    """Episodes that were collected and not learned from yet, as part of the state."""
    return {
        f"pending.{name}": np.stack([getattr(episode, name) for episode in episodes])
        for name in Episode._fields
        if episodes
    }


def unstack_pending(state: Arrays) -> list[Episode]:
    """The pending episodes of a state."""
    if "pending.length" not in state:
        return []
    count = len(state["pending.length"])
    return [
        Episode(**{name: state[f"pending.{name}"][index] for name in Episode._fields})
        for index in range(count)
    ]
