"""What policies see, for learning in JAX and for acting on the host."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from numpy.typing import NDArray

from hess.arrays import Arrays
from hess.config import HighConfig, LowConfig
from hess.learning.networks import MLP, HostActor, HostChooser

_LEAST_STD = 0.05  # an entry that hardly varies is not blown up
_LEAST_VARIANCE = 1e-12  # what varies less is constant but for rounding
_RELATIVE_RADIUS = 5.0  # r_g as the low level sees it: where to go outweighs any one joint


class Scaling(NamedTuple):
    """(observation - centre) · factor, and what lies between φ(s) and g · offset_factor."""

    centre: Any  # [obs]
    factor: Any  # [obs]
    offset_factor: Any = np.float32(1.0)
    metric: Any = None  # [d, d] how far apart two embeddings are; None: all directions alike


def measured(scaling: Scaling, differences: Array) -> Array:
    """Differences of embeddings, each direction of φ by its weight. [..., d] -> [..., d]."""
    return differences if scaling.metric is None else differences @ scaling.metric


class Moments:
    """Mean and variance of every entry of all observations so far."""

    def __init__(self, dim: int):
        self.count = 0.0
        self.mean = np.zeros(dim)
        self.squares = np.zeros(dim)  # summed squared deviations from the mean

    def add(self, observations: NDArray[Any]) -> None:
        """Take in more observations. [n, obs]."""
        count, values = len(observations), observations.astype(np.float64)
        mean = values.mean(0)
        shift, total = mean - self.mean, self.count + count
        self.squares += ((values - mean) ** 2).sum(0) + shift**2 * self.count * count / total
        self.mean = self.mean + shift * count / total
        self.count = total

    def state(self) -> Arrays:
        return {
            "count": np.asarray(self.count),
            "mean": self.mean.copy(),
            "squares": self.squares.copy(),
        }

    def restore(self, arrays: Arrays) -> None:
        self.count = float(arrays["count"])
        self.mean, self.squares = arrays["mean"].copy(), arrays["squares"].copy()

    @property
    def variance(self) -> NDArray[Any]:
        """Of every entry. -> [obs]."""
        return self.squares / max(self.count, 1.0)

    def growth(self, before: NDArray[Any]) -> NDArray[Any]:
        """The share of every entry's variance that has come since it was `before`. -> [obs]."""
        return np.clip(1.0 - before / np.maximum(self.variance, _LEAST_VARIANCE), 0.0, 1.0)

    def scaling(self, radius: float = _RELATIVE_RADIUS) -> Scaling:
        """To mean 0 and variance 1; subgoals are as far away as r_g allows, whatever φ's units."""
        factor = 1.0 / np.maximum(np.sqrt(self.variance), _LEAST_STD)
        offset_factor = np.float32(_RELATIVE_RADIUS / radius)
        return Scaling(self.mean.astype(np.float32), factor.astype(np.float32), offset_factor)


def low_scaling(config: LowConfig, moments: Moments, radius: float = _RELATIVE_RADIUS) -> Scaling:
    """What the policy that moves the robot sees scaled: all entries, or none."""
    return moments.scaling(radius) if config.normalise else no_scaling(len(moments.mean))


def hide(scaling: Scaling, shares: NDArray[Any]) -> Scaling:
    """The same with every entry made smaller by the share of it that is known otherwise."""
    return scaling._replace(factor=scaling.factor * (1.0 - shares).astype(np.float32))


def no_scaling(dim: int) -> Scaling:
    """Observations as they are."""
    return Scaling(np.zeros(dim, np.float32), np.ones(dim, np.float32))


def scaled(scaling: Scaling, observations: Any) -> Any:
    """Observations as networks see them; NumPy and JAX arrays alike. [..., obs]."""
    return (observations - scaling.centre) * scaling.factor


def fold_scaling(scaling: Scaling, network: MLP) -> MLP:
    """The network for observations as they are: its first layer takes over what `scaled` does."""
    observation_dim = len(scaling.centre)
    weight = np.asarray(network.weights[0])
    of_observation = scaling.factor[:, None] * weight[:observation_dim]
    first = np.concatenate([of_observation, weight[observation_dim:]])
    return _with_first_layer(
        network, first, np.asarray(network.biases[0]) - scaling.centre @ of_observation
    )


def _with_first_layer(network: MLP, weight: NDArray[Any], bias: NDArray[Any]) -> MLP:
    folded: MLP = eqx.tree_at(
        lambda each: (each.weights[0], each.biases[0]), network, (weight, bias)
    )
    return folded


