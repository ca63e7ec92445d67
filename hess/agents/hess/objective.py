"""φ's objective (paper §3.1): the triplet loss, the stability term, and which states it holds.

`Objective.loss` is the definition, and the ranking of stored triplets uses the same functions. For
some settings compiled code computes the gradient instead (`hess.native.triplets` says for which);
`check_gradient` compares both as a run starts, so that neither can be changed alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from hess.config import RepresentationConfig
from hess.errors import HessError
from hess.learning.kth_smallest import kth_smallest
from hess.learning.networks import MLP
from hess.learning.sac import Metrics
from hess.native import triplets
from hess.replay.sampling import Index

_EPSILON = 1e-12  # keeps the gradient of a norm finite at 0
_LARGEST_DIFFERENCE = 1e-4  # of two gradients, against the largest entry: single precision has 1e-6


class Anchors(NamedTuple):
    """What the stability term holds on to, fixed right before an update."""

    embeddings: Array  # [slots, T+1, d] φ_old of all stored states
    weights: Array  # [slots, T+1-c] λ(s) of every triplet's anchor


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
        last = kth_smallest(jnp.where(valid, losses, jnp.inf), held - 1)
        threshold = jnp.where(held > 0, last, -jnp.inf)
        weights = config.stability_weight * (losses <= threshold)
    return jnp.where(valid, weights, 0.0)


class Objective(NamedTuple):
    """Eq. 3 for one config; `interval` is c."""

    config: RepresentationConfig
    interval: int

    def loss(
        self, network: MLP, observations: Array, anchors: Anchors, drawn: Index, held: Index
    ) -> tuple[Array, Metrics]:
        """L_φ, Eq. 3: prioritised triplets plus the stability term on uniform states.

        observations: [slots, T+1, obs]; drawn, held: where triplets and held states begin, [B].
        """
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

    def gradient(
        self, network: MLP, observations: Array, anchors: Anchors, drawn: Index, held: Index
    ) -> tuple[MLP, Metrics]:
        """Of `loss`, with its two terms."""
        if not triplets.suits(self.config.distance, network):
            return jax.grad(self.loss, has_aux=True)(network, observations, anchors, drawn, held)
        return triplets.gradient(
            network,
            (observations, *anchors),
            (*drawn, *held),
            distance=self.config.distance,
            margin=self.config.margin,
            epsilon=_EPSILON,
            interval=self.interval,
        )

    def triplet_losses(self, embeddings: Array, lengths: Array) -> tuple[Array, Array]:
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
        return losses, jnp.arange(count) + c <= lengths[:, None]


@lru_cache
def check_gradient(objective: Objective, observation_dim: int, dim: int) -> None:
    """Refuse to learn φ by a compiled gradient that is not the one of `Objective.loss`.

    One minibatch of made-up states will do: steps of all sizes, so that some triplets are apart
    and others are not, whatever the margin.
    """
    config, states = objective.config, objective.interval + 8
    network = MLP([observation_dim, *config.hidden, dim], jax.random.key(0))
    if not triplets.suits(config.distance, network):
        return
    rng, sizes = np.random.default_rng(0), np.logspace(-2, 2, 8)
    slots, starts, batch = len(sizes), states - objective.interval, config.batch_size
    observations = sizes[:, None, None] * rng.standard_normal((slots, states, observation_dim))
    old = rng.standard_normal((slots, states, dim))
    weights = rng.uniform(0.0, 1.0, (slots, starts))
    drawn, held = (
        Index(*(jnp.asarray(rng.integers(0, most, batch)) for most in (slots, starts)))
        for _ in range(2)
    )
    seen, *anchors = (jnp.asarray(each, jnp.float32) for each in (observations, old, weights))
    arguments = network, seen, Anchors(*anchors), drawn, held
    compiled = jax.jit(objective.gradient)(*arguments)
    defined = jax.jit(jax.grad(objective.loss, has_aux=True))(*arguments)
    difference = max(
        float(jnp.abs(ours - theirs).max() / jnp.maximum(jnp.abs(theirs).max(), 1e-6))
        for ours, theirs in zip(*map(jax.tree.leaves, (compiled, defined)), strict=True)
    )
    if not difference < _LARGEST_DIFFERENCE:
        raise HessError(
            f"the gradient of φ's loss in hess/native/triplets.cc differs by {difference:.0%} from "
            "that of the loss in hess/agents/hess/objective.py: change both alike, or leave it to "
            "JAX with HESS_MATMUL=xla"
        )
