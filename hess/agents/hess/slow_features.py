"""The slowest directions of observations: how far a robot gets, against how it jitters."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from hess.arrays import Floats
from hess.learning.networks import MLP

_LEAST_STD = 1e-6  # an entry that varies less is constant
_LEAST_SHARE = 1e-3  # of the median entry, too: an object that only settles has not moved yet
_RIDGE = 1e-5  # added to the variance of one step, in units of an entry's own
_MOST_ENTRIES = 1_000  # of an observation; of larger ones, such as pictures, as many mixtures
_FIRST_MOVE = 1.5  # in c steps, root mean square: the scale of a φ before which there was none


class Slow(NamedTuple):
    """Directions of the observations, slowest first, one step along each of unit variance."""

    centre: Floats  # [obs]
    directions: Floats  # [obs, k] as columns
    strengths: Floats  # [k] how much of the observation moves with each, squared


def slow_directions(observations: Floats, lengths: NDArray[Any]) -> Slow:
    """Linear slow-feature analysis of rollouts. [E, T+1, obs], [E] -> directions and strengths.

    How far a direction leads within a whole episode counts, not within c steps: what turns back
    half-way through the world is as slow as what does not, but leads half as far. Of two that are
    as slow, such as a coordinate and the robot's heading, the one comes first with which more of
    the observation moves, in the units it is given in. What is fixed when an episode begins does
    not count.
    """
    seen = np.arange(observations.shape[1]) <= lengths[:, None]
    centre = _chosen(observations, seen).mean(0)
    middles = np.where(seen[..., None], observations, 0.0).sum(1) / (lengths[:, None] + 1.0)
    states = _chosen(observations - middles[:, None], seen)
    std = states.std(0)
    varied = _varied(std)
    scale = 1.0 / std[varied]
    steps = changes(observations, lengths, 1)[:, varied] * scale
    step = steps.T @ steps / max(len(steps), 1) + _RIDGE * np.eye(len(scale))
    sizes, axes = np.linalg.eigh(step)
    whitening = axes / np.sqrt(sizes)
    shown = states.T @ (states[:, varied] * scale @ whitening) / len(states)  # [obs, k]
    strengths, turns = np.linalg.eigh(shown.T @ shown)
    directions = np.zeros((len(centre), len(scale)))
    directions[varied] = scale[:, None] * (whitening @ turns)[:, ::-1]
    return Slow(centre, directions, strengths[::-1])


def _varied(std: Floats) -> NDArray[np.bool_]:
    """Which entries are no constants. In units of how an object trembles, its first real move would
    throw φ out of every grid. [obs] -> [obs]."""
    varied = std > _LEAST_STD
    return varied & (std > _LEAST_SHARE * np.median(std[varied])) if varied.any() else varied


class Start(NamedTuple):
    """A linear φ to begin an update with."""

    weight: Floats  # [obs, d]
    bias: Floats  # [d]
    strengths: Floats  # of all slow directions, the strongest first


def slow_start(
    observations: Floats, lengths: NDArray[Any], before: Floats | None, dim: int, interval: int
) -> Start:
    """The slowest directions, turned to where φ was before, if it was. [E, T+1, ...], [E]."""
    if observations.shape[-1] > _MOST_ENTRIES:
        return _mixed_start(observations, lengths, before, dim, interval)
    slow = slow_directions(observations, lengths)
    directions = np.zeros((observations.shape[-1], dim))  # all 0 beyond what varies
    found = slow.directions[:, :dim]
    directions[:, : found.shape[1]] = found
    moves = changes(observations @ directions, lengths, interval)
    if before is None:
        directions = directions @ first_scale(moves)
        return Start(directions, -slow.centre @ directions, slow.strengths)
    directions = directions @ alignment(moves, changes(before, lengths, interval))
    seen = np.arange(before.shape[1]) <= lengths[:, None]
    bias = before[seen].mean(0) - slow.centre @ directions
    return Start(directions, bias, slow.strengths)


def _mixed_start(
    observations: Floats, lengths: NDArray[Any], before: Floats | None, dim: int, interval: int
) -> Start:
    """The same from mixtures of the entries' changes since their episode began.

    What is fixed when an episode begins does not count, and has to vanish before it is mixed: a
    picture in which nothing moves would else vary by the rounding errors of the mixtures.
    """
    mixing = _mixing(observations.shape[-1])
    mixed = np.stack([(episode - episode[0]) @ mixing for episode in observations])
    start = slow_start(mixed, lengths, before, dim, interval)
    weight = mixing @ start.weight
    begun = np.average(observations[:, 0], axis=0, weights=lengths + 1)
    return Start(weight, start.bias - begun @ weight, start.strengths)


def _mixing(entries: int) -> Floats:
    """Random mixtures, always the same, in which distances are what they were. -> [obs, k]."""
    drawn = np.random.default_rng(0).standard_normal((entries, _MOST_ENTRIES), dtype=np.float32)
    return drawn / np.float32(np.sqrt(_MOST_ENTRIES))


def changes(values: Floats, lengths: NDArray[Any], apart: int) -> Floats:
    """Between states this many steps apart in one episode. [E, T+1, k], [E] -> [n, k]."""
    made = np.arange(values.shape[1] - apart) + apart <= lengths[:, None]
    return _chosen(values[:, apart:] - values[:, :-apart], made)


def _chosen(values: Floats, flags: NDArray[np.bool_]) -> Floats:
    return np.asarray(values[flags], np.float64)


def first_scale(moves: Floats) -> Floats:
    """The factor that gives moves of c steps their length in a first φ. [n, d] -> [d, d]."""
    length = np.sqrt((moves**2).sum(-1).mean())
    return np.eye(moves.shape[-1]) * (_FIRST_MOVE / length if length > 0 else 1.0)


def alignment(moves: Floats, before: Floats) -> Floats:
    """The turn and the factor that bring moves of c steps closest to what they were. -> [d, d].

    Subgoals and policies live in the space as it was: slow directions are found in any order and
    with any sign, and one step is no fixed length while a robot learns to walk. [n, d], [n, d].
    """
    left, _, right = np.linalg.svd(moves.T @ before)
    length, target = (moves**2).sum(), (before**2).sum()
    return np.asarray(left @ right) * (np.sqrt(target / length) if length > 0 else 1.0)


def linear_network(random: MLP, weight: Floats, bias: Floats) -> MLP:
    """A network that is linear, with the random one's hidden units to learn more. [obs, d], [d].

    In every hidden layer one unit passes an output on where it is positive and one where it is
    negative; all others have no influence yet.
    """
    weights = [np.array(each) for each in random.weights]
    biases = [np.array(each) for each in random.biases]
    inward, shift, dim = weight, bias, weight.shape[1]
    for hidden_weight, hidden_bias in zip(weights[:-1], biases[:-1], strict=True):
        assert len(hidden_bias) >= 2 * dim
        hidden_weight[:, : 2 * dim] = 0.0
        hidden_weight[: len(inward), : 2 * dim] = np.concatenate([inward, -inward], 1)
        hidden_bias[: 2 * dim] = np.concatenate([shift, -shift])
        inward, shift = np.concatenate([np.eye(dim), -np.eye(dim)]), np.zeros(dim)
    weights[-1][:] = 0.0
    weights[-1][: len(inward)] = inward
    biases[-1][:] = shift
    layers = [jnp.asarray(each) for each in (*weights, *biases)]
    made: MLP = eqx.tree_at(lambda each: (*each.weights, *each.biases), random, layers)
    return made
