"""Numbers that tell whether a hierarchy works, computed from every episode."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hess.replay import Episode


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
    starts = np.arange(0, int(episode.length), interval)
    ends = np.minimum(starts + interval, int(episode.length))
    subgoals = episode.subgoals[: len(starts)]
    before = np.linalg.norm(subgoals - episode.embeddings[starts], axis=-1)
    after = np.linalg.norm(subgoals - episode.embeddings[ends], axis=-1)
    moved = np.linalg.norm(episode.positions[ends] - episode.positions[starts], axis=-1)
    return before, after, moved, episode.active[: len(starts)]
