"""What the figure of skill traces is drawn from: the newest trajectories with their skills."""

from __future__ import annotations

import numpy as np

from hess.arrays import Arrays
from hess.replay.ring import Replay, latest_episodes

_EPISODES = 20
_POINTS = 250  # kept of a trajectory


def take_traces(replay: Replay, interval: int) -> Arrays:
    """Thinned x, y and the skill of every segment, oldest first; nothing before an episode."""
    episodes = latest_episodes(replay, _EPISODES)
    if not episodes:
        return {}
    coarsest = -(-len(episodes[0].positions) // _POINTS)
    # It divides the interval, so that a point is kept wherever the skill may change.
    stride = max(size for size in range(1, coarsest + 1) if interval % size == 0)
    return {
        "skills.positions": np.stack([each.positions[::stride] for each in episodes]),
        "skills.skills": np.stack([each.subgoals for each in episodes]),
        "skills.lengths": np.array([int(each.length) for each in episodes], np.int32),
        "skills.stride": np.array(stride, np.int32),
        "skills.interval": np.array(interval, np.int32),
        "skills.drawn": np.stack([each.active for each in episodes]),
    }
