"""φ: the subgoal representation, its triplet loss and its stability term (paper §3.1)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, PRNGKeyArray

from hess.agents.agent import Progress
from hess.agents.hess.slow_features import (
    alignment,
    changes,
    first_scale,
    linear_network,
    slow_directions,
)
from hess.config import RepresentationConfig
from hess.errors import HessError
from hess.learning.kth_smallest import at_place, median
from hess.learning.networks import MLP
from hess.native import triplets
from hess.native.adam import Adam
from hess.replay.ring import Replay, age_in_episodes
from hess.replay.sampling import Index, uniform_index

_BLOCK = 8  # episodes embedded at a time when the whole ring is ranked
_DRAWN = 32  # minibatches drawn at once: searching one by one takes longer than learning from it
_NEWEST = 400  # episodes whose slow directions an update may start from
_STRENGTHS = 6  # of slow directions that are logged
_EPSILON = 1e-12  # keeps the gradient of a norm finite at 0


class RepresentationState(eqx.Module):
    """φ, its optimiser, and how many updates it has had."""

    network: MLP
    optimiser: optax.OptState
    updates: Array


class Triplets(NamedTuple):
    """Observations s_t, s_{t+1}, s_{t+c}. Each [B, obs]."""

    anchors: Array
    nexts: Array
    distants: Array


class Anchors(NamedTuple):
    """What the stability term holds on to, fixed right before an update."""

    embeddings: Array  # [slots, T+1, d] φ_old of all stored states
    weights: Array  # [slots, T+1-c] λ(s) of every triplet's anchor


class Priorities(NamedTuple):
    """Two-level inverse CDF: over slots, then over the triplets of a slot.

    One cumulative sum over a million triplets would lose the small ones to float32 rounding.
    """

    slots: Array  # [slots]
    triplets: Array  # [slots, T+1-c]


def norm(difference: Array) -> Array:
    """L2 norm with a gradient at 0. [..., d] -> [...]."""
    return jnp.sqrt((difference**2).sum(-1) + _EPSILON)


def separation(kind: str, difference: Array) -> Array:
    """The triplet loss's distance: L2 as written, or the mean of squares. [..., d] -> [...]."""
    if kind == "l2":
        return norm(difference)
    return (difference**2).mean(-1)


def triplet_loss(anchors: Array, nexts: Array, distants: Array, kind: str, margin: float) -> Array:
    """L_tri, Eq. 1, on embeddings: adjacent states close, c steps apart ≥ δ. [..., d] -> [...]."""
    together = separation(kind, anchors - nexts)
    apart = jnp.maximum(0.0, margin - separation(kind, anchors - distants))
    return together + apart


def stability_loss(embeddings: Array, old_embeddings: Array, weights: Array) -> Array:
    """L_s, Eq. 2: λ(s) ‖φ(s) - φ_old(s)‖, averaged. [B, d], [B, d], [B] -> []."""
    return (weights * norm(embeddings - old_embeddings)).mean()


def stability_weights(losses: Array, valid: Array, config: RepresentationConfig) -> Array:
    """λ(s) of every triplet's anchor. [slots, T+1-c] -> [slots, T+1-c].

    Binary: λ₀ on the k% with the *smallest* loss. Continuous: λ₀/√(1 + L_tri).
    """
    if config.stability == "continuous":
        weights = config.stability_weight / jnp.sqrt(1.0 + losses)
    else:
        held = jnp.floor(config.stable_fraction * valid.sum()).astype(jnp.int32)
        last = at_place(jnp.where(valid, losses, jnp.inf), held - 1)
        threshold = jnp.where(held > 0, last, -jnp.inf)
        weights = config.stability_weight * (losses <= threshold)
    return jnp.where(valid, weights, 0.0)


def make_priorities(losses: Array, valid: Array, kind: str) -> Priorities:
    """Sampling weights of all triplets: ∝ L_tri, the worse half, or all alike."""
    if kind == "loss":
        weights = jnp.where(valid, losses + _EPSILON, 0.0)
    elif kind == "rank":
        weights = jnp.where(valid & (losses >= median(losses, valid)), 1.0, 0.0)
    else:
        weights = valid.astype(jnp.float32)
    triplets = _cumulative(weights)
    return Priorities(_cumulative(triplets[:, -1]), triplets)