def low_input_dim(config: LowConfig, observation_dim: int, dim: int) -> int:
    """Width of what the low level's networks take."""
    return observation_dim + (dim if config.subgoal_input == "relative" else 2 * dim)


def low_input(
    config: LowConfig, scaling: Scaling, observations: Array, embeddings: Array, subgoals: Array
) -> Array:
    """s ‖ φ(s) ‖ g, or s ‖ g - φ(s), scaled. -> [B, low_input_dim]."""
    seen = scaled(scaling, observations)
    if config.subgoal_input == "relative":
        offset = measured(scaling, subgoals - embeddings) * scaling.offset_factor
        return jnp.concatenate([seen, offset], -1)
    return jnp.concatenate([seen, embeddings, subgoals], -1)


class HighView(eqx.Module):
    """How the high level sees a state and its goal."""

    network: MLP | None = None  # φ, whose output it sees between both; None: it does not
    scaling: Scaling | None = None  # of all that it sees; None: as it is
    observed: bool = eqx.field(static=True, default=True)  # it sees the state itself
    remembered: bool = eqx.field(static=True, default=False)  # and where the episode has been


def high_view(
    config: HighConfig,
    network: MLP | None,
    observations: Moments,
    embeddings: Moments,
    goals: Moments,
) -> HighView:
    """The view that the config asks for, scaled by what was seen so far."""
    scaling = None
    if config.normalise:
        parts = [
            (config.observation_input, observations),
            (config.embedding_input, embeddings),
            (config.memory_input, embeddings),
            (True, goals),
        ]
        scalings = [moments.scaling() for shown, moments in parts if shown]
        scaling = Scaling(
            np.concatenate([each.centre for each in scalings]),
            np.concatenate([each.factor for each in scalings]),
        )
    network = network if config.embedding_input else None
    return HighView(network, scaling, config.observation_input, config.memory_input)


def high_input_dim(config: HighConfig, observation_dim: int, dim: int, goal_dim: int) -> int:
    """Width of what the high level's networks take."""
    observed = observation_dim if config.observation_input else 0
    return observed + dim * (config.embedding_input + config.memory_input) + goal_dim


def high_input(
    view: HighView, observations: Array, goals: Array, memories: Array | None = None
) -> Array:
    """s ‖ φ(s) ‖ memory ‖ goal, or what the view has of it, scaled. -> [..., high_input_dim].

    A memory is the mean of φ at the starts of an episode's segments so far, this one included.
    """
    observed = [observations] if view.observed else []
    embeddings = [] if view.network is None else [view.network(observations)]
    remembered = [memories] if view.remembered and memories is not None else []
    seen = jnp.concatenate([*observed, *embeddings, *remembered, goals], -1)
    return seen if view.scaling is None else scaled(view.scaling, seen)


def host_high_actor(
    view: HighView, actor: MLP, critics: MLP, choices: int, sizes: tuple[int, int]
) -> HostActor:
    """The high level for plain s ‖ φ(s) ‖ memory ‖ goal; sizes: those of s and of φ(s)."""
    plain = _for_plain_inputs(view, actor, sizes)
    if choices == 1:
        return HostActor(plain)
    both = [jax.tree.map(lambda array, one=one: array[one], critics) for one in range(2)]
    return HostChooser(plain, [_for_plain_inputs(view, each, sizes) for each in both], choices)


def _for_plain_inputs(view: HighView, network: MLP, sizes: tuple[int, int]) -> MLP:
    """The first layer does what is needed: it scales, and what the view does not show counts 0."""
    folded = network if view.scaling is None else fold_scaling(view.scaling, network)
    first, (observation_dim, dim) = np.asarray(folded.weights[0]), sizes
    for seen, start, size in (
        (view.observed, 0, observation_dim),
        (view.network is not None, observation_dim, dim),
        (view.remembered, observation_dim + dim, dim),
    ):
        if not seen:
            first = np.insert(first, [start] * size, 0.0, axis=0)
    return _with_first_layer(folded, first, np.asarray(folded.biases[0]))


def host_low_actor(config: LowConfig, scaling: Scaling, actor: MLP) -> HostActor:
    """The low level for plain s ‖ φ(s) ‖ g: the first layer takes over what `low_input` does."""
    folded = fold_scaling(scaling, actor)
    if config.subgoal_input == "relative":
        first, observation_dim = np.asarray(folded.weights[0]), len(scaling.centre)
        of_offset = scaling.offset_factor * first[observation_dim:]
        of_offset = of_offset if scaling.metric is None else scaling.metric @ of_offset
        first = np.concatenate([first[:observation_dim], -of_offset, of_offset])
        folded = _with_first_layer(folded, first, np.asarray(folded.biases[0]))
    return HostActor(folded)
