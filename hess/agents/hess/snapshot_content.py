"""A small picture of what the agent knows at one moment, for figures and the viewer.

Everything in it is expressed in φ as it is at that moment. Subgoals were set under φ as it was
then, so they are carried over: with the change of φ at the visited state nearest to them.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import PRNGKeyArray
from numpy.typing import NDArray

from hess.agents.hess.exploration.measures import Measures
from hess.agents.hess.rollouts import sample_states
from hess.arrays import Arrays, Floats
from hess.learning.networks import MLP, HostMLP
from hess.learning.trees import flatten
from hess.replay.episode import Episode, segment_counts
from hess.replay.ring import Replay, latest_episodes

_STATES = 2_000
_NEIGHBOURS = 20_000  # visited states among which the nearest to a subgoal is looked for
_EPISODES = 10
_RECENT = 30  # episodes that were collected under the φ that set the newest subgoals
_POINTS = 250  # kept of a trajectory
_OBSERVED_EPISODES = 5
_OBSERVED_BYTES = 30_000  # for observations of states, and for those of trajectories


def take_snapshot(
    network: MLP,
    replay: Replay,
    measures: Measures | None,
    key: PRNGKeyArray,
    *,
    interval: int,
    neighbours: int = _NEIGHBOURS,
) -> Arrays:
    """φ, states with their x, y, the measures per cell, latest trajectories and subgoals.

    Without measures there are no cells. `interval` is c.
    """
    sampled = sample_states(network, replay, key, neighbours)
    positions, embeddings = np.asarray(sampled.positions), np.asarray(sampled.embeddings)
    observed = _affordable(sampled.observations.shape[-1], _STATES)
    snapshot: Arrays = {
        "states.positions": positions[:_STATES],
        "states.embeddings": embeddings[:_STATES],
        "states.steps": np.asarray(sampled.steps)[:_STATES].astype(np.uint16),
        "states.observations": np.asarray(sampled.observations[:observed]),
    }
    recent = latest_episodes(replay, _RECENT)
    embed = HostMLP(network)  # sizes differ from call to call: nothing to be compiled for
    snapshot |= _trajectories(embed, recent[-_EPISODES:], interval)
    snapshot |= _subgoals(embed, recent, positions, embeddings)
    cells = _cells(measures, network.biases[-1].shape[0])
    return _compact(snapshot) | cells | flatten(network, "representation")


def _compact(arrays: Arrays) -> Arrays:
    """Numbers with 11 bits: finer than a pixel of any figure."""
    limit = np.finfo(np.float16).max
    return {
        name: np.clip(array, -limit, limit).astype(np.float16) if array.dtype.kind == "f" else array
        for name, array in arrays.items()
    }


def _cells(measures: Measures | None, dim: int) -> Arrays:
    arrays: Arrays
    if measures is None:
        nothing = {f"cells.{name}": np.zeros(0) for name in ("counts", "novelty", "potential")}
        arrays = {
            "cells.size": np.ones(()),
            "cells.plane": np.eye(dim),
            "cells.centres": np.zeros((0, dim)),
            **nothing,
        }
    else:
        middles, counts = measures.visited()
        arrays = {
            "cells.size": np.asarray(measures.visits.places.size),
            "cells.plane": np.eye(dim) if measures.plane is None else measures.plane,
            "cells.centres": measures.project(middles),
            "cells.counts": counts,
            "cells.novelty": measures.novelty(middles),
            "cells.potential": measures.potential(middles),
        }
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def _affordable(size: int, most: int) -> int:
    """How many observations of that size may be kept, 2 bytes a number."""
    return min(most, _OBSERVED_BYTES // (size * 2))


def _trajectories(embed: HostMLP, episodes: list[Episode], interval: int) -> Arrays:
    """Thinned trajectories, oldest first; entries after an episode's end have to be ignored."""
    states, size = episodes[0].observations.shape
    lengths = np.array([int(each.length) for each in episodes], np.int32)
    stride = -(-states // _POINTS)
    observations = np.stack([episode.observations[::stride] for episode in episodes])
    observed = observations[-_OBSERVED_EPISODES:]
    points = max(_affordable(size, observed.shape[0] * observed.shape[1]) // len(observed), 1)
    thinning = -(-observed.shape[1] // points)
    return {
        "latest.positions": np.stack([each.positions[::stride] for each in episodes]),
        "latest.embeddings": embed(observations),
        "latest.lengths": lengths,
        "latest.segments": segment_counts(lengths, interval),
        "latest.stride": np.array(stride, np.int32),
        "latest.successes": np.array([bool(each.successes.any()) for each in episodes]),
        "latest.active": np.stack([each.active for each in episodes]),
        "latest.observations": observed[:, ::thinning],
        "latest.observations_stride": np.array(stride * thinning, np.int32),
    }


def _subgoals(
    embed: HostMLP, recent: list[Episode], positions: Floats, embeddings: Floats
) -> Arrays:
    """Subgoals of the newest episodes in φ as it is now, and the nearest visited x, y."""
    then = np.concatenate([each.embeddings[: int(each.length) + 1] for each in recent])
    observations = np.concatenate([each.observations[: int(each.length) + 1] for each in recent])
    now = embed(observations)
    arrays: Arrays = {}
    for name in ("subgoals", "selected"):
        chosen = np.stack([getattr(each, name) for each in recent[-_EPISODES:]])
        near = nearest(then, chosen)
        carried = chosen + (now - then)[near]
        arrays[f"latest.{name}"] = carried
        arrays[f"latest.{name}_positions"] = positions[nearest(embeddings, carried)]
    return arrays


def nearest(points: Floats, queries: Floats) -> NDArray[np.intp]:
    """Index of the point nearest to each query. [n, d], [..., d] -> [...]."""
    points, queries = points.astype(np.float64), queries.astype(np.float64)
    squares = (points**2).sum(-1) - 2.0 * queries @ points.T  # less |query|², which is the same
    return np.argmin(squares, -1)
