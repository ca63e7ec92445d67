"""Statistics over runs, against closed forms and cases worked out by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hess.analysis import statistics
from hess.analysis.statistics import Arrivals


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def arrived(steps: list[float], reached: list[bool]) -> Arrivals:
    return Arrivals(np.array(steps), np.array(reached))


# --- mean ---------------------------------------------------------------------------------------


def test_the_interval_of_a_mean_is_students() -> None:
    estimate = statistics.mean_estimate(np.array([0.0, 0.5, 1.0]))
    assert estimate.value == 0.5
    assert estimate.high == pytest.approx(0.5 + 4.302653 * 0.5 / math.sqrt(3))
    assert estimate.low == pytest.approx(0.5 - 4.302653 * 0.5 / math.sqrt(3))


def test_the_interval_covers_the_mean_as_often_as_it_says() -> None:
    samples = rng().normal(3.0, 2.0, (5, 20_000))
    half = statistics.half_width(samples)
    assert half is not None
    covered = (np.abs(samples.mean(0) - 3.0) <= half).mean()
    assert covered == pytest.approx(0.95, abs=0.005)


def test_a_single_run_has_no_interval() -> None:
    one = np.array([0.4])
    for estimate in (
        statistics.mean_estimate(one),
        statistics.interquartile_estimate([one]),
        statistics.improvement_estimate([one], [one]),
        statistics.arrival_estimate(arrived([10], [True]), Arrivals.median),
    ):
        assert estimate.low is None
        assert estimate.high is None


# --- interquartile mean -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0, 1.0, 2.0, 100.0], 1.5),
        ([100.0, 3.0, 0.0, 2.0, 1.0], 2.0),  # five: one at each end goes
        ([1.0, 5.0, 0.0], 2.0),  # a quarter of three is none
        (list(range(100)), 49.5),
    ],
)
def test_interquartile_mean(values: list[float], expected: float) -> None:
    assert statistics.interquartile_mean(np.array(values)) == expected


def test_runs_are_resampled_within_their_task() -> None:
    # Every task's runs agree: drawn from all tasks together, the score would vary.
    estimate = statistics.interquartile_estimate([np.zeros(4), np.ones(4)])
    assert (estimate.low, estimate.value, estimate.high) == (0.5, 0.5, 0.5)


def test_the_bootstrap_of_three_runs_is_that_of_all_27_draws() -> None:
    runs = np.array([0.0, 0.3, 0.9])
    means = sorted(np.mean(draw) for draw in itertools.product(runs, repeat=3))
    estimate = statistics.interquartile_estimate([runs])
    # 1 draw of 27 (3.7 %) lies at each extreme, so that is where 2.5 % and 97.5 % are.
    assert (estimate.low, estimate.high) == pytest.approx((means[0], means[-1]))


def test_the_same_seed_gives_the_same_interval() -> None:
    runs = [rng().random(5), rng().random(7)]
    first, second = (statistics.interquartile_estimate(runs) for _ in range(2))
    assert first == second


def test_the_interval_of_many_runs_is_as_wide_as_new_runs_would_show() -> None:
    samples = rng().random((4_000, 200))
    spread = statistics.interquartile_mean(samples).std()  # over new sets of runs
    estimate = statistics.interquartile_estimate([samples[0]])
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.high - estimate.low == pytest.approx(2 * 1.96 * spread, rel=0.15)


# --- probability of improvement -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("better", "reference", "expected"),
    [
        ([1.0, 2.0], [0.0, 0.5], 1.0),
        ([0.0], [1.0, 2.0], 0.0),
        ([0.5, 0.5], [0.5], 0.5),
        ([1.0, 3.0, 5.0], [2.0, 3.0], (0 + 0 + 1 + 0.5 + 1 + 1) / 6),
    ],
)
def test_improvement_counts_pairs(
    better: list[float], reference: list[float], expected: float
) -> None:
    assert statistics.improvement(np.array(better), np.array(reference)) == pytest.approx(expected)


@given(st.lists(st.integers(0, 5), min_size=1), st.lists(st.integers(0, 5), min_size=1))
def test_improvement_and_its_reverse_make_one(a: list[int], b: list[int]) -> None:
    ours, theirs = np.array(a, float), np.array(b, float)
    both = statistics.improvement(ours, theirs) + statistics.improvement(theirs, ours)
    assert both == pytest.approx(1.0)


def test_improvement_over_tasks_is_the_mean_over_tasks() -> None:
    # 1 on the first task, 0 on the second: however many runs each has, and however drawn.
    better = [np.ones(2), np.zeros(9)]
    estimate = statistics.improvement_estimate(better, [np.zeros(5), np.ones(3)])
    assert (estimate.low, estimate.value, estimate.high) == (0.5, 0.5, 0.5)


# --- steps to a threshold -----------------------------------------------------------------------


def test_the_first_evaluation_at_the_threshold_counts() -> None:
    steps = np.array([0.0, 10.0, 20.0, 30.0])
    found = statistics.arrivals(
        [
            (steps, np.array([0.0, 0.9, 0.2, 1.0])),
            (steps, np.array([0.0, 0.8, 0.8, 0.89])),
            (steps[:2], np.array([0.0, 0.1])),
        ],
        0.9,
    )
    assert found.steps.tolist() == [10, 30, 10]
    assert found.reached.tolist() == [True, False, False]


def test_without_censoring_it_is_the_plain_median_and_mean() -> None:
    runs = arrived([30, 10, 20, 50, 40], [True] * 5)
    assert runs.median() == 30
    assert runs.restricted_mean(100.0) == pytest.approx(30.0)
    assert runs.restricted_mean(25.0) == pytest.approx((10 + 20 + 3 * 25) / 5)


def test_kaplan_and_meier_by_hand() -> None:
    # At 6: 3 of 7 arrive and one is seen last; 7: 1 of 3; 9 seen last; 10: the last one arrives.
    runs = arrived([6, 6, 6, 6, 7, 9, 10], [True, False, True, True, True, False, True])
    steps, shares = runs.survival()
    assert steps.tolist() == [6, 6, 6, 6, 7, 9, 10]
    expected = [6 / 7, 5 / 7, 4 / 7, 4 / 7, 4 / 7 * 2 / 3, 4 / 7 * 2 / 3, 0.0]
    assert shares.tolist() == pytest.approx(expected)
    assert runs.median() == 7
    area = 6 + 4 / 7 * (7 - 6) + 4 / 7 * 2 / 3 * (10 - 7)
    assert runs.restricted_mean(10.0) == pytest.approx(area)


def test_where_less_than_half_arrive_the_median_is_unknown() -> None:
    runs = arrived([10, 100, 100], [True, False, False])
    assert runs.median() == math.inf
    assert runs.restricted_mean(100.0) == pytest.approx((10 + 100 + 100) / 3)
    estimate = statistics.arrival_estimate(runs, Arrivals.median)
    assert estimate.low == 10
    assert estimate.high == math.inf


def test_leaving_out_who_never_arrives_would_flatter() -> None:
    """Geometric arrivals, watched for as long as half of them take: the median survives."""
    steps = rng().geometric(0.01, 20_000).astype(float)
    runs = Arrivals(np.minimum(steps, 100.0), steps <= 100)
    assert runs.median() == pytest.approx(math.log(0.5) / math.log(0.99), abs=2)
    restricted = (1 - 0.99**100) / 0.01  # Σ P(steps > t), t < 100
    assert runs.restricted_mean(100.0) == pytest.approx(restricted, rel=0.01)
    assert steps[steps <= 100].mean() < restricted


def test_many_draws_at_once_are_as_one_by_one() -> None:
    steps, reached = rng().integers(1, 9, (50, 6)).astype(float), rng().random((50, 6)) < 0.6
    together = Arrivals(steps, reached)
    alone = [Arrivals(*pair) for pair in zip(steps, reached, strict=True)]
    assert together.median().tolist() == [float(each.median()) for each in alone]
    means = [float(each.restricted_mean(7.0)) for each in alone]
    assert together.restricted_mean(7.0).tolist() == pytest.approx(means)


def test_the_interval_of_the_restricted_mean_is_students_in_large() -> None:
    steps = rng().uniform(0.0, 100.0, 400)
    runs = Arrivals(steps, np.ones(400, bool))
    estimate = statistics.arrival_estimate(runs, lambda drawn: drawn.restricted_mean(100.0))
    assert estimate.low is not None
    assert estimate.high is not None
    half = 1.96 * steps.std() / math.sqrt(400)
    assert estimate.value == pytest.approx(steps.mean())
    assert estimate.high - estimate.low == pytest.approx(2 * half, rel=0.1)
