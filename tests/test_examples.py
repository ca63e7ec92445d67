"""The scripts in examples/ run as they are."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"


def run_example(name: str, *arguments: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def test_every_example_is_run_here() -> None:
    tested = Path(__file__).read_text()
    scripts = {path.name for path in EXAMPLES.glob("*.py")}
    assert scripts
    assert all(f'"{name}"' in tested for name in scripts)


def test_training_on_ones_own_environment(tmp_path: Path) -> None:
    output = run_example("own_environment.py", "--steps", "600", folder=tmp_path)
    assert "success at any step 0." in output
    assert (tmp_path / "runs" / "Arm" / "hess" / "seed-0" / "eval.csv").exists()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("others")
    return folder, run_example("others_environment.py", "--steps", "999", folder=folder)


def test_training_on_somebody_else_s_with_arguments(trained: tuple[Path, str]) -> None:
    folder, output = trained
    assert "success is an episode that ends before its horizon" in output
    assert "goal_velocity=0.01: success rate " in output
    assert "goal_velocity=0.0: success rate " in output
    assert [
        path.name for path in (folder / "runs" / "MountainCarContinuous" / "hess").iterdir()
    ] == ["goal_velocity=0.01,seed-0"]


def test_an_agent_in_loops_that_are_not_ours(trained: tuple[Path, str]) -> None:
    folder, _ = trained
    run = "runs/MountainCarContinuous/hess/goal_velocity=0.01,seed-0"
    output = run_example("use_agent.py", run, "--episodes", "2", folder=folder)
    assert "return in our own loop -" in output
    installed = importlib.util.find_spec("stable_baselines3") is not None
    assert ("return in Stable-Baselines3 -" in output) == installed
    assert ("was left out" in output) != installed
