"""The least arithmetic that learning needs, counted from the sizes of the layers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def products(sizes: Sequence[int]) -> int:
    """Multiplications of one input passing through a network."""
    return sum(fan_in * fan_out for fan_in, fan_out in pairwise(sizes))


def inner_products(sizes: Sequence[int]) -> int:
    """The same without the first layer: a gradient stops before the data."""
    return products(sizes[1:])


def sac_update(observation: int, action: int, hidden: Sequence[int], batch: int) -> int:
    """Floating-point operations of all matrix products in one update with twin critics.

    A backward pass costs the weights' gradient (as much as a forward pass) and the inputs'.
    """
    actor = [observation, *hidden, 2 * action]
    critic = [observation + action, *hidden, 1]
    targets = products(actor) + 2 * products(critic)
    critics = 2 * (2 * products(critic) + inner_products(critic))
    # The actor's gradient comes through the critics' inputs but needs no gradient of theirs.
    through_critics = 2 * (2 * products(critic))
    actors = 2 * products(actor) + inner_products(actor)
    return 2 * batch * (targets + critics + through_critics + actors)
