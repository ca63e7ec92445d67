"""Configs that cannot work are refused before anything starts, in one sentence."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Callable
from itertools import chain
from typing import Any

from hess.agents.hess.exploration.novelty import NOVELTIES
from hess.agents.hess.exploration.potential import POTENTIALS
from hess.config import Config, flat_fields, override
from hess.config.baselines import NO_BONUS
from hess.config.subgoals import MOST_DIMENSIONS
from hess.envs.success import check_rule
from hess.errors import HessError

_UNIFORM_ENTROPY = math.log(2.0)  # per dimension, in [-1, 1]

# What must hold, as said and as a test, and of which fields; * stands for parts of the config.
_RULES: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    (
        "at least 1",
        lambda value: value is None or value >= 1,
        "subgoal_interval horizon steps num_envs evaluation.interval evaluation.episodes "
        "record.checkpoint_interval record.snapshot_interval high.choices representation.dim",
    ),
    (
        "positive",
        lambda value: value > 0,
        "*.learning_rate *.batch_size subgoal_radius *.initial_temperature "
        "*.updates_per_decision *.actor_interval "
        "representation.margin representation.interval representation.first_update "
        "representation.minibatches representation.refresh exploration.candidates "
        "exploration.pool exploration.cell_size exploration.success_window "
        "exploration.novelty_interval exploration.reference_span exploration.reference_segment "
        "fun.worker_units fun.goal_embedding fun.epochs fun.clip fun.value_weight "
        "fun.gradient_norm fun.initial_deviation dads.other_skills dads.experts "
        "dads.updates_per_step dads.window dads.plan_*",
    ),
    (
        "0 or more",
        lambda value: value >= 0,
        "seed representation.stability_weight exploration.directions exploration.extension "
        "exploration.least_cells exploration.potential_weight exploration.segment_cost "
        "exploration.attempt_cost exploration.revisit_cost exploration.detour "
        "exploration.least_progress *.weight_decay intrinsic.*weight fun.*_weight",
    ),
    (
        "above 0, at most 1",
        lambda value: 0.0 < value <= 1.0,
        "action_share exploration.least_weight",
    ),
    ("0, or above 1", lambda value: value == 0 or value > 1, "representation.growth"),
    (
        "between 0 and 1",
        lambda value: 0.0 <= value <= 1.0,
        "*.discount *.target_rate *.hindsight low.any_subgoal representation.stable_fraction "
        "exploration.probability exploration.episode_share exploration.greedy_share "
        "exploration.anneal_fraction exploration.reach exploration.age_discount "
        "exploration.count_discount exploration.way_share exploration.waypoints "
        "exploration.insistence fun.random_goals fun.manager_discount fun.worker_discount "
        "fun.trace dads.share dads.resample",
    ),
    (
        "positive sizes",
        lambda sizes: all(size >= 1 for size in sizes),
        "*.hidden fun.perception",
    ),
    ("one layer or more", lambda sizes: len(sizes) > 0, "fun.perception"),
    (
        f"below {_UNIFORM_ENTROPY:.2f}, that of uniform actions",
        lambda value: value < _UNIFORM_ENTROPY,
        "*.target_entropy",
    ),
)


def validate(config: Config, horizon: int) -> None:
    """Raise a `HessError` that names the first field that cannot be."""
    fields = flat_fields(config)
    override(config, fields)  # refuses what is of no field's kind
    for what, holds, patterns in _RULES:
        for name in chain.from_iterable(fnmatch.filter(fields, each) for each in patterns.split()):
            if not holds(fields[name]):
                raise HessError(f"{name}={fields[name]} is impossible; it must be {what}")
    if config.subgoal_interval > horizon:
        raise HessError(
            f"subgoal_interval={config.subgoal_interval} is impossible; it may be 1 to {horizon}, "
            "the steps of an episode"
        )
    if config.capacity < horizon:
        raise HessError(
            f"capacity={config.capacity} is smaller than one episode of {horizon} steps"
        )
    check_rule(config.success)
    NOVELTIES.check("exploration.novelty", config.exploration.novelty)
    POTENTIALS.check("exploration.potential", config.exploration.potential)
    if config.intrinsic.kind != NO_BONUS:
        # Here, as it imports JAX, before which a worker of a sweep has its threads to choose.
        from hess.agents.hess.bonuses import BONUSES

        BONUSES.check("intrinsic.kind", config.intrinsic.kind)
    _validate_combinations(config)


def _validate_combinations(config: Config) -> None:
    for name, level in (("low", config.low), ("high", config.high)):
        if level.learning_rate * level.weight_decay >= 1:
            raise HessError(
                f"{name}.weight_decay={level.weight_decay:g} is impossible with "
                f"{name}.learning_rate={level.learning_rate:g}: their product must be below 1"
            )
    representation, dads, kind = config.representation, config.dads, config.intrinsic.kind
    if not (config.high.observation_input or config.high.embedding_input):
        raise HessError(
            "the high level would see nothing but the goal: high.observation_input, "
            "high.embedding_input or both must be on"
        )
    if config.high.memory_input and not config.high.embedding_input:
        raise HessError("high.memory_input=True needs high.embedding_input=True")
    dim = MOST_DIMENSIONS if representation.dim is None else representation.dim
    least = 2 * dim
    if representation.start == "slow" and any(size < least for size in representation.hidden):
        raise HessError(
            f"representation.hidden={representation.hidden} is too small for "
            f"representation.start='slow': {dim} dimensions of φ need {least} units"
        )
    if kind != NO_BONUS and config.high.warmup == "uniform":
        raise HessError(
            f"intrinsic.kind={kind} needs high.warmup=policy: with high.warmup=uniform "
            "the high level learns nothing, from no reward, before the first success"
        )
    if dads.control == "planning" and dads.space != "positions":
        raise HessError(
            f"dads.control='planning' needs dads.space='positions', not {dads.space!r}: "
            "a plan is judged by its distance to the goal in x, y"
        )
