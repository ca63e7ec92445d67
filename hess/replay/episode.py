"""An episode as it is collected on the host and stored on the device.

It is stored once, with the embeddings, subgoals and actions as they were when it was collected. The
low level reads steps from it, the high level segments, φ triplets, and the measures whole rollouts,
so there is no second buffer that could disagree with the first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class EpisodeShape(NamedTuple):
    """The sizes that a task and a method fix."""

    horizon: int
    observation_dim: int
    goal_dim: int
    action_dim: int
    subgoal_dim: int
    segments: int


class Episode(NamedTuple):
    """One rollout, padded to the horizon T with S = ⌈T / c⌉ segments; NumPy or JAX arrays."""

    observations: Any  # [T+1, obs]
    goals: Any  # [T+1, goal]
    positions: Any  # [T+1, 2] x, y for analysis; only an x-y prior (dads) reads them
    embeddings: Any  # [T+1, d] φ(s) when the step was taken
    actions: Any  # [T, action]
    rewards: Any  # [T]
    successes: Any  # [T] goal reached at this step
    subgoals: Any  # [S, d] as handed to the low level
    selected: Any  # [S, d] before extension; equals subgoals where not active
    high_actions: Any  # [S, d] subgoal relative to φ(s), in units of r_g
    log_probabilities: Any  # [S] of the high-level policy for its action when it was taken
    active: Any  # [S] chosen by active exploration; a skill (dads): drawn at random to learn it
    length: Any  # [] steps taken
    terminated: Any  # [] ended by the task, not by the horizon
    embedded: Any  # [] collected with a φ; False: embeddings and subgoals are still to be filled in


def empty_episode(shape: EpisodeShape) -> Episode:
    """Zero-filled host arrays to collect into."""
    states, steps, segments = shape.horizon + 1, shape.horizon, shape.segments

    def zeros(*size: int) -> np.ndarray[Any, np.dtype[np.float32]]:
        return np.zeros(size, np.float32)

    return Episode(
        observations=zeros(states, shape.observation_dim),
        goals=zeros(states, shape.goal_dim),
        positions=zeros(states, 2),
        embeddings=zeros(states, shape.subgoal_dim),
        actions=zeros(steps, shape.action_dim),
        rewards=zeros(steps),
        successes=np.zeros(steps, np.bool_),
        subgoals=zeros(segments, shape.subgoal_dim),
        selected=zeros(segments, shape.subgoal_dim),
        high_actions=zeros(segments, shape.subgoal_dim),
        log_probabilities=zeros(segments),
        active=np.zeros(segments, np.bool_),
        length=np.zeros((), np.int32),
        terminated=np.zeros((), np.bool_),
        embedded=np.zeros((), np.bool_),
    )


def segment_counts(lengths: Any, interval: int) -> Any:
    """Started segments per episode."""
    return (lengths + interval - 1) // interval
