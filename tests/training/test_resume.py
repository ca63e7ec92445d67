"""The real agent, stopped and resumed, against the same run in one go: bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest

import hess
from hess.errors import HessError
from hess.runs.folder import RunFolder, refuse_changes
from hess.runs.logs import read_metrics
from hess.runs.manifest import checkpoint_folders
from hess.training.trainer import Trainer
from tests.training import stub
from tests.training.stub import Watcher, tiny_run, train
from tests.training.toy_tasks import HORIZON, LOUD, SLOPE

STEPS = 9 * HORIZON


class Trained(NamedTuple):
    """A finished run."""

    path: Path
    trainer: Trainer

    def lines(self) -> list[dict[str, Any]]:
        """metrics.jsonl, but for the clock."""
        return [
            {name: value for name, value in line.items() if not name.startswith("time/")}
            for line in read_metrics(RunFolder(self.path))
        ]


def real_run(**fields: Any) -> Any:
    """With subgoals selected in every episode: decided by episode, there are too few of them."""
    settings: dict[str, Any] = {"exploration__decided": "segment"}
    return tiny_run(method="hess", steps=STEPS, **(settings | fields))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """In one go."""
    path = tmp_path_factory.mktemp("whole")
    return Trained(path, train(real_run(), path)[0])


@pytest.fixture(scope="module")
def halved(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Stopped before the first φ, again after it, and resumed to the end."""
    path = tmp_path_factory.mktemp("halved")
    for stop_at in (HORIZON, 5 * HORIZON):
        _, watcher = train(real_run(), path, stop_at)
        assert watcher.rounds[-1][0] == stop_at
    return Trained(path, train(real_run(), path)[0])


def test_the_run_is_long_enough_to_mean_something(whole: Trained) -> None:
    updates = [line["step"] for line in whole.lines() if "representation/change" in line]
    assert updates == [2 * HORIZON, 4 * HORIZON, 8 * HORIZON]
    assert whole.trainer.agent.episodes > whole.trainer.agent.replay.slots
    assert any(line["exploration/active_share"] > 0 for line in whole.lines()[3:])


def test_evaluations_are_equal(whole: Trained, halved: Trained) -> None:
    one, two = (each.path / "eval.csv" for each in (whole, halved))
    assert one.read_bytes() == two.read_bytes()


def test_metrics_are_equal(whole: Trained, halved: Trained) -> None:
    assert whole.lines() == halved.lines()


def test_the_final_state_is_equal(whole: Trained, halved: Trained) -> None:
    one, two = (each.trainer.agent.state() for each in (whole, halved))
    assert one.keys() == two.keys()
    for name in one:
        assert np.array_equal(one[name], two[name]), name
    rings = [jax.tree.leaves(each.trainer.agent.replay) for each in (whole, halved)]
    for first, second in zip(*rings, strict=True):
        assert np.array_equal(first, second)


def test_where_cells_lead_is_remembered(tmp_path: Path) -> None:
    """Stopped between two refreshes: the next episodes ask the graph of before the stop."""
    config = real_run(
        exploration__novelty_interval=100,
        exploration__cell_size=0.2,
        exploration__units="fixed",
        exploration__probability=1.0,
        exploration__decided="segment",
        exploration__schedule="linear",
        exploration__anneal_fraction=1.0,
        exploration__waypoints=1.0,
    )
    whole = Trained(tmp_path / "whole", train(config, tmp_path / "whole")[0])
    train(config, tmp_path / "halved", stop_at=5 * HORIZON)
    halved = Trained(tmp_path / "halved", train(config, tmp_path / "halved")[0])
    assert whole.lines() == halved.lines()
    assert any(line["exploration/active_share"] > 0 for line in whole.lines()[5:7])
    one, two = (each.trainer.agent.state() for each in (whole, halved))
    edges = "explorer.measures.graph.edges"
    assert len(one[edges]) > 20
    assert np.array_equal(one[edges], two[edges])


