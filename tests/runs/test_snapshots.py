"""From an agent's replay to what figures read."""

from __future__ import annotations

from pathlib import Path

import jax
import numpy as np
import pytest

from hess.agents.hess.exploration.measures import Measures
from hess.agents.hess.snapshot_content import take_snapshot
from hess.arrays import Arrays
from hess.config import ExplorationConfig
from hess.errors import HessError
from hess.learning.networks import MLP
from hess.replay.episode import Episode, EpisodeShape, empty_episode
from hess.replay.ring import empty_replay, insert
from hess.runs.snapshots import Snapshot, load_snapshot
from hess.runs.tensors import pack_sealed

SHAPE = EpisodeShape(
    horizon=200, observation_dim=6, goal_dim=2, action_dim=2, subgoal_dim=2, segments=4
)
INTERVAL = 50


def network(seed: int) -> MLP:
    return MLP((SHAPE.observation_dim, 8, 2), jax.random.key(seed))


def episode(number: int, acting: MLP, length: int) -> Episode:
    """Positions are the first two numbers of an observation; φ is that of the acting network."""
    rng = np.random.default_rng(number)
    each = empty_episode(SHAPE)
    each.observations[:] = rng.normal(size=each.observations.shape)
    each.positions[:] = each.observations[:, :2]
    each.embeddings[:] = np.asarray(acting(each.observations))
    each.active[:2] = True
    starts = np.arange(SHAPE.segments) * INTERVAL
    each.selected[:] = each.embeddings[starts + 3]  # states of this very episode
    each.subgoals[:] = each.selected + np.where(each.active[:, None], 0.5, 0.0)
    each.length[...] = length
    each.successes[length - 1] = number % 2
    return each


def arrays(acting: MLP, now: MLP, lengths: tuple[int, ...] = (200, 200, 120)) -> Arrays:
    replay = empty_replay(SHAPE, 5 * SHAPE.horizon)
    for number, length in enumerate(lengths):
        replay = insert(replay, episode(number, acting, length))
    measures = Measures(ExplorationConfig(cell_size=0.5), dim=2)
    measures.visit(episode(0, now, 200).embeddings)
    return take_snapshot(now, replay, measures, jax.random.key(0), interval=INTERVAL)


def written(path: Path, content: Arrays) -> Path:
    file = path / "000012345.safetensors"
    file.write_bytes(pack_sealed(content))
    return file


