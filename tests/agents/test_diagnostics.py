"""How far the low level gets, on segments that are easy to measure."""

from __future__ import annotations

import pytest

from hess.agents.diagnostics import segment_diagnostics
from hess.replay import Episode, EpisodeShape, empty_episode

SHAPE = EpisodeShape(
    horizon=4, observation_dim=1, goal_dim=0, action_dim=1, subgoal_dim=2, segments=2
)


def episode(length: int) -> Episode:
    """φ moves by (3, 4) a step; the subgoals lie at (12, 16)."""
    made = empty_episode(SHAPE)
    for step in range(length + 1):
        made.embeddings[step] = [3 * step, 4 * step]
        made.positions[step] = [step, 0]
    made.subgoals[:] = [12, 16]
    made.active[0] = True
    made.length[...] = length
    return made


def test_a_whole_episode() -> None:
    # Distances: 20 -> 10 and 10 -> 0.
    assert segment_diagnostics([episode(4)], 2) == pytest.approx(
        {
            "low/subgoal_distance": 15.0,
            "low/progress": 10.0,
            "low/progress_share": 0.75,
            "low/move": 2.0,
            "exploration/active_share": 0.5,
        }
    )


def test_a_partial_segment_is_measured_to_the_end_of_the_episode() -> None:
    # Distances: 20 -> 10 and 10 -> 5.
    values = segment_diagnostics([episode(3)], 2)
    assert values["low/progress"] == pytest.approx(7.5)
    assert values["low/move"] == pytest.approx(1.5)


def test_segments_that_were_not_started_do_not_count() -> None:
    values = segment_diagnostics([episode(2), episode(4)], 2)
    assert values["exploration/active_share"] == pytest.approx(2 / 3)
    assert values["low/subgoal_distance"] == pytest.approx((20 + 20 + 10) / 3)
