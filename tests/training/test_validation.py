"""Every config that cannot work is refused in a sentence that names the field."""

from __future__ import annotations

from typing import Any

import pytest

from hess.config import Config, LowConfig, flat_fields, override
from hess.errors import HessError
from hess.training.validation import validate

HORIZON = 500


def refusal(**fields: Any) -> str:
    """What is said about a config with these fields."""
    values = {name.replace("__", "."): value for name, value in fields.items()}
    with pytest.raises(HessError) as caught:
        validate(override(Config(), values), HORIZON)
    return str(caught.value)


def test_the_defaults_are_fine() -> None:
    validate(Config(), HORIZON)
    validate(Config(), 1000)


def test_a_segment_is_no_longer_than_an_episode() -> None:
    expected = "subgoal_interval=501 is impossible; it may be 1 to 500, the steps of an episode"
    assert refusal(subgoal_interval=501) == expected
    validate(override(Config(), {"subgoal_interval": 30}), HORIZON)  # the last one has 20 steps
    validate(override(Config(), {"subgoal_interval": 500}), HORIZON)


def test_the_environment_s_settings_are_checked() -> None:
    assert refusal(horizon=0) == "horizon=0 is impossible; it must be at least 1"
    assert "success='reward>1' is impossible" in refusal(success="reward>1")


def test_the_replay_has_to_hold_an_episode() -> None:
    assert refusal(capacity=499) == "capacity=499 is smaller than one episode of 500 steps"
    validate(override(Config(), {"capacity": 500}), HORIZON)


AT_LEAST_ONE = ["subgoal_interval", "steps", "num_envs", "evaluation.interval"]
AT_LEAST_ONE += ["high.choices", "representation.dim"]
AT_LEAST_ONE += ["evaluation.episodes", "record.checkpoint_interval", "record.snapshot_interval"]
LEVEL = ["learning_rate", "batch_size", "initial_temperature", "updates_per_decision"]
LEVEL += ["actor_interval"]
POSITIVE = [f"{level}.{name}" for level in ("low", "high") for name in LEVEL]
POSITIVE += [
    f"representation.{name}"
    for name in ("learning_rate", "batch_size", "margin", "interval", "first_update")
]
POSITIVE += ["representation.minibatches", "representation.refresh", "subgoal_radius"]
POSITIVE += ["exploration.success_window", "exploration.reference_span"]
POSITIVE += ["exploration.reference_segment"]
POSITIVE += [
    f"exploration.{name}" for name in ("candidates", "pool", "cell_size", "novelty_interval")
]
POSITIVE += ["intrinsic.learning_rate"]
SHARES = ["low.discount", "high.discount", "low.target_rate", "high.target_rate"]
SHARES += ["low.hindsight", "low.any_subgoal", "high.hindsight"]
SHARES += ["representation.stable_fraction", "exploration.probability", "exploration.reach"]
SHARES += [f"exploration.{name}" for name in ("anneal_fraction", "age_discount", "count_discount")]
SHARES += ["exploration.way_share", "exploration.waypoints", "exploration.episode_share"]
SHARES += ["exploration.insistence"]
SHARES += ["exploration.greedy_share"]
SHARES += ["intrinsic.discount", "intrinsic.target_rate"]
NOT_NEGATIVE = [
    "exploration.directions",
    "exploration.least_cells",
    "seed",
    "representation.stability_weight",
    "exploration.extension",
]
NOT_NEGATIVE += [
    "exploration.potential_weight",
    "exploration.segment_cost",
    "exploration.attempt_cost",
    "exploration.detour",
    "exploration.least_progress",
    "exploration.revisit_cost",
]
NOT_NEGATIVE += [f"intrinsic.{name}" for name in ("weight", "novelty_weight", "potential_weight")]
LAYERS = ["low.hidden", "high.hidden", "representation.hidden", "intrinsic.hidden"]
POSITIVE += [
    f"fun.{name}" for name in ("worker_units", "goal_embedding", "learning_rate", "epochs")
]
POSITIVE += [f"fun.{name}" for name in ("clip", "value_weight", "gradient_norm")]
POSITIVE += ["fun.initial_deviation"]
SHARES += [f"fun.{name}" for name in ("random_goals", "manager_discount", "worker_discount")]
SHARES += ["fun.trace"]
NOT_NEGATIVE += ["fun.intrinsic_weight", "fun.entropy_weight"]
NOT_NEGATIVE += ["low.weight_decay", "high.weight_decay"]
LAYERS += ["fun.perception"]
POSITIVE += [f"dads.{name}" for name in ("other_skills", "experts", "learning_rate", "window")]
POSITIVE += ["dads.batch_size", "dads.updates_per_step"]
POSITIVE += [f"dads.plan_{name}" for name in ("length", "candidates", "refinements", "sharpness")]
SHARES += ["dads.share", "dads.resample"]
LAYERS += ["dads.hidden"]


@pytest.mark.parametrize("bad", [0.0, -0.5, 1.5])
@pytest.mark.parametrize("name", ["action_share", "exploration.least_weight"])
def test_above_0_at_most_1(name: str, bad: float) -> None:
    said = f"{name}={bad} is impossible; it must be above 0, at most 1"
    assert refusal(**{name: bad}) == said


@pytest.mark.parametrize("bad", [0, -1])
@pytest.mark.parametrize("name", AT_LEAST_ONE)
def test_at_least_one(name: str, bad: int) -> None:
    assert refusal(**{name: bad}) == f"{name}={bad} is impossible; it must be at least 1"


