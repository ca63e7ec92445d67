"""Directions of φ: which of them lead somewhere."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from hess.arrays import Floats

_PLACES = 20  # across the widest direction
_LEAST = 0.1  # weight of a direction, where it is asked which ones are explored
_GROWN = 3.0  # times the spread of random states: a direction that leads somewhere for certain


def widest_directions(embeddings: Floats, count: int) -> Floats:
    """The directions in which visited states extend farthest. [n, d] -> [d, count].

    Every visited place counts once, however long the robot was there: what is bounded, such as a
    heading, fills up early, while the frontier of what is not moves on.
    """
    low, high, size = _extent(embeddings)
    if size == 0:  # nothing has ever moved
        return np.eye(embeddings.shape[-1], count)
    _, axes = np.linalg.eigh(_spread(embeddings, low, high, size))
    return np.asarray(axes[:, ::-1][:, :count])


def explored_directions(embeddings: Floats, random: Floats | None, count: int) -> Floats:
    """The widest two, each by its weight, and further ones as long as they weigh. -> [d, count].

    Images bend: their x and y take more than two directions, in each of which a robot gets far,
    while the third of a state that has x and y is a pose; short, it divides few places. Before
    anything but `random` states is known, the widest two have to do.
    """
    if random is None:
        return widest_directions(embeddings, min(count, 2))
    weights = growth_metric(embeddings, random, _LEAST)
    directions = weights @ widest_directions(embeddings @ weights, count)
    lengths = np.linalg.norm(directions, axis=0)
    lengths[:2] = 1.0
    return np.asarray(np.linalg.qr(directions)[0] * lengths)


def growth_metric(embeddings: Floats, random: Floats, least: float) -> Floats:
    """The weight of every direction in the distance between embeddings, as a matrix. -> [d, d].

    1 for those that lead somewhere, `least` for narrow ones in which visited states extend no
    farther than `random` ones: with more dimensions than lead anywhere, a subgoal asks for a place
    and not for a pose. What is as wide as any counts, too: where a random robot gets everywhere,
    nothing grows. [n, d], [m, d].
    """
    low, high, size = _extent(embeddings)
    if size == 0:
        return np.eye(embeddings.shape[-1], dtype=np.float32)
    wide, before = (_spread(states, low, high, size) for states in (embeddings, random))
    growth, axes = eigh(wide, before)  # ascending
    basis, _ = np.linalg.qr(axes[:, ::-1])
    weights = np.clip((growth[::-1] - 1.0) / (_GROWN - 1.0), least, 1.0)
    weights /= weights.max()
    wide /= np.linalg.eigvalsh(wide)[-1]
    return np.asarray(_either((basis * weights) @ basis.T, wide @ wide), np.float32)


def _either(one: Floats, other: Floats) -> Floats:
    """Weights of which one is enough: 1 - (1 - a) (1 - b) where both have the same directions.

    Symmetric, with eigenvalues from 0 to 1. 2 x [d, d] -> [d, d].
    """
    values, axes = np.linalg.eigh(np.eye(len(one)) - one)
    root = (axes * np.sqrt(np.maximum(values, 0.0))) @ axes.T
    return np.asarray(np.eye(len(one)) - root @ (np.eye(len(one)) - other) @ root)


def _extent(embeddings: Floats) -> tuple[Floats, Floats, float]:
    """Where states lie but for a few, and the edge of a place."""
    low, high = np.quantile(embeddings, (0.005, 0.995), axis=0)
    return low, high, float((high - low).max()) / _PLACES


def _spread(embeddings: Floats, low: Floats, high: Floats, size: float) -> Floats:
    """The covariance of all places, each with an extent of its own. -> [d, d]."""
    places = np.unique(np.floor(np.clip(embeddings, low, high) / size), axis=0)
    within = np.eye(embeddings.shape[-1]) / 12.0  # of a uniform distribution in a place
    return np.cov(places.T) + within if len(places) > 1 else within
