"""The same command again continues a run as if nothing had happened, or says why it does not."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hess.errors import HessError
from hess.files import read_sealed, write_sealed
from hess.runs.folder import RunFolder
from hess.runs.logs import read_evaluations, read_metrics
from hess.runs.manifest import FORMAT, checkpoint_folders, read_manifest
from hess.runs.snapshots import list_snapshots
from tests.faults.runs import STEPS, Outcome, outcome, path_of, stop_at, tiny_config, train
from tests.faults.tiny_tasks import HORIZON

CONFIG = tiny_config()
Messages = Callable[[], str]


@pytest.mark.parametrize("pipeline", [True, False])
@pytest.mark.parametrize("num_envs", [1, 2])
def test_a_stopped_run_ends_like_one_that_was_not(
    tmp_path: Path, pipeline: bool, num_envs: int
) -> None:
    config = tiny_config(pipeline=pipeline, num_envs=num_envs)
    train(config, tmp_path / "whole")
    # At an evaluation, at a checkpoint, at neither, and at the very end, before its evaluation.
    for step in (10 * HORIZON, 12 * HORIZON, 14 * HORIZON, STEPS):
        with stop_at(step):
            result = train(config, tmp_path / "stopped").result
        assert (result.step, result.finished, result.signal) == (step, False, 2)
    assert train(config, tmp_path / "stopped").result.finished
    expected = outcome(path_of(config, tmp_path / "whole"))
    assert outcome(path_of(config, tmp_path / "stopped")) == expected


def files_of(path: Path) -> dict[str, bytes]:
    found = [file for file in path.rglob("*") if file.is_file() and file.name != ".lock"]
    return {str(file.relative_to(path)): file.read_bytes() for file in found}


def test_a_finished_run_says_so_and_does_nothing(tmp_path: Path, messages: Messages) -> None:
    first = train(CONFIG, tmp_path)
    before = files_of(first.path)
    messages()
    again = train(CONFIG, tmp_path)
    assert again == first
    assert f"the run has done its {STEPS} steps already" in messages()
    assert files_of(first.path) == before


def test_a_finished_run_can_be_given_more_steps(tmp_path: Path) -> None:
    path = train(CONFIG, tmp_path).path
    before = (path / "eval.csv").read_text()
    longer = tiny_config(steps=STEPS + 4 * HORIZON)
    assert train(longer, tmp_path).result.step == STEPS + 4 * HORIZON
    assert (path / "eval.csv").read_text().startswith(before)
    assert RunFolder(path).read_config() == longer
    # Finished with fewer, and asked for fewer again, it must not seem to have made fewer.
    with pytest.raises(HessError, match=r"done 288 steps already, steps=240 asks for fewer"):
        train(CONFIG, tmp_path)
    assert RunFolder(path).read_config() == longer


def test_steps_may_shrink_to_what_is_not_done_yet(half: Path) -> None:
    with pytest.raises(HessError, match="done 156 steps already, steps=144 asks for fewer"):
        train(tiny_config(steps=12 * HORIZON), half)
    assert train(tiny_config(steps=15 * HORIZON), half).result.step == 15 * HORIZON


def test_a_changed_config_is_refused_with_its_fields(half: Path) -> None:
    path = path_of(CONFIG, half)
    before = files_of(path)
    with pytest.raises(HessError) as refused:
        train(tiny_config(seed=1, low__hindsight=0.5), half)
    assert "(seed: 0 -> 1, low.hindsight: 0.3 -> 0.5)" in str(refused.value)
    assert files_of(path) == before
    assert train(tiny_config(record__checkpoint_interval=7), half).result.finished


def test_an_impossible_config_leaves_nothing_behind_that_blocks_the_right_one(
    tmp_path: Path,
) -> None:
    with pytest.raises(HessError, match="subgoal_interval=13 is impossible"):
        train(tiny_config(subgoal_interval=13), tmp_path)
    assert train(CONFIG, tmp_path).result.finished


def test_the_latest_and_the_previous_checkpoint_are_kept(half: Path) -> None:
    path = path_of(CONFIG, half)
    assert [int(folder.name) for folder in checkpoint_folders(path)] == [144, 156]
    train(CONFIG, half)
    folders = checkpoint_folders(path)
    assert [int(folder.name) for folder in folders] == [216, 240]
    named = {file.name for folder in folders for file in read_manifest(folder).episodes}
    assert {file.name for file in (path / "replay").iterdir()} == named
    assert all(len(list(folder.iterdir())) == 2 for folder in folders)


def test_falling_back_takes_everything_back(
    half: Path, undisturbed: Outcome, messages: Messages
) -> None:
    path = path_of(CONFIG, half)
    latest = checkpoint_folders(path)[-1]
    next(latest.glob("state-*")).write_bytes(b"")
    (path / "snapshots" / "000000156.safetensors").write_bytes(b"from another time")
    with stop_at(13 * HORIZON):  # until then every record must have been made again
        train(CONFIG, half)
    text = messages()
    assert re.search(r"checkpoint at step 156 is not usable: 'state-.*' is damaged", text)
    assert re.search(r"set aside as '.*damaged-000000156'", text)
    assert "resumed at step 144" in text
    steps = [line["step"] for line in read_metrics(RunFolder(path))]
    assert steps == [HORIZON * n for n in range(1, 14)]
    assert read_evaluations(RunFolder(path))["step"] == [0, 60, 120]
    assert list(list_snapshots(RunFolder(path))) == [72, 144]
    assert train(CONFIG, half).result.finished
    assert outcome(path) == undisturbed


def test_records_are_cut_back_at_once(half: Path) -> None:
    path = path_of(CONFIG, half)
    for name in ("eval.csv", "metrics.jsonl"):
        with (path / name).open("a") as file:
            file.write("a line that was written after the checkpoint\n")
    with stop_at(14 * HORIZON):
        train(CONFIG, half)
    assert read_metrics(RunFolder(path))[-1]["step"] == 14 * HORIZON
    assert read_evaluations(RunFolder(path))["step"] == [0, 60, 120]


def test_results_without_a_checkpoint_are_not_overwritten(half: Path) -> None:
    path = path_of(CONFIG, half)
    shutil.rmtree(path / "checkpoints")
    before = files_of(path)
    with pytest.raises(HessError, match="has results up to step 120 but no checkpoint; bring"):
        train(CONFIG, half)
    assert files_of(path) == before


def test_leftovers_of_a_killed_process_are_removed(half: Path) -> None:
    path = path_of(CONFIG, half)
    torn = path / "checkpoints" / "000000168"
    torn.mkdir()
    places = (path, path / "replay", path / "snapshots", torn, checkpoint_folders(path)[-1])
    for folder in places:
        (folder / ".state.safetensors.abcdefgh.tmp").write_bytes(b"half")
    with stop_at(14 * HORIZON):
        train(CONFIG, half)
    assert not list(path.rglob("*.tmp"))


def test_episodes_lost_while_training_are_written_again(tmp_path: Path) -> None:
    path = path_of(CONFIG, tmp_path)
    original = RunFolder.require_lock

    def lose_a_file(self: RunFolder) -> None:
        original(self)
        for file in sorted((path / "replay").glob("*"))[1:2]:
            file.unlink()

    with pytest.MonkeyPatch.context() as patch, stop_at(14 * HORIZON):
        patch.setattr(RunFolder, "require_lock", lose_a_file)
        train(CONFIG, tmp_path)
    assert train(CONFIG, tmp_path).result.finished


@pytest.mark.parametrize(
    ("written", "version"), [(FORMAT - 1, "0.0.9"), (FORMAT + 1, "9.9.9"), (str(FORMAT), None)]
)
def test_another_format_is_refused_and_nothing_older_taken_instead(
    half: Path, written: Any, version: str | None
) -> None:
    path = path_of(CONFIG, half)
    latest = checkpoint_folders(path)[-1]
    values = read_sealed(latest / "manifest.json")
    values |= {"format": written, "origin": {"hess": version}, "of the future": True}
    write_sealed(latest / "manifest.json", values)
    before = files_of(path)
    said = rf"written by hess {version} in format {written}; this is hess .* format {FORMAT}"
    with pytest.raises(HessError, match=said):
        train(CONFIG, half)
    assert files_of(path) == before


def test_other_versions_are_named(half: Path, messages: Messages) -> None:
    manifest = checkpoint_folders(path_of(CONFIG, half))[-1] / "manifest.json"
    values = read_sealed(manifest)
    values["origin"] |= {"jax": "0.1", "cpu": "Abacus"}
    write_sealed(manifest, values)
    assert train(CONFIG, half).result.finished
    assert re.search(r"not bit for bit .* jax 0.1 \(now .*\), cpu Abacus \(now ", messages())


def test_a_lock_that_was_removed_stops_the_run_before_it_saves(half: Path) -> None:
    path = path_of(CONFIG, half)
    with pytest.MonkeyPatch.context() as patch, stop_at(14 * HORIZON):
        original = RunFolder.require_lock

        def steal(self: RunFolder) -> None:
            (path / ".lock").unlink()
            original(self)

        patch.setattr(RunFolder, "require_lock", steal)
        with pytest.raises(HessError, match=r"lock of .* was removed while this process"):
            train(CONFIG, half)
    assert int(checkpoint_folders(path)[-1].name) == 156
