"""How long to measure, how (in turns), and what comes of it: rows with their goals."""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hess.runtime import available_cores

Measurement = Callable[[], float]
MICROSECONDS, MILLISECONDS = 1e6, 1e3  # in a second
MEGABYTE = 1e6


@dataclass(frozen=True)
class Size:
    """Numbers of repetitions, and what one repetition consists of."""

    repetitions: int = 15  # of everything that is measured in turns
    env_chunks: int = 100  # repetitions of `env_steps` steps, for each task
    env_steps: int = 25  # AntMaze steps in turns with as many of bare MuJoCo
    updates: int = 200  # SAC updates in one compiled loop
    matmuls: int = 20  # of 1024³, for the speed limit
    stored: int = 200  # episodes in the replay that is learned from
    minibatches: int = 2_500  # of φ in one compiled loop
    cycle: int = 20  # episodes between two φ updates in training, all else scaled to it
    cycles: int = 3  # of training that are timed in one repetition
    training_repetitions: int = 3  # of training as a whole
    method_repetitions: int = 7  # episodes of each method that are timed
    memory_steps: int = 200_000  # of PointMaze over which memory is watched
    capacity: int = 1_000_000  # environment steps of the replay whose memory is measured


FULL = Size()
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


@dataclass(frozen=True)
class Goal:
    """A bound on a row's ratio, or on what was measured where there is nothing to compare with."""

    relation: Literal["at least", "at most"]
    value: float
    of: Literal["ratio", "measured"] = "ratio"

    def holds(self, value: float) -> bool:
        """Whether a value is within the bound."""
        return value >= self.value if self.relation == "at least" else value <= self.value


@dataclass(frozen=True)
class BenchRow:
    """One measurement; times are medians over the repetitions."""

    group: str
    name: str
    measured: float
    unit: str
    reference: float | None = None
    """In the same unit as `measured`."""
    reference_name: str = ""
    ratio: float | None = None
    """Of `measured` to `reference` or the other way round; `ratio_name` says which."""
    ratio_name: str = ""
    goal: Goal | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without a goal."""
        if self.goal is None:
            return None
        value = self.ratio if self.goal.of == "ratio" else self.measured
        return value is not None and self.goal.holds(value)

    def to_json(self) -> dict[str, Any]:
        """All fields, and whether the goal is met."""
        return dataclasses.asdict(self) | {"met": self.met}


def compared(
    group: str,
    name: str,
    unit: str,
    pair: tuple[Sequence[float], Sequence[float]],
    reference_name: str,
    *,
    goal: Goal | None = None,
    note: str = "",
    times_faster: bool = False,
) -> BenchRow:
    """A row of two things that were measured in turns: what it is about, and its reference.

    Its ratio is the median of those of neighbouring measurements: a slow moment hits both.
    """
    measured, reference = pair
    above, below = (reference, measured) if times_faster else (measured, reference)
    return BenchRow(
        group,
        name,
        statistics.median(measured),
        unit,
        statistics.median(reference),
        reference_name,
        statistics.median(a / b for a, b in zip(above, below, strict=True)),
        "reference / measured" if times_faster else "measured / reference",
        goal,
        note,
    )
