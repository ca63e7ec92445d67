"""Checkpoints of the whole training state: complete, checked, never half-written.

Networks, counts and counters are small and written anew each time. Stored episodes never change,
so each checkpoint writes only those that are new, into a file that later checkpoints refer to;
a checkpoint of a million steps costs what the last few thousand do. The format is safetensors
and JSON: opening a stranger's run folder runs no code.

    replay/00000000-00000100-<digest>.safetensors    first
    checkpoints/000050000/state-<digest>.safetensors
    checkpoints/000050000/manifest.json              last: with it, the checkpoint exists
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from hess.arrays import Arrays
from hess.config import Config
from hess.errors import HessError
from hess.files import digest, named, read_bytes, refuse_links, remove_leftovers, write_atomic
from hess.replay.episode import Episode
from hess.replay.ring import Replay
from hess.runs import tensors
from hess.runs.manifest import (
    FORMAT,
    MANIFEST,
    EpisodeFile,
    FormatError,
    Manifest,
    RecordsPosition,
    StateFile,
    checkpoint_folders,
    folder_name,
    origin,
    read_manifest,
    unfinished_folders,
    write_manifest,
)
from hess.runs.stored_episodes import read_episodes, stored_range

AGENT = "agent."  # how the names of its arrays begin

_KEPT = 2  # the latest and the previous
_PER_FILE = 512  # episodes


class Expected(NamedTuple):
    """What the checkpoints of a run look like; nothing larger is read into memory."""

    state: Arrays  # of a fresh run
    episode: Episode  # an empty one
    slots: int  # episodes that the ring holds
    rounds: int  # episodes that a round can have


class Checkpoint(NamedTuple):
    """What was read back."""

    manifest: Manifest
    state: Arrays
    pending: list[Episode]  # collected and not learned from yet
    episodes: list[tuple[int, Episode]]  # number of the first one, stacked episodes


class TrainingState(NamedTuple):
    """All of a run, between two rounds."""

    step: int
    config: Config
    state: Arrays
    pending: Sequence[Episode]
    replay: Replay
    revision: int  # how often stored episodes were rewritten in place
    records: RecordsPosition


class CheckpointFolder:
    """The checkpoints of one run."""

    def __init__(self, run: Path):
        self._run = run
        self._checkpoints = run / "checkpoints"
        self._replay = run / "replay"
        # Known to be whole, newest last. Only these are kept, and only their episode files are
        # reused, so neither damage nor another timeline on disk can slip into a new checkpoint.
        self._kept: dict[Path, Manifest] = {}

    def save(self, training: TrainingState) -> None:
        """Write a checkpoint; the one before the last is dropped afterwards."""
        episodes = self._save_episodes(training.replay, training.revision)
        folder = self._checkpoints / folder_name(training.step)
        content = tensors.pack(training.state | tensors.stack_pending(training.pending))
        state = StateFile(len(content), digest(content))
        write_atomic(folder / state.name, content)
        manifest = Manifest(
            format=FORMAT,
            origin=origin(),
            step=training.step,
            config=training.config,
            state=state,
            revision=training.revision,
            episodes=episodes,
            records=training.records,
        )
        write_manifest(folder, manifest)
        self._kept.pop(folder, None)
        self._kept[folder] = manifest
        for old in list(self._kept)[:-_KEPT]:
            del self._kept[old]
        self._drop_others()

    def load(
        self, expected: Expected, warn: Callable[[str], None], episodes: bool = True
    ) -> Checkpoint | None:
        """The newest checkpoint that is whole; None if the run has none.

        A damaged one is reported through `warn` and the one before it is taken.
        """
        refuse_links(self._run)
        problems = []
        for folder in reversed(checkpoint_folders(self._run)):
            try:
                checkpoint = self._read(folder, expected, episodes)
            except HessError as error:
                # Neither is damage: with the older checkpoint, the newer one would be lost.
                if isinstance(error, FormatError) or isinstance(error.__cause__, PermissionError):
                    raise
                problems.append(error)
                warn(f"the checkpoint at step {int(folder.name):,} is not usable: {error}")
                continue
            self._kept = {folder: checkpoint.manifest}
            return checkpoint
        if problems:
            raise HessError(
                f"no usable checkpoint in {str(self._checkpoints)!r}: {problems[0]}; restore the "
                "file from a backup, or remove the run folder to start over"
            )
        return None

    def tidy(self, warn: Callable[[str], None]) -> None:
        """After `load`, in a folder that is locked: clear away what is newer, and leftovers."""
        for folder in checkpoint_folders(self._run):
            if not self._kept or int(folder.name) > self._kept_step():
                aside = folder.with_name(f"damaged-{folder.name}")
                shutil.rmtree(aside, ignore_errors=True)
                with named("rename", folder):
                    folder.rename(aside)
                warn(f"the damaged checkpoint is set aside as {str(aside)!r}")
        for folder in unfinished_folders(self._run):
            if int(folder.name) > self._kept_step():
                warn(f"the checkpoint at step {int(folder.name):,} was never finished")
            shutil.rmtree(folder, ignore_errors=True)
        for folder in self._kept:
            remove_leftovers(folder)

    def _kept_step(self) -> int:
        return max((manifest.step for manifest in self._kept.values()), default=-1)

    def _read(self, folder: Path, expected: Expected, with_episodes: bool) -> Checkpoint:
        manifest = read_manifest(folder)
        pending_limit = tensors.episodes_limit(expected.episode, expected.rounds)
        limit = tensors.state_limit(expected.state) + pending_limit
        arrays = _read_arrays(folder / manifest.state.name, manifest.state, limit)
        pending = tensors.unstack_pending(arrays, expected.episode, expected.rounds)
        state = tensors.checked_state(arrays, expected.state)
        episodes = self._read_episodes(manifest, expected) if with_episodes else []
        return Checkpoint(manifest, state, pending, episodes)

    def _read_episodes(self, manifest: Manifest, expected: Expected) -> list[tuple[int, Episode]]:
        files = manifest.episodes
        last = files[-1].last if files else 0
        oldest = max(0, last - expected.slots)
        if files and not files[0].first <= oldest < files[0].last:
            raise HessError("the manifest does not name the episodes that the replay holds")
        parts = []
        for file in files:
            count = file.last - file.first
            if count > expected.slots:
                raise HessError(f"{file.name!r} has more episodes than the replay holds")
            limit = tensors.episodes_limit(expected.episode, count)
            arrays = _read_arrays(self._replay / file.name, file, limit)
            parts.append((file.first, tensors.as_episodes(arrays, expected.episode, count)))
        return parts

    def _save_episodes(self, replay: Replay, revision: int) -> tuple[EpisodeFile, ...]:
        """Write the episodes that no file holds yet; all files of the ring, oldest first."""
        files: list[EpisodeFile] = []
        end, last = stored_range(replay)
        for file in self._known_files(end, revision):
            files += self._write_episodes(replay, end, file.first)
            files.append(file)
            end = file.last
        return (*files, *self._write_episodes(replay, end, last))

    def _known_files(self, oldest: int, revision: int) -> list[EpisodeFile]:
        """Files of the last checkpoint that still belong to the ring and are still there."""
        if not self._kept:
            return []
        manifest = list(self._kept.values())[-1]
        if manifest.revision != revision:
            return []
        return [
            file
            for file in manifest.episodes
            if file.last > oldest and _size(self._replay / file.name) == file.size
        ]

    def _write_episodes(self, replay: Replay, first: int, last: int) -> list[EpisodeFile]:
        """Write first..last-1, if there are any, into files of no more than memory can spare."""
        files = []
        for start in range(first, last, _PER_FILE):
            stop = min(start + _PER_FILE, last)
            content = tensors.pack(read_episodes(replay, start, stop)._asdict())
            file = EpisodeFile(start, stop, len(content), digest(content))
            write_atomic(self._replay / file.name, content)
            files.append(file)
        return files

    def _drop_others(self) -> None:
        """Remove what no kept checkpoint needs.

        What cannot be removed now (a network file system, while somebody reads it) is tried
        again next time; that is no reason to end a run.
        """
        for folder in (*checkpoint_folders(self._run), *unfinished_folders(self._run)):
            if folder not in self._kept:
                with contextlib.suppress(OSError):
                    (folder / MANIFEST).unlink(missing_ok=True)
                shutil.rmtree(folder, ignore_errors=True)
        needed = {self._replay / f.name for m in self._kept.values() for f in m.episodes}
        needed |= {folder / m.state.name for folder, m in self._kept.items()}
        for folder in (self._replay, *self._kept):
            for file in folder.glob("*.safetensors"):
                if file not in needed:
                    with contextlib.suppress(OSError):
                        file.unlink()


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None  # gone: it is written anew


def _read_arrays(path: Path, file: StateFile | EpisodeFile, limit: int) -> Arrays:
    """Read a data file once its size is known to be possible, and check its digest."""
    if file.size > limit:
        raise HessError(f"{path.name!r} would have {file.size:,} bytes, at most {limit:,} fit")
    content = read_bytes(path, file.size)
    if len(content) != file.size or digest(content) != file.digest:
        raise HessError(f"{path.name!r} is damaged: its digest does not fit the manifest")
    return tensors.unpack(content, repr(path.name))
