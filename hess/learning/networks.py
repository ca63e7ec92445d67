"""The networks of the paper: small multi-layer perceptrons, in JAX to learn, in NumPy to act.

Acting on one observation is bound by dispatch in JAX (50-100 µs a call); two mat-vecs in NumPy
take about 20 µs, so policies are exported once per round.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from hess.arrays import Floats
from hess.native.matmul import concatenate, dense, is_native, layers
from hess.native.normalisation import EPSILON, normalise_rectified

LOG_STD_MIN, LOG_STD_MAX = -5.0, 2.0


class MLP(eqx.Module):
    """ReLU layers with optional layer normalisation. [..., in] -> [..., out].

    Weights are stored [in, out], which keeps XLA's CPU matrix products free of transposes.
    """

    weights: list[Array]  # [in, out] each
    biases: list[Array]  # [out] each
    layer_norm: bool = eqx.field(static=True)

    def __init__(self, sizes: Sequence[int], key: PRNGKeyArray, layer_norm: bool = False):
        self.weights, self.biases = [], []
        self.layer_norm = layer_norm
        for fan_in, fan_out in pairwise(sizes):
            key, weight_key, bias_key = jax.random.split(key, 3)
            bound = 1.0 / np.sqrt(fan_in)
            self.weights.append(
                jax.random.uniform(weight_key, (fan_in, fan_out), minval=-bound, maxval=bound)
            )
            self.biases.append(
                jax.random.uniform(bias_key, (fan_out,), minval=-bound, maxval=bound)
            )

    def __call__(self, *inputs: Array) -> Array:
        """Apply the network to the last axis; several inputs are read side by side."""
        if self.layer_norm:
            return dense(self.features(*inputs), self.weights[-1], self.biases[-1], rectify=False)
        return layers(inputs, self.weights, self.biases, rectify=False)

    def features(self, *inputs: Array) -> Array:
        """What the last layer reads: the last hidden layer, or the inputs where there is none."""
        if not self.layer_norm:
            return layers(inputs, self.weights[:-1], self.biases[:-1], rectify=True)
        hidden: Sequence[Array] = inputs
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            hidden = [normalise_rectified(layers(hidden, [weight], [bias], rectify=False))]
        return concatenate(hidden)


def twin(sizes: Sequence[int], key: PRNGKeyArray, layer_norm: bool) -> MLP:
    """Two critics in one module: every array has a leading axis of 2."""
    critics: MLP = eqx.filter_vmap(lambda k: MLP(sizes, k, layer_norm))(jax.random.split(key, 2))
    return critics


def twin_values(critics: MLP, observations: Array, actions: Array) -> Array:
    """Q of both critics. [B, obs], [B, action] -> [2, B].

    For XLA each gets its own copy of the inputs: it would else join both first layers into one
    product and transpose what it reads and writes.
    """
    if is_native(observations):
        return eqx.filter_vmap(lambda critic: critic(observations, actions)[..., 0])(critics)
    inputs = concatenate([observations, actions])
    copies = jnp.broadcast_to(inputs, (2, *inputs.shape))
    return eqx.filter_vmap(lambda critic, each: critic(each)[..., 0])(critics, copies)


def gaussian(actor: MLP, observations: Array) -> tuple[Array, Array]:
    """Mean and log standard deviation before the tanh. [B, obs] -> 2 x [B, action]."""
    mean, log_std = jnp.split(actor(observations), 2, -1)
    return mean, jnp.clip(log_std, LOG_STD_MIN, LOG_STD_MAX)


@jax.custom_jvp
def log_slope_of_tanh(numbers: Array) -> Array:
    """log(1 - tanh(u)²), in a form that does not overflow for large |u|. [...] -> [...]."""
    size = jnp.abs(numbers)
    return 2.0 * (jnp.log(2.0) - size - jnp.log1p(jnp.exp(-2.0 * size)))


log_slope_of_tanh.defjvps(  # a tanh is there already; the form above would need an exp and more
    lambda change, value, numbers: -2.0 * jnp.tanh(numbers) * change
)


def squashed_log_probability(mean: Array, log_std: Array, unsquashed: Array) -> Array:
    """log π(tanh(u)) of a tanh-squashed Gaussian. [..., action] -> [...]."""
    return _log_probability((unsquashed - mean) * jnp.exp(-log_std), log_std, unsquashed)


def _log_probability(noise: Array, log_std: Array, unsquashed: Array) -> Array:
    normal = -0.5 * noise**2 - log_std - 0.5 * jnp.log(2 * jnp.pi)
    return (normal - log_slope_of_tanh(unsquashed)).sum(-1)


def sample_action(actor: MLP, observations: Array, noise: Array) -> tuple[Array, Array]:
    """The action that standard normal noise draws, and its log-probability.

    [B, obs], [B, action] -> [B, action], [B].
    """
    mean, log_std = gaussian(actor, observations)
    unsquashed = mean + jnp.exp(log_std) * noise
    return jnp.tanh(unsquashed), _log_probability(noise, log_std, unsquashed)


class HostMLP:
    """The same network in NumPy, which is faster for one input at a time."""

    def __init__(self, network: MLP):
        self._layer_norm = network.layer_norm
        # Copies: the learner reuses the memory of donated buffers while a policy still acts.
        self._hidden = [
            (np.array(weight), np.array(bias))
            for weight, bias in zip(network.weights[:-1], network.biases[:-1], strict=True)
        ]
        self._output = (np.array(network.weights[-1]), np.array(network.biases[-1]))

    def __call__(self, inputs: Floats) -> Floats:
        """Apply the network. [..., in] -> [..., out]."""
        hidden = inputs
        for weight, bias in self._hidden:
            hidden = hidden @ weight
            hidden += bias
            if self._layer_norm:
                hidden -= hidden.mean(-1, keepdims=True)
                hidden /= np.sqrt((hidden**2).mean(-1, keepdims=True) + EPSILON)
            np.maximum(hidden, 0.0, out=hidden)
        weight, bias = self._output
        return hidden @ weight + bias


class HostActor:
    """A tanh-squashed Gaussian policy in NumPy."""

    def __init__(self, network: MLP):
        self._network = HostMLP(network)

    def act(self, observation: Floats, rng: np.random.Generator | None) -> Floats:
        """A sample, or the mode when no generator is given. [obs] -> [action]."""
        mean, log_std = self._gaussian(observation)
        if rng is None:
            return np.tanh(mean)
        noise = rng.standard_normal(mean.shape[0], dtype=np.float32)
        return np.tanh(mean + np.exp(log_std) * noise)

    def log_probability(self, observation: Floats, action: Floats) -> float:
        """log π(action | observation); actions on the edge of the box are moved inside by 1e-6."""
        mean, log_std = (part.astype(np.float64) for part in self._gaussian(observation))
        inside = np.clip(action.astype(np.float64), -1 + 1e-6, 1 - 1e-6)
        noise = (np.arctanh(inside) - mean) / np.exp(log_std)
        normal = -0.5 * noise**2 - log_std - 0.5 * np.log(2 * np.pi)
        return float((normal - np.log1p(-(inside**2))).sum())

    def _gaussian(self, observation: Floats) -> tuple[Floats, Floats]:
        outputs = self._network(observation)
        half = len(outputs) // 2  # `np.split` and `np.clip` would take a fourth of the time
        return outputs[:half], np.minimum(np.maximum(outputs[half:], LOG_STD_MIN), LOG_STD_MAX)


class HostChooser(HostActor):
    """The same policy, whose critics choose among some of its actions where nothing is drawn.

    A policy that is kept wide has its mode in the middle of what is good, not at the best of it.
    """

    def __init__(self, network: MLP, critics: Sequence[MLP], choices: int):
        super().__init__(network)
        self._critics = [HostMLP(critic) for critic in critics]
        size = (choices - 1, network.biases[-1].shape[0] // 2)
        # The same in every state, so that what is chosen depends on the state alone.
        self._noise = np.random.default_rng(0).standard_normal(size, dtype=np.float32)

    def act(self, observation: Floats, rng: np.random.Generator | None) -> Floats:
        """A sample, or the best of the mode and of what fixed noise draws. [obs] -> [action]."""
        if rng is not None:
            return super().act(observation, rng)
        mean, log_std = self._gaussian(observation)
        actions = np.tanh(np.concatenate([mean[None], mean + np.exp(log_std) * self._noise]))
        seen = np.broadcast_to(observation, (len(actions), len(observation)))
        inputs = np.concatenate([seen, actions], -1)
        values = np.min([critic(inputs)[:, 0] for critic in self._critics], 0)
        return np.asarray(actions[np.argmax(values)])
