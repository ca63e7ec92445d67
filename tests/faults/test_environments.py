"""An environment that misbehaves is named, with the step, and costs nothing that was learned."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hess.errors import HessError
from hess.runs.manifest import checkpoint_folders
from hess.training.trainer import Trainer
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


def test_a_fault_in_evaluation_costs_no_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(CONFIG, tmp_path / "whole")
    original = Trainer._evaluate

    def broken(self: Trainer) -> None:
        for task in self._evaluator._tasks:
            fault = "nan reward" if self.step == 10 * HORIZON else ""
            setattr(task.env.unwrapped, "fault", fault)  # noqa: B010 (Gymnasium knows no such)
        original(self)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_evaluate", broken)
        with pytest.raises(HessError, match=r"reward nan at step 0 of .* in 120 steps is saved"):
            train(CONFIG, tmp_path / "broken")
    assert train(CONFIG, tmp_path / "broken").result.finished
    whole, mended = (path_of(CONFIG, tmp_path / name) for name in ("whole", "broken"))
    assert (mended / "eval.csv").read_bytes() == (whole / "eval.csv").read_bytes()


def test_an_environment_that_never_ends_is_named(tmp_path: Path) -> None:
    config = tiny_config(task=f"{tiny_tasks.__name__}:{ENDLESS}")
    sentence = f"the environment '{config.task}' neither terminated nor truncated at its horizon"
    with pytest.raises(HessError, match=re.escape(f"{sentence}, step {HORIZON}")):
        train(config, tmp_path)