@pytest.fixture(scope="module")
def same_phi(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    content = arrays(network(0), network(0))
    return load_snapshot(written(tmp_path_factory.mktemp("snapshot"), content))


def test_phi_and_positions_belong_to_the_same_states(same_phi: Snapshot) -> None:
    states = same_phi.states
    assert same_phi.step == 12345
    assert len(states.positions) == len(states.embeddings) == len(states.steps) == 2_000
    count = len(states.observations)
    np.testing.assert_allclose(states.observations[:, :2], states.positions[:count], atol=0.02)
    embedded = same_phi.embed(states.observations)
    np.testing.assert_allclose(embedded, states.embeddings[:count], atol=0.02)


def test_subgoals_under_an_unchanged_phi_stay_where_they_were(same_phi: Snapshot) -> None:
    expected = episode(1, network(0), 200)
    found = same_phi.trajectories[1]
    np.testing.assert_allclose(found.subgoals, expected.subgoals, atol=0.01)
    # A selected subgoal is a visited state: its x, y is known exactly.
    starts = np.arange(SHAPE.segments) * INTERVAL
    np.testing.assert_allclose(found.selected_positions, expected.positions[starts + 3], atol=0.01)
    assert found.active.tolist() == [True, True, False, False]
    assert found.success


def test_subgoals_are_carried_along_when_phi_changes() -> None:
    acting, now = network(0), network(1)
    content = arrays(acting, now)
    expected = episode(1, acting, 200)
    starts = np.arange(SHAPE.segments) * INTERVAL
    moved = np.asarray(now(expected.observations[starts + 3]))
    np.testing.assert_allclose(content["latest.selected"][1], moved, atol=0.01)


def test_a_short_episode_ends_where_it_ended(same_phi: Snapshot) -> None:
    short = same_phi.trajectories[2]
    assert len(short.subgoals) == 3  # segments begun in 120 steps of 50
    last = episode(2, network(0), 120).positions[: 120 + 1]
    assert np.abs(short.positions[-1]).max() > 0
    assert any(np.allclose(short.positions[-1], position, atol=0.01) for position in last)


def test_a_point_of_phi_space_is_found_in_the_plane(same_phi: Snapshot) -> None:
    states = same_phi.states
    np.testing.assert_allclose(
        same_phi.position_of(states.embeddings[7]), states.positions[7], atol=0.05
    )


def test_cells_are_looked_up_by_embedding(same_phi: Snapshot) -> None:
    cells = same_phi.cells
    np.testing.assert_array_equal(cells.indices(cells.centres), np.arange(len(cells.centres)))
    assert cells.indices(np.array([[1e6, 1e6]])).tolist() == [-1]


def test_cells_of_a_plane_are_looked_up_in_it(tmp_path: Path) -> None:
    """The plane lies askew in a φ of three dimensions: what is across it does not count."""
    axes = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    plane, across = axes[:, :2], axes[:, 2]
    phi = MLP((SHAPE.observation_dim, 8, 3), jax.random.key(0))
    replay = empty_replay(SHAPE._replace(subgoal_dim=3), 5 * SHAPE.horizon)
    replay = insert(replay, empty_episode(SHAPE._replace(subgoal_dim=3))._replace(length=200))
    measures = Measures(ExplorationConfig(cell_size=0.5, directions=2), dim=3)
    measures.turn(plane)
    visited = np.random.default_rng(2).normal(size=(300, 3))
    measures.visit(visited)
    measures.record_outcomes(visited[:1], np.array([7.0]))
    content = take_snapshot(phi, replay, measures, jax.random.key(0), interval=INTERVAL)
    cells = load_snapshot(written(tmp_path, content)).cells
    assert cells.plane.shape == (3, 2)
    assert cells.centres.shape == (len(measures.visited()[1]), 2)
    found = cells.indices(visited + 5.0 * np.outer(np.arange(300), across))
    assert (found >= 0).all()
    assert np.bincount(found).tolist() == cells.counts.tolist()
    assert cells.potential[found[0]] == -7.0


def test_landmarks_are_looked_up_as_the_measures_do(tmp_path: Path) -> None:
    """They lie anywhere, not in the middle of a grid's cells."""
    shape = SHAPE._replace(subgoal_dim=4)
    phi = MLP((shape.observation_dim, 8, 4), jax.random.key(0))
    replay = insert(
        empty_replay(shape, 5 * shape.horizon), empty_episode(shape)._replace(length=200)
    )
    measures = Measures(ExplorationConfig(directions=0, counts="neighbours"), dim=4)
    visited = np.random.default_rng(2).normal(size=(300, 4))
    measures.divide(0.7, visited)
    measures.visit(visited)
    content = take_snapshot(phi, replay, measures, jax.random.key(0), interval=INTERVAL)
    cells = load_snapshot(written(tmp_path, content)).cells
    keys = measures.visits.places.keys(visited)
    np.testing.assert_allclose(
        cells.centres[cells.indices(visited)], measures.visits.places.centres(keys)
    )


def test_cells_from_before_there_was_a_plane_divide_all_directions(tmp_path: Path) -> None:
    content = arrays(network(0), network(0))
    assert np.array_equal(content.pop("cells.plane"), np.eye(2))
    cells = load_snapshot(written(tmp_path, content)).cells
    np.testing.assert_array_equal(cells.indices(cells.centres), np.arange(len(cells.centres)))


def test_it_is_small_enough_to_commit(tmp_path: Path) -> None:
    assert written(tmp_path, arrays(network(0), network(1))).stat().st_size < 150_000


@pytest.mark.parametrize("lost", ["states.positions", "latest.subgoals", "cells.size"])
def test_another_version_is_named(tmp_path: Path, lost: str) -> None:
    content = arrays(network(0), network(0))
    del content[lost]
    with pytest.raises(HessError, match=f"of another version: it has no '{lost}'"):
        load_snapshot(written(tmp_path, content))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("states.positions", np.zeros((5, 3), np.float16)),
        ("states.embeddings", np.full((2_000, 2), np.nan, np.float16)),
        ("latest.lengths", np.zeros(300, np.int32)),
    ],
)
def test_nonsense_is_named(tmp_path: Path, name: str, value: np.ndarray) -> None:
    content = arrays(network(0), network(0)) | {name: value}
    with pytest.raises(HessError, match="is damaged"):
        load_snapshot(written(tmp_path, content))
