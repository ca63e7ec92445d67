"""A small picture of what the agent knows at one moment, for figures and the viewer."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import PRNGKeyArray

from hess.agents.agent import Arrays
from hess.agents.cells import cell_centres
from hess.agents.measures import GridMeasures
from hess.agents.networks import MLP
from hess.agents.recall import recall_latest, recall_states
from hess.replay import Episode, Replay

_STATES = 2_000
_EPISODES = 10
_STRIDE = 5  # every fifth step of a trajectory is kept


def take_snapshot(
    network: MLP, replay: Replay, measures: GridMeasures, key: PRNGKeyArray
) -> Arrays:
    """φ and x, y of sampled states, the measures per cell, latest trajectories and subgoals."""
    recalled = recall_states(network, replay, key, _STATES)
    centres = cell_centres(
        measures.counts.keys, network.biases[-1].shape[0], measures.config.cell_size
    )
    snapshot = {
        "states.positions": np.asarray(recalled.positions),
        "states.embeddings": np.asarray(recalled.embeddings),
        "states.steps": np.asarray(recalled.steps),
        "cells.centres": centres.astype(np.float32),
        "cells.counts": measures.counts.values.astype(np.float32),
        "cells.novelty": measures.novelty(centres).astype(np.float32),
        "cells.potential": measures.potential(centres).astype(np.float32),
    }
    return snapshot | _latest(recall_latest(replay, _EPISODES))


def _latest(episodes: list[Episode]) -> Arrays:
    """Trajectories and subgoals of the newest episodes, stacked. Unused tails are cut by length."""

    def stack(field: str, stride: int = 1) -> Any:
        return np.stack([getattr(episode, field)[::stride] for episode in episodes])

    return {
        "latest.positions": stack("positions", _STRIDE),
        "latest.embeddings": stack("embeddings", _STRIDE),
        "latest.lengths": np.array([int(episode.length) for episode in episodes]),
        "latest.successes": np.array([bool(episode.successes.any()) for episode in episodes]),
        "latest.subgoals": stack("subgoals"),
        "latest.selected": stack("selected"),
        "latest.active": stack("active"),
    }
