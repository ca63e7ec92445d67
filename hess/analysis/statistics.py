"""Statistics over runs: means, interquartile means, improvement, and steps to a threshold.

Intervals are 95 %. Student's t serves the mean, as the paper draws it; the others resample the
runs of every task by themselves (a stratified bootstrap), so that no task gains or loses weight.
Every bootstrap begins with the same seed: the same runs give the same interval, whatever else is
estimated beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from hess.arrays import Floats

_RESAMPLES, _SEED = 2_000, 0


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval; of a single run the interval is unknown."""

    value: float
    low: float | None = None
    high: float | None = None


def half_width(values: Floats) -> Floats | None:
    """Half of the 95 % interval of the mean over runs, Student's t. [runs, ...] -> [...]."""
    count = len(values)
    if count < 2:
        return None
    return stdtrit(count - 1, 0.975) * values.std(0, ddof=1) / np.sqrt(count)


def mean_estimate(values: Floats) -> Estimate:
    """The mean over runs. [runs]."""
    mean, half = float(values.mean()), half_width(values)
    if half is None:
        return Estimate(mean)
    return Estimate(mean, mean - float(half), mean + float(half))


def interquartile_mean(values: Floats) -> Floats:
    """Mean without the lowest and the highest quarter, ⌊n/4⌋ values each. [..., n] -> [...]."""
    from scipy.stats import trim_mean  # a second to import, for tables only

    return trim_mean(values, 0.25, axis=-1)


def interquartile_estimate(tasks: Sequence[Floats]) -> Estimate:
    """The interquartile mean over all runs of all tasks. tasks: [runs] each."""

    def statistic(draws: Sequence[Floats]) -> Floats:
        return interquartile_mean(np.concatenate(draws, axis=-1))

    return _bootstrapped(statistic, tasks)


def improvement(better: Floats, reference: Floats) -> Floats:
    """Chance that a run of the one scores above a run of the other, ties half.

    [..., n], [..., m] -> [...].
    """
    difference = better[..., :, None] - reference[..., None, :]
    return ((difference > 0) + 0.5 * (difference == 0)).mean((-2, -1))


def improvement_estimate(better: Sequence[Floats], reference: Sequence[Floats]) -> Estimate:
    """The mean chance of improvement over tasks; both in the same order. [runs] each."""

    def statistic(draws: Sequence[Floats]) -> Floats:
        ours, theirs = draws[: len(better)], draws[len(better) :]
        return np.mean([improvement(*pair) for pair in zip(ours, theirs, strict=True)], axis=0)

    return _bootstrapped(statistic, [*better, *reference])


@dataclass(frozen=True)
class Arrivals:
    """When runs first reached a threshold; one that never did was watched until its last step."""

    steps: Floats  # [..., runs]
    reached: NDArray[np.bool_]  # [..., runs]

    def survival(self) -> tuple[Floats, Floats]:
        """Kaplan and Meier: the share that has not arrived after each of the sorted steps.

        -> steps [..., runs], shares [..., runs].
        """
        # Who arrives in the step in which others are seen last was still awaited beside them.
        order = np.lexsort((~self.reached, self.steps), axis=-1)
        steps = np.take_along_axis(self.steps, order, -1)
        reached = np.take_along_axis(self.reached, order, -1)
        awaited = np.arange(steps.shape[-1], 0, -1)
        return steps, np.cumprod(1.0 - reached / awaited, axis=-1)

    def median(self) -> Floats:
        """Steps until half of the runs have arrived; infinite where fewer ever do. -> [...]."""
        steps, shares = self.survival()
        half = shares <= 0.5 + 1e-9
        first = np.take_along_axis(steps, half.argmax(-1)[..., None], -1)[..., 0]
        return np.where(half.any(-1), first, np.inf)

    def restricted_mean(self, horizon: float) -> Floats:
        """Mean of min(steps, horizon): the area below the survival curve. -> [...]."""
        steps, shares = self.survival()
        ends = np.minimum(steps, horizon)
        edges = np.concatenate([np.zeros_like(ends[..., :1]), ends], axis=-1)
        before = np.concatenate([np.ones_like(shares[..., :1]), shares[..., :-1]], axis=-1)
        rest = shares[..., -1] * (horizon - edges[..., -1])
        return (np.diff(edges, axis=-1) * before).sum(-1) + rest


def arrivals(curves: Sequence[tuple[Floats, Floats]], threshold: float) -> Arrivals:
    """The first evaluation of every run at or above the threshold. curves: (steps, success)."""
    first = [steps[success >= threshold] for steps, success in curves]
    ends = [steps[-1] for steps, _ in curves]
    steps = [each[0] if len(each) else end for each, end in zip(first, ends, strict=True)]
    return Arrivals(np.array(steps, np.float64), np.array([len(each) > 0 for each in first]))


def arrival_estimate(runs: Arrivals, statistic: Callable[[Arrivals], Floats]) -> Estimate:
    """A statistic of arrivals, runs resampled together with whether they arrived."""
    value, count = float(statistic(runs)), len(runs.steps)
    if count < 2:
        return Estimate(value)
    drawn = np.random.default_rng(_SEED).integers(0, count, (_RESAMPLES, count))
    return _percentiles(value, statistic(Arrivals(runs.steps[drawn], runs.reached[drawn])))


def _bootstrapped(
    statistic: Callable[[Sequence[Floats]], Floats], tasks: Sequence[Floats]
) -> Estimate:
    """A statistic of the runs, and of runs drawn with replacement within every task."""
    value = float(statistic([np.asarray(runs) for runs in tasks]))
    if all(len(runs) < 2 for runs in tasks):
        return Estimate(value)
    rng = np.random.default_rng(_SEED)
    draws = [runs[rng.integers(0, len(runs), (_RESAMPLES, len(runs)))] for runs in tasks]
    return _percentiles(value, statistic(draws))


def _percentiles(value: float, draws: Floats) -> Estimate:
    # Not between two draws: one of them may be infinite.
    low, high = np.percentile(draws, (2.5, 97.5), method="inverted_cdf")
    return Estimate(value, float(low), float(high))
