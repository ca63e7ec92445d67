"""Networks as named arrays and back."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from hess.config import LevelConfig
from hess.errors import HessError
from hess.learning.sac import SAC, SACState
from hess.learning.trees import flatten, unflatten


@pytest.fixture(scope="module")
def state() -> SACState:
    return SAC(LevelConfig(hidden=(4,)), 2, 1).init(jax.random.key(0))


def test_a_tree_survives(state: SACState) -> None:
    other = SAC(LevelConfig(hidden=(4,)), 2, 1).init(jax.random.key(1))
    arrays = flatten(state, "level")
    restored = unflatten(other, arrays, "level")
    before, after = jax.tree.leaves(state), jax.tree.leaves(restored)
    assert len(before) == len(after) == len(arrays)
    for old, new in zip(before, after, strict=True):
        assert np.array_equal(old, new)
        assert old.dtype == new.dtype


def test_optimiser_and_targets_are_part_of_it(state: SACState) -> None:
    names = " ".join(flatten(state, "level"))
    for part in ("actor.weights", "target_critics", "critic_optimiser", "log_temperature", "mu"):
        assert part in names


def test_a_missing_array_is_named(state: SACState) -> None:
    arrays = flatten(state, "level")
    name = next(iter(arrays))
    del arrays[name]
    with pytest.raises(HessError, match=r"lacks the array 'level\.actor"):
        unflatten(state, arrays, "level")


def test_only_what_is_empty_in_the_template_may_have_grown() -> None:
    template = {"table": np.zeros((0, 4), np.float32)}
    for rows in (0, 3):
        restored = unflatten(template, {"['table']": np.ones((rows, 4), np.float32)}, "")
        assert restored["table"].shape == (rows, 4)
    for shape in ((3, 5), (4,), (3, 4, 1)):
        with pytest.raises(HessError, match=r"the run needs float32\[0, 4\]"):
            unflatten(template, {"['table']": np.ones(shape, np.float32)}, "")


def test_an_array_of_another_shape_or_type_is_named(state: SACState) -> None:
    arrays = flatten(state, "level")
    name = next(name for name in arrays if name.endswith("weights[0]"))
    for bad in (np.zeros((7, 4), np.float32), arrays[name].astype(np.float64)):
        with pytest.raises(HessError, match=r"is float\d\d\[.*, the run needs float32\["):
            unflatten(state, arrays | {name: bad}, "level")
