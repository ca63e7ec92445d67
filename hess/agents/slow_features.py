"""The slowest directions of what φ has learned: where a robot gets to, against how it jitters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

_LEAST_VARIANCE = 1e-9  # of one step, of the largest: what does not move has no ratio


class SlowDirections(NamedTuple):
    """Directions of a feature space, slowest first, one step along each of unit variance."""

    directions: Floats  # [k, k] as columns
    ratios: Floats  # [k] E|change over c steps|² per E|change over one step|²


def slow_directions(features: Floats, lengths: NDArray[Any], interval: int) -> SlowDirections:
    """Linear slow-feature analysis of rollouts. [E, T+1, k], [E] -> directions and ratios.

    What moves at random has a ratio of c, what is held still or bounded less, and a straight march
    up to c²: what a robot does on purpose stands out.
    """
    step = _second_moment(features, lengths, 1)
    scale, axes = np.linalg.eigh(step)
    moving = scale > _LEAST_VARIANCE * scale.max()
    whitening = axes[:, moving] / np.sqrt(scale[moving])
    distant = whitening.T @ _second_moment(features, lengths, interval) @ whitening
    ratios, turns = np.linalg.eigh(distant)
    return SlowDirections((whitening @ turns)[:, ::-1], ratios[::-1])


def _second_moment(features: Floats, lengths: NDArray[Any], apart: int) -> Floats:
    """E[Δ Δᵀ] of states this many steps apart in one episode. -> [k, k]."""
    changes = features[:, apart:] - features[:, :-apart]
    made = np.arange(changes.shape[1]) + apart <= lengths[:, None]
    chosen = changes[made].astype(np.float64)
    return np.asarray(chosen.T @ chosen / max(len(chosen), 1))


def aligned(embeddings: Floats, before: Floats) -> Floats:
    """The turn and the factor that bring embeddings closest to what they were. -> [d, d].

    Subgoals and policies live in the space as it was: slow directions are found in any order and
    with any sign, and one step is no fixed length while a robot learns to walk. [n, d], [n, d].
    """
    centred, target = embeddings - embeddings.mean(0), before - before.mean(0)
    left, _, right = np.linalg.svd(centred.T @ target)
    factor = np.sqrt((target**2).sum() / (centred**2).sum())
    return np.asarray(factor * left @ right)
