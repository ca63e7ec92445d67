"""An environment that misbehaves is named, with the step, and costs nothing that was learned."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hess.agents.agent import Policy
from hess.errors import HessError
from hess.training.evaluation import Evaluator
from hess.training.folder import RunFolder
from hess.training.manifest import checkpoint_folders
from hess.training.records import read_evaluations
from tests.faults import tiny_tasks
from tests.faults.runs import STEPS, path_of, tiny_config, train
from tests.faults.tiny_tasks import ENDLESS, FAULTS, FAULTY, HORIZON, Faulty

CONFIG = tiny_config(task=f"{tiny_tasks.__name__}:{FAULTY}")


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("pipeline", [True, False])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_and_what_was_learned_is_saved(
    fault: str, pipeline: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(task=CONFIG.task, pipeline=pipeline)
    monkeypatch.setattr(Faulty, "due", 4 * HORIZON + 3)  # in the fifth episode
    monkeypatch.setattr(Faulty, "fault", fault)
    with pytest.raises(HessError) as failed:
        train(config, tmp_path)
    sentence = str(failed.value)
    number = 0 if "reset" in fault else 2
    learned = (5 if "reset" in fault else 4) * HORIZON
    assert sentence.startswith(f"the environment '{CONFIG.task}' ")
    assert f" at step {number} of an episode; " in sentence
    assert sentence.endswith(f"what was learned in {learned} steps is saved")
    assert "\n" not in sentence
    monkeypatch.setattr(Faulty, "fault", "")
    assert int(checkpoint_folders(path_of(config, tmp_path))[-1].name) == learned
    result = train(config, tmp_path).result
    assert (result.step, result.finished) == (STEPS, True)


def break_evaluation(patch: pytest.MonkeyPatch, due: int) -> None:
    """From the evaluation of this step on, its environments give a reward of nan."""
    original = Evaluator.start

    def broken(self: Evaluator, policy: Policy, step: int, train_success: float) -> None:
        for task in self._collector._tasks:
            fault = "nan reward" if step >= due else ""
            setattr(task.env.unwrapped, "fault", fault)  # noqa: B010 (Gymnasium knows no such)
        original(self, policy, step, train_success)

    patch.setattr(Evaluator, "start", broken)


def test_a_fault_in_evaluation_costs_no_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(task=CONFIG.task, pipeline=False)
    train(config, tmp_path / "whole")
    with monkeypatch.context() as patch:
        break_evaluation(patch, 10 * HORIZON)
        with pytest.raises(HessError, match=r"reward nan at step 0 of .* in 120 steps is saved"):
            train(config, tmp_path / "broken")
    assert train(config, tmp_path / "broken").result.finished
    whole, mended = (path_of(config, tmp_path / name) for name in ("whole", "broken"))
    assert (mended / "eval.csv").read_bytes() == (whole / "eval.csv").read_bytes()


def test_a_fault_in_evaluation_beside_training_costs_nothing_that_was_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By then training has gone on; the evaluation is made up for where it has come to."""
    with monkeypatch.context() as patch:
        break_evaluation(patch, 10 * HORIZON)
        with pytest.raises(HessError, match=r"reward nan at step 0 of .* is saved") as failed:
            train(CONFIG, tmp_path)
    path = path_of(CONFIG, tmp_path)
    learned = int(checkpoint_folders(path)[-1].name)
    assert learned >= 10 * HORIZON
    assert f"in {learned} steps is saved" in str(failed.value)
    before = read_evaluations(RunFolder(path))["step"]
    assert train(CONFIG, tmp_path).result.finished
    assert read_evaluations(RunFolder(path))["step"][: len(before) + 1] == [*before, learned]


def test_an_environment_that_never_ends_is_named(tmp_path: Path) -> None:
    config = tiny_config(task=f"{tiny_tasks.__name__}:{ENDLESS}")
    sentence = f"the environment '{config.task}' neither terminated nor truncated at its horizon"
    with pytest.raises(HessError, match=re.escape(f"{sentence}, step {HORIZON}")):
        train(config, tmp_path)
