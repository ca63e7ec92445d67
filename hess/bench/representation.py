"""Learning φ: one minibatch, and a whole update of 50 000."""

from __future__ import annotations

import statistics

import jax
import jax.numpy as jnp

from hess.agents.representation import Representation
from hess.bench.rows import Row
from hess.bench.sizes import Size
from hess.bench.synthetic import ANT_MAZE, finished, noise_replay
from hess.bench.timing import fitting_seconds
from hess.presets import preset


def rows(size: Size) -> list[Row]:
    """Milliseconds of a minibatch and the seconds of the published number of them."""
    config = preset("paper")
    learner = Representation(
        config.representation, ANT_MAZE.observation_dim, config.subgoal_interval
    )
    replay = noise_replay(ANT_MAZE, size.stored)
    state = learner.init(jax.random.key(0))
    minibatches = jnp.asarray(size.minibatches)
    anchors, learn = learner.rank(state, replay), jax.jit(learner.chunk)
    state, _ = learn(state, replay, anchors, jax.random.key(1), jnp.asarray(2))

    def work() -> None:
        nonlocal state
        state, _ = finished(learn(state, replay, anchors, jax.random.key(2), minibatches))

    each = statistics.median(
        fitting_seconds(work) / size.minibatches for _ in range(size.repetitions)
    )
    whole = config.representation.minibatches
    chunks = f"priorities renewed every {size.minibatches:,}"
    return [
        Row("representation", "φ minibatch of 100", each * 1e3, "ms", note=chunks),
        Row("representation", f"φ update of {whole:,} minibatches", each * whole, "s"),
    ]
