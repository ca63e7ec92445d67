"""Configs that cannot work are refused before anything starts, in one sentence."""

from __future__ import annotations

import math

from hess.agents.hess.exploration.novelty import NOVELTIES
from hess.agents.hess.exploration.potential import POTENTIALS
from hess.config import Config, DadsConfig, FunConfig, LevelConfig
from hess.envs.success import check_rule
from hess.errors import HessError

_UNIFORM_ENTROPY = math.log(2.0)  # per dimension, in [-1, 1]


def validate(config: Config, horizon: int) -> None:
    """Raise a `HessError` that names the first field that cannot be."""
    c = config.subgoal_interval
    _require(c >= 1, "subgoal_interval", c, "at least 1")
    if config.horizon is not None:
        _require(config.horizon >= 1, "horizon", config.horizon, "at least 1")
    if c > horizon:
        raise HessError(
            f"subgoal_interval={c} is impossible; it may be 1 to {horizon}, the steps of an episode"
        )
    check_rule(config.success)
    if config.capacity < horizon:
        raise HessError(
            f"capacity={config.capacity} is smaller than one episode of {horizon} steps"
        )
    for name in ("steps", "num_envs"):
        value = getattr(config, name)
        _require(value >= 1, name, value, "at least 1")
    _require(config.seed >= 0, "seed", config.seed, "0 or more")
    _require(config.subgoal_radius > 0, "subgoal_radius", config.subgoal_radius, "positive")
    _validate_level("low", config.low)
    _validate_level("high", config.high)
    for name, value in (
        ("low.hindsight", config.low.hindsight),
        ("low.any_subgoal", config.low.any_subgoal),
        ("high.hindsight", config.high.hindsight),
    ):
        _share(name, value)
    _validate_representation(config)
    _validate_exploration(config)
    _validate_intrinsic(config)
    _validate_fun(config.fun)
    _validate_dads(config.dads)
    _validate_records(config)


def _validate_level(level: str, config: LevelConfig) -> None:
    positive = ("learning_rate", "batch_size", "initial_temperature", "updates_per_decision")
    for name in (*positive, "actor_interval"):
        value = getattr(config, name)
        _require(value > 0, f"{level}.{name}", value, "positive")
    entropy = config.target_entropy
    least = f"below {_UNIFORM_ENTROPY:.2f}, that of uniform actions"
    _require(entropy < _UNIFORM_ENTROPY, f"{level}.target_entropy", entropy, least)
    _share(f"{level}.discount", config.discount)
    _share(f"{level}.target_rate", config.target_rate)
    _layers(f"{level}.hidden", config.hidden)


def _validate_representation(config: Config) -> None:
    representation = config.representation
    positive = ("dim", "learning_rate", "batch_size", "margin", "interval", "first_update")
    for name in (*positive, "minibatches", "refresh"):
        value = getattr(representation, name)
        _require(value > 0, f"representation.{name}", value, "positive")
    value = representation.stability_weight
    _require(value >= 0, "representation.stability_weight", value, "0 or more")
    _layers("representation.hidden", representation.hidden)
    least = 2 * representation.dim
    if representation.start == "slow" and any(size < least for size in representation.hidden):
        raise HessError(
            f"representation.hidden={representation.hidden} is too small for "
            f"representation.start='slow': {representation.dim} dimensions of φ need {least} units"
        )
    _share("representation.stable_fraction", representation.stable_fraction)


def _validate_exploration(config: Config) -> None:
    exploration = config.exploration
    for name, known in (("novelty", NOVELTIES), ("potential", POTENTIALS)):
        known.check(f"exploration.{name}", getattr(exploration, name))
    shares = (
        "probability",
        "episode_share",
        "anneal_fraction",
        "reach",
        "age_discount",
        "count_discount",
    )
    for name in (*shares, "way_share", "waypoints"):
        _share(f"exploration.{name}", getattr(exploration, name))
    positive = ("candidates", "pool", "cell_size", "success_window", "novelty_interval")
    for name in (*positive, "reference_span", "reference_segment"):
        value = getattr(exploration, name)
        _require(value > 0, f"exploration.{name}", value, "positive")
    for name in (
        "directions",
        "extension",
        "potential_weight",
        "segment_cost",
        "revisit_cost",
        "detour",
    ):
        value = getattr(exploration, name)
        _require(value >= 0, f"exploration.{name}", value, "0 or more")


def _validate_intrinsic(config: Config) -> None:
    intrinsic = config.intrinsic
    rate = intrinsic.learning_rate
    _require(rate > 0, "intrinsic.learning_rate", rate, "positive")
    for name in ("weight", "novelty_weight", "potential_weight"):
        value = getattr(intrinsic, name)
        _require(value >= 0, f"intrinsic.{name}", value, "0 or more")
    for name in ("discount", "target_rate"):
        _share(f"intrinsic.{name}", getattr(intrinsic, name))
    _layers("intrinsic.hidden", intrinsic.hidden)
    if intrinsic.kind != "none" and config.high.warmup == "uniform":
        raise HessError(
            f"intrinsic.kind={intrinsic.kind} needs high.warmup=policy: with high.warmup=uniform "
            "the high level learns nothing, from no reward, before the first success"
        )


def _validate_fun(config: FunConfig) -> None:
    positive = ("worker_units", "goal_embedding", "learning_rate", "epochs", "clip")
    for name in (*positive, "value_weight", "gradient_norm", "initial_deviation"):
        value = getattr(config, name)
        _require(value > 0, f"fun.{name}", value, "positive")
    for name in ("random_goals", "manager_discount", "worker_discount", "trace"):
        _share(f"fun.{name}", getattr(config, name))
    for name in ("intrinsic_weight", "entropy_weight"):
        value = getattr(config, name)
        _require(value >= 0, f"fun.{name}", value, "0 or more")
    _layers("fun.perception", config.perception)
    _require(len(config.perception) > 0, "fun.perception", config.perception, "one layer or more")


def _validate_dads(config: DadsConfig) -> None:
    for name in ("share", "resample"):
        _share(f"dads.{name}", getattr(config, name))
    learning = ("other_skills", "experts", "learning_rate", "batch_size", "updates_per_step")
    planning = ("plan_length", "plan_candidates", "plan_refinements", "plan_sharpness")
    for name in (*learning, "window", *planning):
        value = getattr(config, name)
        _require(value > 0, f"dads.{name}", value, "positive")
    _layers("dads.hidden", config.hidden)
    if config.control == "planning" and config.space != "positions":
        raise HessError(
            f"dads.control='planning' needs dads.space='positions', not {config.space!r}: "
            "a plan is judged by its distance to the goal in x, y"
        )


def _validate_records(config: Config) -> None:
    for group in ("evaluation", "record"):
        for name in ("interval", "episodes", "checkpoint_interval", "snapshot_interval"):
            value = getattr(getattr(config, group), name, 1)
            _require(value >= 1, f"{group}.{name}", value, "at least 1")


def _require(holds: bool, name: str, value: object, what: str) -> None:
    if not holds:
        raise HessError(f"{name}={value} is impossible; it must be {what}")


def _share(name: str, value: float) -> None:
    _require(0.0 <= value <= 1.0, name, value, "between 0 and 1")


def _layers(name: str, sizes: tuple[int, ...]) -> None:
    _require(all(size >= 1 for size in sizes), name, sizes, "positive sizes")
