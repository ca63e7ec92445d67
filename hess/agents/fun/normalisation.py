"""Running mean and deviation of what an agent sees: on-policy learning is sensitive to scale."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

_FLOOR = 0.01  # variance below which a number is taken to be constant, not to be important


class Moments(eqx.Module):
    """Over all states seen so far."""

    count: Array  # []
    mean: Array  # [n]
    squares: Array  # [n] sum of squared deviations

    def __init__(self, size: int):
        self.count = jnp.zeros(())
        self.mean = jnp.zeros(size)
        self.squares = jnp.zeros(size)

    @property
    def scale(self) -> Array:
        """What to multiply deviations with; 1 before anything was seen. [n]."""
        variance = self.squares / jnp.maximum(self.count, 1.0)
        return jnp.where(self.count > 0, 1.0 / jnp.sqrt(variance + _FLOOR), 1.0)

    def normalise(self, values: Array) -> Array:
        """Mean 0 and deviation 1. [..., n] -> [..., n]."""
        return (values - self.mean) * self.scale

    def updated(self, values: Array, mask: Array) -> Moments:
        """With the values where the mask is True; the others are never looked at. [T, B, n]."""
        new = mask.sum().astype(jnp.float32)
        kept = mask[..., None]
        mean = jnp.where(kept, values, 0.0).sum((0, 1)) / jnp.maximum(new, 1.0)
        squares = jnp.where(kept, (values - mean) ** 2, 0.0).sum((0, 1))
        count = self.count + new
        shift = mean - self.mean
        share = new / jnp.maximum(count, 1.0)
        changed: Moments = eqx.tree_at(
            lambda moments: (moments.count, moments.mean, moments.squares),
            self,
            (
                count,
                self.mean + share * shift,
                self.squares + squares + shift**2 * self.count * share,
            ),
        )
        return changed