def test_the_same_seed_gives_the_same_run_and_another_seed_another(
    whole: Trained, tmp_path: Path
) -> None:
    again, other = tmp_path / "again", tmp_path / "other"
    same = Trained(again, train(real_run(), again)[0])
    assert same.lines() == whole.lines()
    different = Trained(other, train(real_run(seed=1), other)[0])
    assert different.lines() != whole.lines()


def test_two_environments_without_a_pipeline_are_reproducible_too(tmp_path: Path) -> None:
    runs = []
    for name in ("first", "again"):
        config = real_run(task=SLOPE, num_envs=2, pipeline=False)
        runs.append(Trained(tmp_path / name, train(config, tmp_path / name)[0]).lines())
    assert runs[0] == runs[1]
    assert any("representation/change" in line for line in runs[0])


def test_a_loss_that_blows_up_is_named_and_what_was_saved_is_usable(tmp_path: Path) -> None:
    config = real_run(task=LOUD, evaluation__episodes=1, record__checkpoint_interval=HORIZON)
    sentence = rf"high/critic_loss became (inf|nan) at step {3 * HORIZON}; training stopped"
    with pytest.raises(HessError, match=sentence):
        train(config, tmp_path)
    assert hess.load(tmp_path).step == 2 * HORIZON


@pytest.fixture
def method() -> Iterator[None]:
    with stub.registered():
        yield


@pytest.mark.usefixtures("method")
def test_a_damaged_checkpoint_is_reported_and_the_one_before_is_taken(tmp_path: Path) -> None:
    config = tiny_run(record__checkpoint_interval=2 * HORIZON)
    whole, interrupted = tmp_path / "whole", tmp_path / "interrupted"
    train(config, whole)
    train(config, interrupted, stop_at=6 * HORIZON)
    folders = checkpoint_folders(interrupted)
    assert [int(folder.name) for folder in folders] == [4 * HORIZON, 6 * HORIZON]
    (state,) = folders[-1].glob("state-*.safetensors")
    content = bytearray(state.read_bytes())
    content[-1] ^= 1
    state.write_bytes(content)
    trainer, watcher = train(config, interrupted)
    assert "the checkpoint at step 120 is not usable" in watcher.messages[0]
    assert any("resumed at step 80" in text for text in watcher.messages)
    assert trainer.step == 8 * HORIZON
    one, two = (folder / "eval.csv" for folder in (whole, interrupted))
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.usefixtures("method")
def test_a_second_process_is_refused(tmp_path: Path) -> None:
    first, second = RunFolder(tmp_path), RunFolder(tmp_path)
    first.lock()
    with pytest.raises(HessError, match=r"is training in '.*'"):
        second.lock()
    first.unlock()
    second.lock()
    second.unlock()


def test_a_changed_config_is_refused_and_the_fields_are_named() -> None:
    before = tiny_run()
    refuse_changes(before, tiny_run(steps=1, record__tensorboard=True))
    with pytest.raises(HessError) as caught:
        refuse_changes(before, tiny_run(seed=3, low__hindsight=0.9, steps=1))
    sentence = str(caught.value)
    assert "seed: 0 -> 3" in sentence
    assert f"low.hindsight: {before.low.hindsight} -> 0.9" in sentence
    assert "steps" not in sentence.partition(";")[0]


@pytest.mark.usefixtures("method")
def test_a_stop_while_the_first_round_is_collected_is_fine(tmp_path: Path) -> None:
    """Ctrl-C right at the start, before anything was learned."""

    class Impatient(Watcher):
        def evaluation(self, values: dict[str, float], seconds: float) -> None:
            super().evaluation(values, seconds)
            if values["step"] == 0:
                import signal

                signal.raise_signal(signal.SIGINT)

    result = Trainer(tiny_run(), RunFolder(tmp_path), Impatient()).run()
    assert not result.finished
    trainer, watcher = train(tiny_run(), tmp_path)
    assert trainer.step == 8 * HORIZON
    assert [row["step"] for row in watcher.evaluations].count(0) <= 1
