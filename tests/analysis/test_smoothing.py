"""Series as figures show them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hess.analysis.smoothing import running_mean, smoothed, thin
from hess.runs.logs import Series


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=300),
    st.integers(2, 50),
)
def test_thinning_keeps_the_ends_and_the_extremes(values: list[float], points: int) -> None:
    series = Series(np.arange(len(values), dtype=float), np.array(values))
    thinned = thin(series, points)
    assert len(thinned.steps) <= max(points, 2) + 2
    assert thinned.steps[0] == 0
    assert thinned.steps[-1] == len(values) - 1
    assert thinned.values.max() == max(values)
    assert thinned.values.min() == min(values)
    assert (np.diff(thinned.steps) > 0).all()


def test_a_running_mean_is_shorter_at_the_ends() -> None:
    assert running_mean(np.array([0.0, 3.0, 6.0, 9.0]), 3).tolist() == [1.5, 3.0, 6.0, 7.5]
    assert running_mean(np.array([1.0, 2.0]), 1).tolist() == [1.0, 2.0]


def test_smoothing_leaves_short_series_alone() -> None:
    series = Series(np.arange(10.0), np.arange(10.0) ** 2)
    assert smoothed(series).values.tolist() == series.values.tolist()
