"""φ, the subgoal representation: how it is learned (paper §3.1); what for is in objective.py."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, PRNGKeyArray

from hess.agents.agent import Progress
from hess.agents.hess.objective import Anchors, Objective, check_gradient, stability_weights
from hess.agents.hess.priorities import Priorities, make_priorities, prioritised_index
from hess.agents.hess.rollouts import embed_replay
from hess.agents.hess.slow_features import linear_network, slow_start
from hess.config import RepresentationConfig
from hess.errors import HessError
from hess.learning.networks import MLP
from hess.native.adam import Adam
from hess.replay.ring import Replay, newest_slots
from hess.replay.sampling import Index, uniform_index

_DRAWN = 32  # minibatches drawn at once: searching one by one takes longer than learning from it
_NEWEST = 400  # episodes whose slow directions an update may start from
_STRENGTHS = 6  # of slow directions that are logged


class RepresentationState(eqx.Module):
    """φ, its optimiser, and how many updates it has had."""

    network: MLP
    optimiser: optax.OptState
    updates: Array


def update_is_due(config: RepresentationConfig, before: int, now: int) -> bool:
    """Whether φ is to be updated between these numbers of episodes: at the first few, at every
    multiple of I, and in between while their number still grows by a large factor."""
    due = config.first_update
    while due <= before:
        regular = (due // config.interval + 1) * config.interval
        due = min(regular, math.ceil(due * config.growth)) if config.growth else regular
    return due <= now


class Representation:
    """Learns φ in updates of m minibatches, each update against φ as it was before."""

    def __init__(self, config: RepresentationConfig, observation_dim: int, dim: int, interval: int):
        self.config = config
        self.observation_dim, self.dim = observation_dim, dim
        self.interval = interval
        self.objective = Objective(config, interval)
        self.optimiser = Adam(config.learning_rate)
        self._rank = jax.jit(self.rank)
        self._chunk = jax.jit(self.chunk)

    def init(self, key: PRNGKeyArray) -> RepresentationState:
        network = MLP([self.observation_dim, *self.config.hidden, self.dim], key)
        updates = jnp.zeros((), jnp.int32)
        return RepresentationState(network, self.optimiser.init(network), updates)

    def check(self) -> None:
        """Before a run learns anything: compiled code must minimise what objective.py says."""
        check_gradient(self.objective, self.observation_dim, self.dim)

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
        states that nobody has seen yet is anybody's guess (docs/notebook.md).
        """
        newest = newest_slots(replay, _NEWEST)
        observations = np.asarray(replay.episodes.observations)[newest]
        lengths = np.asarray(replay.episodes.length)[newest]
        before = None
        if int(state.updates) > 0:
            before = np.asarray(embed_replay(state.network, replay))[newest]
        start = slow_start(observations, lengths, before, self.dim, self.interval)
        random = MLP([self.observation_dim, *self.config.hidden, self.dim], key)
        network = linear_network(random, start.weight, start.bias)
        logged = {
            f"representation/strength_{place}": float(strength / start.strengths[0])
            for place, strength in enumerate(start.strengths[:_STRENGTHS])
        }
        return RepresentationState(network, self.optimiser.init(network), state.updates), logged

    def rank(self, state: RepresentationState, replay: Replay) -> Anchors:
        """φ_old and λ(s) of everything stored; no term in the very first update."""
        embeddings = embed_replay(state.network, replay)
        losses, valid = self.objective.triplet_losses(embeddings, replay.episodes.length)
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
        embeddings = embed_replay(state.network, replay)
        losses, valid = self.objective.triplet_losses(embeddings, replay.episodes.length)
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
                gradient, metrics = self.objective.gradient(
                    unravel(parameters), replay.episodes.observations, anchors, drawn, held
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


def _is_network(node: Any) -> bool:
    return isinstance(node, MLP)


def _raveled(tree: Any) -> Any:
    """The same with one vector for each network: Adam is then one operation instead of many."""
    return jax.tree.map(
        lambda node: ravel_pytree(node)[0] if _is_network(node) else node, tree, is_leaf=_is_network
    )
