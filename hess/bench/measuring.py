"""How long to measure, and how: in turns."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from hess.runtime import available_cores

Measurement = Callable[[], float]
MICROSECONDS, MILLISECONDS = 1e6, 1e3  # in a second


@dataclass(frozen=True)
class Size:
    """Numbers of repetitions, and what one repetition consists of."""

    repetitions: int
    """Of everything that is measured in turns."""
    env_chunks: int
    """Repetitions of `env_steps` steps, for each task."""
    env_steps: int
    """AntMaze steps in turns with as many of bare MuJoCo."""
    updates: int
    """SAC updates in one compiled loop."""
    matmuls: int
    """Matmuls of 1024³ for the speed limit."""
    stored: int
    """Episodes in the replay that is learned from."""
    minibatches: int
    """φ minibatches in one compiled loop."""
    cycle: int
    """Episodes between two φ updates in training, all else scaled to it."""
    cycles: int
    """Cycles of training that are timed in one repetition."""
    training_repetitions: int
    """Repetitions of training as a whole."""
    method_repetitions: int
    """Episodes of each method that are timed."""
    memory_steps: int
    """PointMaze steps over which memory is watched."""
    capacity: int
    """Environment steps of the replay whose memory is measured."""


FULL = Size(
    repetitions=15,
    env_chunks=100,
    env_steps=25,
    updates=200,
    matmuls=20,
    stored=200,
    minibatches=2_500,
    cycle=20,
    cycles=3,
    training_repetitions=3,
    method_repetitions=7,
    memory_steps=200_000,
    capacity=1_000_000,
)

QUICK = Size(
    repetitions=5,
    env_chunks=20,
    env_steps=10,
    updates=50,
    matmuls=8,
    stored=50,
    minibatches=500,
    cycle=5,
    cycles=2,
    training_repetitions=1,
    method_repetitions=2,
    memory_steps=20_000,
    capacity=1_000_000,
)


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
