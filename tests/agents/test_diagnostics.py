"""How far the low level gets, on segments that are easy to measure."""

from __future__ import annotations

import numpy as np
import pytest

from hess.agents.diagnostics import (
    explained_shares,
    known_shares,
    position_fit,
    segment_diagnostics,
)
from hess.replay.episode import Episode, EpisodeShape, empty_episode

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


def test_a_representation_that_shows_where_the_robot_is_fits_positions() -> None:
    positions = np.random.default_rng(0).uniform(-5, 5, (400, 2))
    turned = positions @ np.array([[1.0, 2.0], [-2.0, 1.0]]) + 7.0
    assert position_fit(turned, positions) == pytest.approx({"representation/position_fit": 1.0})


def test_one_that_shows_the_heading_instead_of_y_does_not() -> None:
    rng = np.random.default_rng(0)
    positions, heading = rng.uniform(-5, 5, (400, 2)), rng.uniform(-1, 1, 400)
    fit = position_fit(np.stack([positions[:, 0], heading], -1), positions)
    assert fit["representation/position_fit"] < 0.05


def test_an_axis_that_never_varies_and_unknown_positions_say_nothing() -> None:
    line = np.stack([np.arange(5.0), np.zeros(5)], -1)
    assert position_fit(line, line) == pytest.approx({"representation/position_fit": 1.0})
    assert position_fit(line, np.full((5, 2), np.nan)) == {}
    assert position_fit(line, np.zeros((5, 2))) == {}


def test_how_much_of_each_entry_an_embedding_explains() -> None:
    rng = np.random.default_rng(0)
    embeddings, noise = rng.normal(size=(2_000, 2)), rng.normal(size=2_000)
    entries = np.stack(
        [3 * embeddings[:, 0] - 1, embeddings[:, 1] + noise, noise, np.full(2_000, 0.1)], -1
    )
    shares = explained_shares(embeddings, entries.astype(np.float32))
    assert shares == pytest.approx([1.0, 0.5, 0.0, 0.0], abs=0.03)


def test_neighbours_tell_what_is_not_linear_and_all_of_what_never_varied() -> None:
    rng = np.random.default_rng(0)
    embeddings, noise = rng.uniform(-1, 1, (4_000, 2)), rng.normal(size=4_000)
    product = np.sin(3 * embeddings[:, 0]) * np.cos(3 * embeddings[:, 1])
    entries = np.stack([embeddings[:, 0], product, noise, np.full(4_000, 0.1)], -1)
    shares = known_shares(embeddings, entries.astype(np.float32))
    assert shares == pytest.approx([1.0, 1.0, 0.0, 1.0], abs=0.05)
    assert explained_shares(embeddings, entries)[1] < 0.7


def test_what_is_known_of_an_entry_does_not_depend_on_how_many_there_are() -> None:
    rng = np.random.default_rng(0)
    embeddings = rng.normal(size=(400, 2)).astype(np.float32)
    picture = (embeddings @ rng.normal(size=(2, 1_000)) + rng.normal(size=1_000)).astype(np.float32)
    alone = [known_shares(embeddings, picture[:, [entry]])[0] for entry in (0, 255, 256, 999)]
    together = known_shares(embeddings, picture)
    assert together.shape == (1_000,)
    assert together[[0, 255, 256, 999]] == pytest.approx(alone)
