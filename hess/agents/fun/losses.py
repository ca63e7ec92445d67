"""The objectives of both levels; pure functions of arrays over whole episodes, time first."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array

from hess.agents.fun.networks import cosine
from hess.learning.sac import Metrics


def masked_mean(values: Array, mask: Array) -> Array:
    """Mean where the mask is True, 0 where nothing is. [T, B] -> []."""
    return jnp.where(mask, values, 0.0).sum() / jnp.maximum(mask.sum(), 1)


def movements(latents: Array, lengths: Array, interval: int) -> Array:
    """s_{t+c} - s_t; near an episode's end, up to its last state. [T+1, B, d] -> [T, B, d]."""
    steps = jnp.arange(latents.shape[0] - 1)[:, None]
    later = jnp.minimum(steps + interval, lengths)
    return jnp.take_along_axis(latents, later[..., None], axis=0) - latents[:-1]


def transition_policy_loss(
    goals: Array, moved: Array, advantages: Array, mask: Array
) -> tuple[Array, Metrics]:
    """-A_t d_cos(s_{t+c} - s_t, g_t): the transition policy gradient. [T, B, d] x 2, [T, B] x 2.

    What moved in the latent space is taken as given; otherwise the space would collapse onto
    the goals.
    """
    agreement = cosine(jax.lax.stop_gradient(moved), goals)
    loss = -masked_mean(advantages * agreement, mask)
    return loss, {"high/actor_loss": loss, "high/cosine": masked_mean(agreement, mask)}


def intrinsic_rewards(latents: Array, goals: Array, interval: int) -> Array:
    """1/c Σ_{i=1..c} d_cos(s_{t+1} - s_{t+1-i}, g_{t+1-i}), for the action at t. -> [T, B].

    Terms from before the start of the episode are 0.
    """
    reached = jnp.arange(1, latents.shape[0])

    def add(total: Array, lag: Array) -> tuple[Array, None]:
        then = reached - lag
        start = jnp.maximum(then, 0)
        agreement = cosine(latents[1:] - latents[start], goals[start])
        return total + jnp.where(then[:, None] >= 0, agreement, 0.0), None

    total, _ = jax.lax.scan(add, jnp.zeros(latents[1:].shape[:-1]), jnp.arange(1, interval + 1))
    return total / interval


def advantages_and_targets(
    rewards: Array,
    values: Array,
    *,
    lengths: Array,
    terminated: Array,
    discount: float,
    trace: float,
) -> tuple[Array, Array]:
    """Generalised advantages, and the returns that values should have. -> 2 x [T, B].

    rewards: [T, B], values: [T+1, B], lengths and terminated: [B]. Termination stops
    bootstrapping, the end of time does not; after an episode's end everything is 0.
    """
    steps = jnp.arange(rewards.shape[0])[:, None]
    inside, last = steps < lengths, steps + 1 >= lengths
    following = jnp.where(last & terminated, 0.0, values[1:])
    errors = jnp.where(inside, rewards + discount * following - values[:-1], 0.0)
    carried = jnp.where(last, 0.0, discount * trace)

    def back(later: Array, step: tuple[Array, Array]) -> tuple[Array, Array]:
        error, carry = step
        advantage = error + carry * later
        return advantage, advantage

    _, advantages = jax.lax.scan(
        back, jnp.zeros(rewards.shape[1:]), (errors, carried), reverse=True
    )
    return advantages, advantages + jnp.where(inside, values[:-1], 0.0)


def clipped_policy_loss(
    log_probabilities: Array, before: Array, advantages: Array, mask: Array, clip: float
) -> tuple[Array, Metrics]:
    """-min(ρ A, clip(ρ, 1 ± ε) A), ρ = π/π_before; at ρ = 1 its gradient is -A ∇ log π. [T, B]."""
    ratios = jnp.exp(log_probabilities - before)
    bounded = jnp.clip(ratios, 1.0 - clip, 1.0 + clip)
    loss = -masked_mean(jnp.minimum(ratios * advantages, bounded * advantages), mask)
    clipped = masked_mean((ratios != bounded).astype(jnp.float32), mask)
    return loss, {"low/actor_loss": loss, "low/clipped_share": clipped}


def critic_loss(values: Array, targets: Array, mask: Array) -> Array:
    """Mean squared error of a level's value. [T, B] -> []."""
    return masked_mean((values - targets) ** 2, mask)
