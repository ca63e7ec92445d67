"""Noisy series for figures: thinned to what a panel can show, and smoothed."""

from __future__ import annotations

import numpy as np

from hess.arrays import Floats
from hess.runs.logs import Series


def thin(series: Series, points: int) -> Series:
    """At most about `points` points: of every stretch the lowest and the highest stay, in order."""
    count = len(series.steps)
    if count <= points:
        return series
    length = -(-count // max(points // 2, 1))
    starts = np.arange(0, count, length)
    # The last stretch is filled up with the last value, which changes no extreme.
    padded = np.pad(series.values, (0, len(starts) * length - count), mode="edge")
    stretches = padded.reshape(-1, length)
    extremes = np.concatenate([starts + stretches.argmin(1), starts + stretches.argmax(1)])
    kept = np.unique(np.append(np.minimum(extremes, count - 1), (0, count - 1)))
    return Series(series.steps[kept], series.values[kept])


def smoothed(series: Series) -> Series:
    """The running mean over a fortieth of a series."""
    return Series(series.steps, running_mean(series.values, max(len(series.steps) // 40, 1)))


def running_mean(values: Floats, window: int) -> Floats:
    """Mean over a centred window, shorter at both ends."""
    if window <= 1:
        return values
    sums = np.concatenate([[0.0], np.cumsum(values)])
    places = np.arange(len(values))
    first = np.maximum(places - (window - 1) // 2, 0)
    last = np.minimum(places + window // 2 + 1, len(values))
    return (sums[last] - sums[first]) / (last - first)
