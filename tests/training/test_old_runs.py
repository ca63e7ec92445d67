"""Runs that were made before a setting existed stay readable, and say what is assumed."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hess
from hess.analysis.figures import RUN_FIGURES
from hess.config import Config, flat_fields, override
from hess.config.absent import WHEN_ABSENT, notice
from hess.errors import HessError
from hess.files import read_sealed, write_sealed
from hess.runs.folder import RunFolder
from hess.runs.logs import read_evaluations
from hess.runs.manifest import checkpoint_folders, newest_manifest
from hess.runs.run import Run
from tests.training.stub import registered, tiny_run, train
from tests.training.toy_tasks import HORIZON

# Tiny runs on PointMaze as two earlier versions left them, but for replay and metadata: one with
# checkpoints of another format, one whose config lacks what came since.
KEPT = Path(__file__).parent / "old_runs"
# They need an extra, another method and three snapshots.
NOT_DRAWN = {"latent", "skills", "stages"}
OLD_HEADER = "step,episodes,success_rate,mean_return,train_success"


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    notice.cache_clear()
    with registered():
        yield


def edit(file: Path, change: Any) -> None:
    values = read_sealed(file)
    change(values)
    write_sealed(file, values)


def forget(values: dict[str, Any]) -> None:
    for name in WHEN_ABSENT:
        group, _, last = name.rpartition(".")
        (values[group] if group else values).pop(last)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A run as an earlier version has left it: without the later settings and columns."""
    train(tiny_run(), tmp_path, stop_at=4 * HORIZON)
    edit(tmp_path / "config.json", forget)
    manifest = checkpoint_folders(tmp_path)[-1] / "manifest.json"

    def shorten(values: dict[str, Any]) -> None:
        forget(values["config"])
        rows = values["records"]["evaluations"].splitlines()
        values["records"]["evaluations"] = "".join(
            ",".join(row.split(",")[:5]) + "\n" for row in rows
        )

    edit(manifest, shorten)
    (tmp_path / "eval.csv").write_text(read_sealed(manifest)["records"]["evaluations"])
    return tmp_path


def test_the_table_has_fields_that_exist_with_their_defaults_kind() -> None:
    fields = flat_fields(Config())
    for name, value in WHEN_ABSENT.items():
        assert name in fields
        assert type(value) is type(fields[name])


def test_what_is_missing_has_the_value_of_then_and_is_said_once(
    old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert RunFolder(old).read_config() == override(tiny_run(), WHEN_ABSENT)
    assert newest_manifest(old) is not None
    said = capsys.readouterr().err.splitlines()
    for file in ("config.json", "manifest.json"):
        start = f"hess: {file} is older than these settings, they count as "
        told = " ".join(line for line in said if line.startswith(start))
        assert all(f"{name}={value!r}" in told for name, value in WHEN_ABSENT.items())
    RunFolder(old).read_config()
    assert capsys.readouterr().err == ""


def test_an_old_run_is_continued_with_the_columns_it_began_with(old: Path) -> None:
    trainer, _ = train(tiny_run(), old)
    assert trainer.step == 8 * HORIZON
    rows = read_evaluations(RunFolder(old))
    assert ",".join(rows) == OLD_HEADER
    assert rows["step"][-1] == 8 * HORIZON
    assert read_sealed(old / "config.json")["success"] == "auto"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda values: values.update(colour="red"), "an unknown field 'colour'"),
        (lambda values: values.pop("steps"), "no field 'steps'"),
        (lambda values: values["low"].pop("hindsight"), "no field 'hindsight'"),
        (lambda values: values.update(horizon="long"), "'long' does not fit"),
        (lambda values: values.update(env=[1]), "1 does not fit"),
        (lambda values: values.update(env={"a": 1}), "does not fit"),
    ],
)
def test_other_differences_are_still_refused(old: Path, change: Any, sentence: str) -> None:
    edit(old / "config.json", change)
    with pytest.raises(HessError) as caught:
        RunFolder(old).read_config()
    assert sentence in str(caught.value)


def test_a_kept_run_is_loaded_and_evaluated(capsys: pytest.CaptureFixture[str]) -> None:
    agent = hess.load(KEPT / "format-8")
    assert agent.step == 600
    assert agent.config.high.weight_decay == 0.0
    assert "manifest.json is older than these settings" in capsys.readouterr().err
    evaluation = agent.evaluate(episodes=2)
    assert [int(episode.length) for episode in evaluation.episodes] == [50, 50]
    assert np.ptp(evaluation.episodes[0].positions, axis=0).max() > 0


def test_a_kept_run_with_checkpoints_of_another_format_is_refused_in_a_sentence() -> None:
    with pytest.raises(HessError, match=r"in format 3; this is hess .*, which reads format 8"):
        hess.load(KEPT / "format-3")


@pytest.mark.parametrize("kept", ["format-3", "format-8"])
@pytest.mark.parametrize("name", sorted(RUN_FIGURES.keys() - NOT_DRAWN))
def test_a_kept_run_is_drawn(kept: str, name: str) -> None:
    figure = RUN_FIGURES[name](Run(KEPT / kept))
    figure.savefig(io.BytesIO(), dpi=20)
    assert figure.axes
