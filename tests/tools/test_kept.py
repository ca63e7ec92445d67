"""What is kept of a run for a figure gives the figure that the run itself gives."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from hess.analysis import explored, latent, skills
from hess.analysis.curves import intrinsic_variance
from hess.errors import HessError
from hess.files import write_sealed
from hess.runs.folder import RunFolder
from hess.runs.run import NothingToDrawError, Run
from tests.analysis.fakes import fake_run, snapshot, without_measures, write_arrays
from tools.results.kept import KEEPERS, Files, RecordedRun, kept_path, read_kept, write_kept
from tools.results.recording import read_run

MOST = 100_000  # bytes that may be committed for a figure


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    made = fake_run(tmp_path_factory.mktemp("runs"), snapshots=7)
    lines = made.metrics_file.read_text().splitlines()
    rows = [line[:-1] + f', "intrinsic/variance": {1 / (1 + n)}}}' for n, line in enumerate(lines)]
    made.metrics_file.write_text("\n".join(rows) + "\n")
    write_sealed(made.metadata_file, {"commit": "a", "dirty": False})
    return made


def kept_run(run: Run, drawing: str, file: Path) -> RecordedRun:
    write_kept(file, {0: KEEPERS[drawing](run)})
    return RecordedRun(read_run(run.path, "main"), read_kept(file)[0])


def pixels(figure: Figure) -> np.ndarray:
    content = io.BytesIO()
    figure.savefig(content, format="rgba", dpi=100)
    return np.frombuffer(content.getvalue(), np.uint8).astype(float)


DRAW: dict[str, Callable[[Run], Figure]] = {
    "measures": explored.measures,
    "representation": lambda run: explored.representation_over_time([run]),
    "subgoals": lambda run: explored.subgoals([run]),
    "skills": skills.skill_traces,
    "intrinsic-variance": lambda run: intrinsic_variance([run]),
}


@pytest.mark.parametrize("drawing", DRAW)
def test_the_figure_is_the_same(drawing: str, folder: RunFolder, tmp_path: Path) -> None:
    run = Run(folder.path).until(20_000)
    file = tmp_path / "kept.npz"
    again = kept_run(run, drawing, file)
    difference = np.abs(pixels(DRAW[drawing](again)) - pixels(DRAW[drawing](run)))
    assert (difference > 64).mean() < 1e-3  # half precision moves an edge here and there
    assert file.stat().st_size < MOST


def test_trajectories_in_many_dimensions(folder: RunFolder, tmp_path: Path) -> None:
    made = fake_run(tmp_path, "AntMaze", snapshots=1)
    rng = np.random.default_rng(0)
    write_arrays(made, 30_000, without_measures(snapshot(rng, 1.0), 50))
    write_sealed(made.metadata_file, {"commit": "a", "dirty": False})
    run = Run(made.path)
    again = kept_run(run, "latent", tmp_path / "kept.npz")
    drawn = latent.newest_trajectories(run.snapshot(30_000))
    kept = latent.newest_trajectories(again.snapshot(30_000))
    stride = latent.stride_of(drawn)
    assert len(kept) == len(drawn) == 5
    for one, other in zip(kept, drawn, strict=True):
        np.testing.assert_array_equal(one.embeddings, other.embeddings[::stride])
        np.testing.assert_array_equal(one.positions, other.positions[::stride])
    assert latent.stride_of(kept) == 1
    assert (tmp_path / "kept.npz").stat().st_size < MOST


def test_every_figure_of_snapshots_is_tried_here() -> None:
    assert set(KEEPERS) == {*DRAW, "latent"}


def test_a_recorded_run_has_its_curve_and_its_name(folder: RunFolder) -> None:
    run = RecordedRun(read_run(folder.path, "main"))
    assert run.title == "hess on PointMaze, seed-0"
    assert run.config.fields == Run(folder.path).config.fields
    own, there = run.evaluations["success_rate"], Run(folder.path).evaluations["success_rate"]
    np.testing.assert_array_equal(own.steps, there.steps)
    np.testing.assert_array_equal(own.values, there.values)
    assert run.snapshots == {}


def test_nothing_to_keep_is_a_sentence(tmp_path: Path) -> None:
    run = Run(fake_run(tmp_path, method="sac", snapshots=0).path)
    for keep in KEEPERS.values():
        with pytest.raises(NothingToDrawError, match="has no"):
            keep(run)


def test_files_of_several_seeds(tmp_path: Path) -> None:
    file = kept_path(tmp_path / "main/hess/AntMaze.csv", "fig3")
    assert file == tmp_path / "main/hess/AntMaze-fig3.npz"
    assert read_kept(file) == {}
    seeds: dict[int, Files] = {
        1: {"metrics": {"a/b": np.ones(2)}},
        0: {"000000010": {"c[0]": np.zeros((2, 3))}},
    }
    write_kept(file, seeds)
    first = file.read_bytes()
    found = read_kept(file)
    assert list(found) == [0, 1]
    np.testing.assert_array_equal(found[1]["metrics"]["a/b"], np.ones(2))
    assert found[0]["000000010"]["c[0]"].shape == (2, 3)
    write_kept(file, found)
    assert file.read_bytes() == first


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "x.npz"
    file.write_bytes(b"PK nonsense")
    with pytest.raises(HessError, match=r"x.npz' is damaged"):
        read_kept(file)
    write_kept(file, {0: {"metrics": {"a": np.arange(100.0)}}})
    content = bytearray(file.read_bytes())
    content[70:90] = bytes(20)  # in the middle of what is compressed
    file.write_bytes(content)
    with pytest.raises(HessError, match=r"x.npz' is damaged"):
        read_kept(file)
    np.savez(file, **{"0/metrics/a": np.array([{}], dtype=object)})  # type: ignore[arg-type]
    with pytest.raises(HessError, match="is damaged"):  # pickle is not read
        read_kept(file)
