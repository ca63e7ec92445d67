"""How long to measure."""

from __future__ import annotations

from dataclasses import dataclass


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
    products: int
    """Matrix products of 1024³ for the speed limit."""
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
    products=20,
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
    products=8,
    stored=50,
    minibatches=500,
    cycle=5,
    cycles=2,
    training_repetitions=1,
    method_repetitions=2,
    memory_steps=20_000,
    capacity=1_000_000,
)
