"""Every group of rows at its smallest; nothing here looks at the clock.

What trains, or starts programs that do, is slow however small it is: the programs are compiled for
the sizes that are published.
"""

from __future__ import annotations

import math
from contextlib import closing
from pathlib import Path

import pytest

from hess import runtime
from hess.agents.hess.exploration.visits import ESTIMATORS
from hess.bench import components, estimators, simulation, training
from hess.bench.measuring import FULL, QUICK, BenchRow, Size
from hess.bench.processes import Worker, rows_of
from hess.bench.table import _no_baseline
from hess.bench.updates import limit_rows, stable_baselines
from hess.config import RecordConfig
from hess.config.presets import preset
from hess.envs import TASKS
from hess.errors import HessError

TINY = Size(
    repetitions=1,
    env_chunks=3,
    env_steps=2,
    updates=2,
    matmuls=1,
    stored=2,
    minibatches=2,
    cycle=1,
    cycles=1,
    training_repetitions=1,
    method_repetitions=1,
    memory_steps=4_000,
    capacity=2_000,
)


def check(rows: list[BenchRow], group: str) -> None:
    assert rows
    for row in rows:
        assert row.group == group
        assert row.name
        assert row.unit
        assert math.isfinite(row.measured)
        assert (row.reference is None) == (row.ratio is None) == (row.reference_name == "")
        if row.ratio is not None:
            assert row.ratio > 0
        if row.goal is not None:
            assert row.met is not None


def test_envs_have_a_row_for_every_task() -> None:
    rows = simulation.rows(TINY)
    check(rows, "envs")
    assert [row.name.split()[0] for row in rows] == list(TASKS)
    for row in rows:
        # Other tests in this process may have registered mazes of their own.
        task = TASKS[row.name.split()[0]]
        without = task.robot == "half-cheetah" or (task.images and task.robot == "point")
        assert (row.goal is None) == without
        if task.robot == "ant":
            assert row.goal is not None
            assert row.goal.value == (1.5 if task.images else 1.1)


def test_measures_have_rows_for_every_estimator_and_dimension() -> None:
    rows = estimators.rows(TINY)
    check(rows, "measures")
    assert len(rows) == len(estimators.GRID_DIMS) + 2 * len(estimators.DIMS)
    for row in rows:
        assert row.goal is not None
        assert row.ratio == pytest.approx(row.measured / estimators.STEP)
        for part in ("update", "refresh", "pool", "selection", "memory"):
            assert part in row.note
    assert {row.name.split(",")[0] for row in rows} == set(ESTIMATORS)


@pytest.mark.slow
@pytest.mark.parametrize("group", ["representation", "acting"])
def test_groups_in_this_process(group: str) -> None:
    check(getattr(components, group)(TINY), group)


@pytest.mark.slow
def test_update_and_limit_take_turns_in_two_processes() -> None:
    check(limit_rows(TINY, runtime.available_cores()[:1]), "sac")


@pytest.mark.skipif(_no_baseline() is not None, reason="needs the extra [bench]")
def test_stable_baselines_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert stable_baselines(TINY)() > 0


def matmul_worker() -> Worker:
    return Worker("hess.bench.updates:matmul", TINY, runtime.available_cores()[:1])


def test_a_failing_worker_is_one_sentence() -> None:
    with pytest.raises(HessError, match=r"measuring 'nothing' failed: .*nothing"):
        rows_of("hess.bench.components:nothing", TINY, runtime.available_cores()[:1])


def test_an_exception_that_cannot_be_sent_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_bench.py").write_text(
        "from hess.errors import MissingExtraError\n"
        "def measure(size): raise MissingExtraError('this', 'that', 'bench')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(HessError, match=r"measuring 'measure' failed: .*this needs that"):
        rows_of("broken_bench:measure", TINY, runtime.available_cores()[:1])


def test_a_worker_ends_when_the_block_fails() -> None:
    workers: list[Worker] = []
    with pytest.raises(RuntimeError):
        _fail_inside(workers)
    assert not workers[0].process.is_alive()


def _fail_inside(workers: list[Worker]) -> None:
    with closing(matmul_worker()) as asked:
        workers.append(asked)
        raise RuntimeError


def test_training_keeps_the_published_rates() -> None:
    config = training.bench_config(QUICK, "AntMaze")
    assert config.low.updates_per_decision == 0.4
    assert config.low.batch_size == 128
    interval, minibatches = config.representation.interval, config.representation.minibatches
    assert minibatches / interval == 50_000 / 100
    assert config.evaluation.episodes / config.evaluation.interval == 10 / 25_000


def test_the_default_is_measured_as_it_is() -> None:
    default = preset("default")
    config = training.bench_config(QUICK, "AntMaze", default)
    assert (config.low, config.high) == (default.low, default.high)
    assert config.exploration == default.exploration
    rate = config.representation.minibatches / config.representation.interval
    usual = default.representation.minibatches / default.representation.interval
    assert rate == pytest.approx(usual, rel=0.01)


def test_training_writes_at_least_as_often_as_published() -> None:
    config, published = training.bench_config(FULL, "AntMaze"), RecordConfig()
    assert config.record.snapshot_interval <= published.snapshot_interval
    assert config.record.checkpoint_interval <= published.checkpoint_interval


@pytest.mark.slow
def test_training_is_measured_whole_and_in_halves() -> None:
    rows = training.speed(TINY, task="PointMaze")
    check(rows, "training")
    for half in ("environment", "learner", "learner on one core"):
        assert half in rows[0].note
    assert rows[1].reference is not None
    assert rows[1].ratio == pytest.approx(rows[1].measured / rows[1].reference)
    assert "70 steps/s" in rows[1].note
    assert rows[2].name == "PointMaze, the default"
    assert rows[2].reference == rows[0].measured


@pytest.mark.slow
def test_every_hierarchical_baseline_is_compared_with_hess() -> None:
    rows = components.methods(TINY, task="PointMaze")
    check(rows, "methods")
    assert [row.name.removeprefix("a step of ") for row in rows] == list(components.VARIANTS)
    assert all(row.goal is not None and row.goal.value == 1.3 for row in rows)


@pytest.mark.slow
def test_memory_is_watched() -> None:
    check(training.memory(TINY), "memory")


def test_growth_compares_the_second_quarter_with_the_last() -> None:
    assert training.growth([0.0, 50.0, 100.0, 100.0, 100.0, 101.0, 103.0, 103.0]) == 3.0


def test_a_killed_worker_is_one_sentence() -> None:
    with closing(matmul_worker()) as asked:
        asked.listen()
        asked.process.kill()
        asked.process.join()
        with pytest.raises(HessError, match=r"measuring 'matmul' failed: .*exit code -9"):
            asked.measure()