def _cumulative(weights: Array) -> Array:
    """Sums up to each place, constant exactly where the weight is 0. [..., n] -> [..., n].

    A parallel sum is rounded differently at every place; what it then gains over padding would
    be a chance to draw it.
    """
    sums = jnp.where(weights > 0, jnp.cumsum(weights, -1), 0.0)
    return jax.lax.cummax(sums, sums.ndim - 1)


def prioritised_index(priorities: Priorities, key: PRNGKeyArray, size: int) -> Index:
    """Triplets drawn with probability proportional to their weight."""
    slot_key, step_key = jax.random.split(key)
    slot_draw = _below(priorities.slots[-1], slot_key, (size,))
    slot = jnp.searchsorted(priorities.slots, slot_draw, side="right")
    step_draw = _below(priorities.triplets[slot, -1], step_key, (size,))
    return Index(slot, _first_beyond(priorities.triplets, slot, step_draw))


def _first_beyond(rows: Array, row: Array, value: Array) -> Array:
    """The first place in each value's row that holds more; the last place always does. -> [B].

    A binary search in place: `jnp.searchsorted` would copy the rows first.
    """

    def halve(_: int, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bounds
        middle = (low + high) // 2
        beyond = rows[row, middle] > value
        return jnp.where(beyond, low, middle + 1), jnp.where(beyond, middle, high)

    width = rows.shape[1]
    bounds = jnp.zeros_like(row), jnp.full_like(row, width - 1)
    low, _ = jax.lax.fori_loop(0, width.bit_length(), halve, bounds)
    return low


def _below(limit: Array, key: PRNGKeyArray, shape: tuple[int, ...]) -> Array:
    """Uniform in [0, limit), strictly: rounding may otherwise return the limit itself."""
    draw = jax.random.uniform(key, shape) * limit
    return jnp.minimum(draw, jnp.nextafter(limit, jnp.zeros_like(limit)))


class Representation:
    """Learns φ in updates of m minibatches, each update against φ as it was before."""

    def __init__(self, config: RepresentationConfig, observation_dim: int, interval: int):
        self.config = config
        self.observation_dim = observation_dim
        self.interval = interval
        self.optimiser = Adam(config.learning_rate)
        self._rank = jax.jit(self.rank)
        self._chunk = jax.jit(self.chunk)
        self._embed = jax.jit(embed_replay)

    def init(self, key: PRNGKeyArray) -> RepresentationState:
        """A random φ that has had no update."""
        network = MLP([self.observation_dim, *self.config.hidden, self.config.dim], key)
        updates = jnp.zeros((), jnp.int32)
        return RepresentationState(network, self.optimiser.init(network), updates)

    def update(
        self, state: RepresentationState, replay: Replay, key: PRNGKeyArray, report: Progress
    ) -> tuple[RepresentationState, dict[str, float]]:
        """m minibatches, in a few compiled calls between which priorities are renewed."""
        longest = int(replay.episodes.length.max())
        if longest < self.interval:
            raise HessError(
                f"there is nothing to learn the representation from: the longest episode had "
                f"{longest} steps; subgoal_interval={self.interval} must not be more than that"
            )
        anchors = self._rank(state, replay)
        logged: dict[str, float] = {}
        if self.config.start == "slow":
            start_key = jax.random.fold_in(key, self.config.minibatches)
            state, logged = self._slow_start(state, replay, start_key)
        done, metrics = 0, {}
        while done < self.config.minibatches:
            minibatches = min(self.config.refresh, self.config.minibatches - done)
            chunk_key = jax.random.fold_in(key, done)
            state, metrics = self._chunk(state, replay, anchors, chunk_key, minibatches)
            done += minibatches
            report("representation", done / self.config.minibatches)
        state = replace(state, updates=state.updates + 1)
        values = {f"representation/{name}": float(value) for name, value in metrics.items()}
        return state, values | logged

    def _slow_start(
        self, state: RepresentationState, replay: Replay, key: PRNGKeyArray
    ) -> tuple[RepresentationState, dict[str, float]]:
        """φ as the slowest linear directions of all that is observed, turned to where it was.

        Triplets ask for any features that tell states c steps apart; in few dimensions a robot's
        heading is as good as its position while it moves at random, and what a network makes of
        states that nobody has seen yet is anybody's guess (docs/results.md).
        """
        newest, c = newest_episodes(replay), self.interval
        observations = np.asarray(replay.episodes.observations)[newest]
        lengths = np.asarray(replay.episodes.length)[newest]
        slow = slow_directions(observations, lengths)
        directions = np.zeros((self.observation_dim, self.config.dim))  # all 0 beyond what varies
        found = slow.directions[:, : self.config.dim]
        directions[:, : found.shape[1]] = found
        ways = changes(observations @ directions, lengths, c)
        if int(state.updates) == 0:
            directions = directions @ first_scale(ways)
            bias = -slow.centre @ directions
        else:
            before = np.asarray(self._embed(state.network, replay))[newest]
            directions = directions @ alignment(ways, changes(before, lengths, c))
            seen = np.arange(before.shape[1]) <= lengths[:, None]
            bias = before[seen].mean(0) - slow.centre @ directions
        random = MLP([self.observation_dim, *self.config.hidden, self.config.dim], key)
        network = linear_network(random, directions, bias)
        logged = {
            f"representation/strength_{place}": float(strength / slow.strengths[0])
            for place, strength in enumerate(slow.strengths[:_STRENGTHS])
        }
        return RepresentationState(network, self.optimiser.init(network), state.updates), logged

    def rank(self, state: RepresentationState, replay: Replay) -> Anchors:
        """φ_old and λ(s) of everything stored; no term in the very first update."""
        embeddings = embed_replay(state.network, replay)
        losses, valid = self._losses(embeddings, replay)
        weights = stability_weights(losses, valid, self.config)
        return Anchors(embeddings, jnp.where(state.updates > 0, weights, 0.0))

    def chunk(
        self,
        state: RepresentationState,
        replay: Replay,
        anchors: Anchors,
        key: PRNGKeyArray,
        minibatches: Array,
    ) -> tuple[RepresentationState, dict[str, Array]]:
        """Minibatches of Eq. 3 in one compiled loop, with priorities computed at its start.

        The first update draws uniformly: priorities favour states that were stuck against a wall
        for c steps, and with no stability term yet φ would bend to tell those apart, by the
        robot's heading if nothing else (PointMaze: R² of x, y from φ 0.69, 0.45; uniform 0.99,
        0.90).
        """
        losses, valid = self._losses(embed_replay(state.network, replay), replay)
        priorities = jax.lax.cond(
            state.updates > 0,
            lambda: make_priorities(losses, valid, self.config.priority),
            lambda: make_priorities(losses, valid, "uniform"),
        )
        cumulative = jnp.cumsum(valid.sum(-1))

        parameters, unravel = ravel_pytree(state.network)

        def block(number: Array, carry: Any) -> Any:
            indices = self._draw(priorities, cumulative, jax.random.fold_in(key, number))

            def body(index: Array, carry: Any) -> Any:
                parameters, optimiser, totals = carry
                drawn, held = jax.tree.map(lambda stacked: stacked[index], indices)
                gradient, metrics = self._gradient(
                    unravel(parameters), replay, anchors, drawn, held
                )
                parameters, optimiser = self.optimiser.step(
                    parameters, _raveled(gradient), optimiser
                )
                return parameters, optimiser, jax.tree.map(jnp.add, totals, metrics)

            left = minibatches - number * _DRAWN
            return jax.lax.fori_loop(0, jnp.minimum(left, _DRAWN), body, carry)

        zeros = {"triplet_loss": jnp.zeros(()), "stability_loss": jnp.zeros(())}
        carry = (parameters, _raveled(state.optimiser), zeros)
        blocks = (minibatches + _DRAWN - 1) // _DRAWN
        parameters, optimiser, totals = jax.lax.fori_loop(0, blocks, block, carry)
        network = unravel(parameters)
        optimiser = jax.tree.map(
            lambda old, new: unravel(new) if _is_network(old) else new,
            state.optimiser,
            optimiser,
            is_leaf=_is_network,
        )
        metrics = {name: total / minibatches for name, total in totals.items()}
        metrics["mean_triplet_loss"] = jnp.where(valid, losses, 0.0).sum() / valid.sum()
        return replace(state, network=network, optimiser=optimiser), metrics

    def _draw(
        self, priorities: Priorities, cumulative: Array, key: PRNGKeyArray
    ) -> tuple[Index, Index]:
        """Triplets and held states for a block of minibatches. -> 2 x [block, B] each."""
        triplet_key, hold_key = jax.random.split(key)
        shape = _DRAWN, self.config.batch_size
        drawn = prioritised_index(priorities, triplet_key, math.prod(shape))
        held = uniform_index(cumulative, hold_key, math.prod(shape))
        return jax.tree.map(lambda flat: flat.reshape(shape), (drawn, held))

    def _gradient(
        self, network: MLP, replay: Replay, anchors: Anchors, drawn: Index, held: Index
    ) -> tuple[MLP, dict[str, Array]]:
        """Of L_φ on one minibatch, with its two terms."""
        if not triplets.suits(network.weights):
            return jax.grad(self._loss, has_aux=True)(network, replay, anchors, drawn, held)
        (first, second), (first_bias, second_bias) = network.weights, network.biases
        config = self.config
        layers, triplet, stability = triplets.gradient(
            triplets.Layers(first, first_bias, second, second_bias),
            triplets.Stored(replay.episodes.observations, *anchors),
            triplets.Places(*drawn, *held),
            triplets.Objective(config.distance != "l2", config.margin, _EPSILON, self.interval),
        )
        gradient = eqx.tree_at(
            lambda network: (*network.weights, *network.biases),
            network,
            (layers.first, layers.second, layers.first_bias, layers.second_bias),
        )
        return gradient, {"triplet_loss": triplet, "stability_loss": stability}

    def _loss(
        self, network: MLP, replay: Replay, anchors: Anchors, drawn: Index, held: Index
    ) -> tuple[Array, dict[str, Array]]:
        """L_φ, Eq. 3: prioritised triplets plus the stability term on uniform states."""
        observations = replay.episodes.observations
        slot, step = drawn
        states = jnp.concatenate(
            [
                observations[slot, step],
                observations[slot, step + 1],
                observations[slot, step + self.interval],
                observations[held.slot, held.step],
            ]
        )
        anchor, next_, distant, hold = jnp.split(network(states), 4)
        triplet = triplet_loss(
            anchor, next_, distant, self.config.distance, self.config.margin
        ).mean()
        stability = stability_loss(
            hold, anchors.embeddings[held.slot, held.step], anchors.weights[held.slot, held.step]
        )
        return triplet + stability, {"triplet_loss": triplet, "stability_loss": stability}

    def _losses(self, embeddings: Array, replay: Replay) -> tuple[Array, Array]:
        """L_tri of every stored triplet and which entries are triplets. -> 2 x [slots, T+1-c]."""
        c = self.interval
        count = embeddings.shape[1] - c
        losses = triplet_loss(
            embeddings[:, :count],
            embeddings[:, 1 : count + 1],
            embeddings[:, c:],
            self.config.distance,
            self.config.margin,
        )
        return losses, jnp.arange(count) + c <= replay.episodes.length[:, None]


def _is_network(node: Any) -> bool:
    return isinstance(node, MLP)


def _raveled(tree: Any) -> Any:
    """The same with one vector for each network: Adam is then one operation instead of many."""
    return jax.tree.map(
        lambda node: ravel_pytree(node)[0] if _is_network(node) else node, tree, is_leaf=_is_network
    )


def newest_episodes(replay: Replay) -> np.ndarray[Any, Any]:
    """Slots of the episodes in which the robot moves as it does now."""
    ages = np.asarray(age_in_episodes(replay))
    return np.flatnonzero((ages >= 0) & (ages < _NEWEST))


def embed_replay(network: MLP, replay: Replay) -> Array:
    """φ of every stored state, by blocks, so that an almost empty ring costs almost nothing."""
    observations = replay.episodes.observations
    slots, states, _ = observations.shape
    block = min(_BLOCK, slots)
    embeddings = jnp.zeros((slots, states, network.biases[-1].shape[0]))

    def body(index: Array, embeddings: Array) -> Array:
        # dynamic_slice clamps the last start, so a ragged last block overlaps the one before.
        part = jax.lax.dynamic_slice_in_dim(observations, index * block, block)
        return jax.lax.dynamic_update_slice_in_dim(embeddings, network(part), index * block, 0)

    return jax.lax.fori_loop(0, (replay.stored + block - 1) // block, body, embeddings)
