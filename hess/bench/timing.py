"""Measuring in turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

from hess.runtime import available_cores

Measurement = Callable[[], float]


def seconds(work: Callable[[], object]) -> float:
    """How long a piece of work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def cpu_seconds(work: Callable[[], object]) -> float:
    """How long work on one core takes, without the time that other programs had the core for."""
    start = time.process_time()
    work()
    return time.process_time() - start


def fitting_seconds(work: Callable[[], object]) -> float:
    """By the core's clock where this process has only one, by the wall's where it has more."""
    return (cpu_seconds if len(available_cores()) == 1 else seconds)(work)


def in_turns(*measurements: Measurement, repetitions: int) -> list[list[float]]:
    """Results of each, measured in the order ABCCBAABC..., so that a drift hits all alike."""
    results: list[list[float]] = [[] for _ in measurements]
    turns = list(zip(measurements, results, strict=True))
    for _ in range(repetitions):
        for measure, found in turns:
            found.append(measure())
        turns.reverse()
    return results


def median_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> float:
    """The median of the ratios of neighbouring measurements: a slow moment hits both."""
    pairs = zip(numerators, denominators, strict=True)
    return statistics.median(numerator / denominator for numerator, denominator in pairs)
