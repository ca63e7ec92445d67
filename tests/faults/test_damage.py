"""Every file of a run folder truncated, zeroed, flipped or deleted: noticed, or without effect."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hess
from hess.config import Config
from hess.errors import HessError
from hess.files import read_sealed
from hess.runs.folder import RunFolder
from hess.runs.logs import read_evaluations, read_metrics
from hess.runs.manifest import checkpoint_folders
from hess.runs.snapshots import list_snapshots, read_snapshot
from tests.faults.runs import Outcome, outcome, path_of, stop_at, tiny_config, train
from tests.faults.tiny_tasks import HORIZON

CONFIG = tiny_config()


def flip(position: float, bit: int) -> Callable[[Path], None]:
    def damage(file: Path) -> None:
        content = bytearray(file.read_bytes())
        if content:
            content[int(position * (len(content) - 1))] ^= 1 << bit
        file.write_bytes(content)

    return damage


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def zero(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


DAMAGES: dict[str, Callable[[Path], None]] = {
    "truncated": truncate,
    "emptied": empty,
    "zeroed": zero,
    "deleted": Path.unlink,
    "flipped at the start": flip(0.0, 0),
    "flipped in the middle": flip(0.5, 3),
    "flipped at the end": flip(1.0, 6),
}


def files_of(path: Path) -> list[Path]:
    return sorted(file.relative_to(path) for file in path.rglob("*") if file.is_file())


def readings(path: Path) -> dict[str, Any]:
    """What each reader makes of a run folder; those that refuse say nothing wrong."""
    folder = RunFolder(path)
    readers: dict[str, Callable[[], Any]] = {
        "config": folder.read_config,
        "metadata": folder.read_metadata,
        "evaluations": lambda: read_evaluations(folder, checked=True),
        "metrics": lambda: read_metrics(folder, checked=True),
    }
    for step, file in list_snapshots(folder).items():
        readers[f"snapshot {step}"] = partial(snapshot_values, file)
    found = {}
    for name, read in readers.items():
        with suppress(HessError):
            found[name] = read()
    return found


def snapshot_values(file: Path) -> dict[str, Any]:
    return {name: array.tolist() for name, array in read_snapshot(file).items()}


def check(runs: Path, config: Config, expected: Outcome) -> None:
    """Continue a damaged run: it refuses with a sentence, or ends as if it had not been damaged."""
    path = path_of(config, runs)
    refused = ""
    try:
        train(config, runs)
    except HessError as error:
        refused = str(error)
    if refused:
        assert str(path) in refused
        return
    ended = outcome(path)
    if ended.metrics != expected.metrics:
        # Metrics are the one thing a checkpoint has no copy of: a gap, but no wrong line.
        assert ended.metrics == expected.metrics[-len(ended.metrics) :]
        ended = ended._replace(metrics=expected.metrics)
    missing = set(expected.snapshots) - set(ended.snapshots)
    assert all(int(name[:9]) <= 156 for name in missing)  # an old one that was deleted
    kept = {name: expected.snapshots[name] for name in ended.snapshots}
    assert ended._replace(snapshots=kept) == expected._replace(snapshots=kept)
    for name, content in ended.snapshots.items():
        if content != expected.snapshots[name]:
            with pytest.raises(HessError, match=r"snapshot .* is"):
                read_snapshot(path / "snapshots" / name)


def every_damage(
    runs: Path, config: Config, tmp_path: Path, names: Sequence[str] = tuple(DAMAGES)
) -> Iterator[tuple[str, Path]]:
    """A copy of the runs for each file and each damage."""
    source = path_of(config, runs)
    for file in files_of(source):
        for name in names:
            copy = tmp_path / "copy"
            shutil.copytree(runs, copy)
            DAMAGES[name](path_of(config, copy) / file)
            yield f"{file} {name}", copy
            shutil.rmtree(copy)


def test_readers_notice_any_damage(stopped: Path, tmp_path: Path) -> None:
    whole = readings(path_of(CONFIG, stopped))
    assert len(whole) >= 6
    for what, runs in every_damage(stopped, CONFIG, tmp_path):
        damaged = readings(path_of(CONFIG, runs))
        assert damaged == {name: whole[name] for name in damaged}, what


def test_runs_survive_damage(stopped: Path, tmp_path: Path, undisturbed: Outcome) -> None:
    names = ("truncated", "deleted", "flipped in the middle")
    for what, runs in every_damage(stopped, CONFIG, tmp_path, names):
        print(what)
        check(runs, CONFIG, undisturbed)


@pytest.mark.parametrize("folder", ["checkpoints", "replay", "snapshots", "tensorboard"])
def test_runs_survive_the_loss_of_a_folder(half: Path, folder: str, undisturbed: Outcome) -> None:
    shutil.rmtree(path_of(CONFIG, half) / folder)
    check(half, CONFIG, undisturbed)


def test_every_flip_of_every_bit_of_json_is_noticed(stopped: Path, tmp_path: Path) -> None:
    path = path_of(CONFIG, stopped)
    manifest = checkpoint_folders(path)[-1] / "manifest.json"
    for source in (path / "config.json", path / "metadata.json", manifest):
        content, whole = source.read_bytes(), read_sealed(source)
        copy = tmp_path / "copy.json"
        rng = np.random.default_rng(0)
        for position in range(len(content)):
            flipped = bytearray(content)
            flipped[position] ^= 1 << int(rng.integers(8))
            copy.write_bytes(flipped)
            try:
                assert read_sealed(copy) == whole
            except HessError:
                continue


def test_agents_load_from_a_damaged_folder_or_say_why_not(stopped: Path, tmp_path: Path) -> None:
    steps = set()
    for what, runs in every_damage(stopped, CONFIG, tmp_path):
        try:
            steps.add(hess.load(path_of(CONFIG, runs), task=CONFIG.task).step)
        except HessError as error:
            pytest.fail(f"{what}: {error}")  # one of two checkpoints is always left
    assert steps == {144, 156}


@pytest.mark.faults
@pytest.mark.parametrize(
    ("method", "names"),
    [("remembering", tuple(DAMAGES)), ("hess", ("truncated",)), ("sac", ("deleted",))],
)
def test_runs_survive_any_damage(method: str, names: Sequence[str], tmp_path: Path) -> None:
    config = tiny_config(method=method)
    train(config, tmp_path / "whole")
    expected = outcome(path_of(config, tmp_path / "whole"))
    with stop_at(13 * HORIZON):
        train(config, tmp_path / "stopped")
    for what, runs in every_damage(tmp_path / "stopped", config, tmp_path, names):
        print(what)
        check(runs, config, expected)