@pytest.mark.parametrize("bad", [0, -3])
@pytest.mark.parametrize("name", POSITIVE)
def test_positive(name: str, bad: float) -> None:
    assert refusal(**{name: bad}) == f"{name}={bad} is impossible; it must be positive"


@pytest.mark.parametrize("bad", [-0.01, 1.01])
@pytest.mark.parametrize("name", SHARES)
def test_between_zero_and_one(name: str, bad: float) -> None:
    assert refusal(**{name: bad}) == f"{name}={bad} is impossible; it must be between 0 and 1"
    for good in (0.0, 1.0):
        validate(override(Config(), {name: good}), HORIZON)


@pytest.mark.parametrize("name", [*POSITIVE, *SHARES, *NOT_NEGATIVE])
def test_what_is_no_number_is_refused(name: str) -> None:
    nan = float("nan")
    assert refusal(**{name: nan}).startswith(f"{name}=nan is impossible; it must be a ")


def test_a_config_that_was_made_otherwise_is_checked_as_well() -> None:
    config = Config(low=LowConfig(reward_scale=float("nan")))
    with pytest.raises(HessError, match=r"low.reward_scale=nan is impossible"):
        validate(config, HORIZON)


@pytest.mark.parametrize("name", NOT_NEGATIVE)
def test_zero_or_more(name: str) -> None:
    assert refusal(**{name: -1}) == f"{name}=-1 is impossible; it must be 0 or more"
    validate(override(Config(), {name: 0}), HORIZON)


def test_a_slow_start_needs_units_for_its_dimensions() -> None:
    refused = refusal(**{"representation.hidden": (100, 7), "representation.dim": 4})
    assert refused.endswith("representation.start='slow': 4 dimensions of φ need 8 units")
    fields = {"hidden": (7,), "dim": 4, "start": "before"}
    fine = {f"representation.{name}": value for name, value in fields.items()}
    validate(override(Config(), fine), HORIZON)


@pytest.mark.parametrize("level", ["low", "high"])
def test_no_policy_has_more_entropy_than_uniform_actions(level: str) -> None:
    expected = f"{level}.target_entropy=0.7 is impossible; it must be below 0.69, that of uniform"
    assert refusal(**{f"{level}.target_entropy": 0.7}) == expected + " actions"
    validate(override(Config(), {f"{level}.target_entropy": 0.69}), HORIZON)


def test_growth_is_off_or_makes_intervals_longer() -> None:
    expected = "representation.growth=1.0 is impossible; it must be 0, or above 1"
    assert refusal(representation__growth=1.0) == expected
    validate(override(Config(), {"representation.growth": 0.0}), HORIZON)


@pytest.mark.parametrize("name", LAYERS)
def test_layers_have_positive_sizes(name: str) -> None:
    assert refusal(**{name: (16, 0)}) == f"{name}=(16, 0) is impossible; it must be positive sizes"


def test_the_high_level_sees_something() -> None:
    message = refusal(high__observation_input=False, high__embedding_input=False)
    assert message.startswith("the high level would see nothing but the goal")
    blind = refusal(high__observation_input=True, high__embedding_input=False)
    assert blind == "high.memory_input=True needs high.embedding_input=True"


@pytest.mark.parametrize("kind", ["reactive", "prediction", "successor"])
def test_an_intrinsic_reward_needs_a_high_level_that_learns_from_the_start(kind: str) -> None:
    assert refusal(intrinsic__kind=kind) == (
        f"intrinsic.kind={kind} needs high.warmup=policy: with high.warmup=uniform "
        "the high level learns nothing, from no reward, before the first success"
    )
    validate(override(Config(), {"intrinsic.kind": kind, "high.warmup": "policy"}), HORIZON)


def test_a_perception_needs_a_layer() -> None:
    sentence = "fun.perception=() is impossible; it must be one layer or more"
    assert refusal(fun__perception=()) == sentence


@pytest.mark.parametrize("level", ["low", "high"])
def test_weights_may_not_decay_within_one_update(level: str) -> None:
    fields = {f"{level}__weight_decay": 5_000.0, f"{level}__learning_rate": 0.001}
    assert refusal(**fields) == (
        f"{level}.weight_decay=5000 is impossible with {level}.learning_rate=0.001: "
        "their product must be below 1"
    )


def test_planning_over_skills_needs_the_plane() -> None:
    assert refusal(dads__control="planning") == (
        "dads.control='planning' needs dads.space='positions', not 'observation': "
        "a plan is judged by its distance to the goal in x, y"
    )
    fields = {"dads.control": "planning", "dads.space": "positions"}
    validate(override(Config(), fields), HORIZON)


def test_every_number_of_the_config_is_covered() -> None:
    """A new field has to be validated, or named here as free to be anything."""
    anything = {"low.reward_scale", "high.reward_scale"}
    anything |= {"env", "observe"}  # the environment itself answers these
    numbers = {
        name
        for name, value in flat_fields(Config()).items()
        if isinstance(value, int | float | tuple) and not isinstance(value, bool)
    }
    covered = {"low.target_entropy", "high.target_entropy", "representation.growth"}
    covered |= {"action_share", "exploration.least_weight"}
    covered |= {*AT_LEAST_ONE, *POSITIVE, *SHARES, *NOT_NEGATIVE, *LAYERS, "capacity"}
    assert numbers - covered == anything
