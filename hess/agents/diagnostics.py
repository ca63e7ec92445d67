"""Numbers that tell whether a hierarchy works, computed from every episode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from hess.arrays import Floats
from hess.replay.episode import Episode

_NEIGHBOURS = 10  # that say what a state is like; one alone is noise
_BLOCK = 256  # entries of an observation at once: pictures have many
_LEAST_VARIANCE = 1e-12  # what varies less is constant but for rounding


def segment_diagnostics(episodes: Sequence[Episode], interval: int) -> dict[str, float]:
    """Means over the segments of a round: how far the low level gets towards its subgoals."""
    rows = [_segments(episode, interval) for episode in episodes]
    before, after, moved, active = (np.concatenate(column) for column in zip(*rows, strict=True))
    return {
        "low/subgoal_distance": float(before.mean()),
        "low/progress": float((before - after).mean()),
        "low/progress_share": float(((before - after) / np.maximum(before, 1e-6)).mean()),
        "low/move": float(moved.mean()),
        "exploration/active_share": float(active.mean()),
    }


def _segments(episode: Episode, interval: int) -> tuple[np.ndarray, ...]:
    starts, ends = _boundaries(episode, interval)
    subgoals = episode.subgoals[: len(starts)]
    before = np.linalg.norm(subgoals - episode.embeddings[starts], axis=-1)
    after = np.linalg.norm(subgoals - episode.embeddings[ends], axis=-1)
    return before, after, _moved(episode, interval), episode.active[: len(starts)]


def position_fit(embeddings: Floats, positions: Floats) -> dict[str, float]:
    """How much of x and of y φ explains linearly (R²), the worse of both; 0 to 1.

    Where one is near 0, a dimension of φ shows something else, such as the robot's heading, and
    no subgoal can ask for that direction. Nothing where positions are not known. [n, d], [n, 2].
    """
    varied = positions[:, positions.std(axis=0) > 0] if np.isfinite(positions).all() else None
    if varied is None or varied.shape[1] == 0:
        return {}
    return {"representation/position_fit": float(explained_shares(embeddings, varied).min())}


def explained_shares(embeddings: Floats, values: Floats) -> Floats:
    """How much of each value φ explains linearly (R²); 0 of what never varies. -> [values]."""
    inputs = np.column_stack([embeddings, np.ones(len(embeddings))]).astype(np.float64)
    solution, *_ = np.linalg.lstsq(inputs, values, rcond=None)
    return _shares(values, values - inputs @ solution, constant=0.0)


def known_shares(embeddings: Floats, values: Floats) -> Floats:
    """How much of each value φ tells in any form: what neighbours in φ say of it (R²); -> [values].

    All of what never varied: nothing is known of it yet but that.
    """
    half = len(embeddings) // 2
    _, nearest = cKDTree(embeddings[:half]).query(embeddings[half:], _NEIGHBOURS)
    blocks = np.split(values, range(_BLOCK, values.shape[1], _BLOCK), axis=1)
    return np.concatenate([_told(np.ascontiguousarray(each), nearest) for each in blocks])


def _told(values: Floats, nearest: np.ndarray[Any, Any]) -> Floats:
    half = len(values) // 2
    return _shares(values, values[half:] - values[:half][nearest].mean(axis=1), constant=1.0)


def _shares(values: Floats, residuals: Floats, constant: float) -> Floats:
    """R² of each value, between 0 and 1, or `constant` where it never varies. -> [values]."""
    variance = values.astype(np.float64).var(axis=0)
    shares = 1.0 - (residuals**2).mean(axis=0) / np.maximum(variance, _LEAST_VARIANCE)
    return np.where(variance > _LEAST_VARIANCE, np.clip(shares, 0.0, 1.0), constant)


def segment_moves(episodes: Sequence[Episode], interval: int) -> float:
    """Mean distance in the plane between the ends of a segment."""
    return float(np.concatenate([_moved(episode, interval) for episode in episodes]).mean())


def _moved(episode: Episode, interval: int) -> np.ndarray:
    starts, ends = _boundaries(episode, interval)
    return np.linalg.norm(episode.positions[ends] - episode.positions[starts], axis=-1)


def _boundaries(episode: Episode, interval: int) -> tuple[np.ndarray, np.ndarray]:
    starts = np.arange(0, int(episode.length), interval)
    return starts, np.minimum(starts + interval, int(episode.length))
