"""Config fields and presets; the paper's table is written out here once more."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from hess import config as config_module
from hess.config import Config, LevelConfig, RepresentationConfig, flat_fields, override
from hess.config.presets import PRESETS, preset
from hess.errors import HessError
from hess.runs.folder import from_json
from hess.training.validation import validate

PAPER = {
    # Table 1 of the paper.
    "representation.dim": 2,
    "subgoal_radius": 20,
    "exploration.reach": 1,
    "exploration.cell_size": 3,
    "exploration.candidates": 1000,
    "low.learning_rate": 0.0002,
    "high.learning_rate": 0.0002,
    "representation.learning_rate": 0.0001,
    "low.discount": 0.99,
    "high.discount": 0.99,
    "exploration.count_discount": 0.99,
    "low.target_rate": 0.005,
    "high.target_rate": 0.005,
    "capacity": 1e6,
    "high.reward_scale": 0.1,
    "low.reward_scale": 1,
    "subgoal_interval": 50,
    "low.batch_size": 128,
    "high.batch_size": 128,
    "representation.batch_size": 100,
    "representation.stability_weight": 0.1,
    "representation.interval": 100,
    "representation.minibatches": 50000,
    # Appendix B: networks, annealing, age discount, evaluation.
    "low.hidden": (256, 256),
    "high.hidden": (256, 256),
    "representation.hidden": (100,),
    "exploration.probability": 0.7,
    "exploration.schedule": "linear",
    "exploration.anneal_fraction": 0.5,
    "exploration.age_discount": 0.995,
    "evaluation.interval": 25000,
    "evaluation.episodes": 10,
    # Section 5.5 and the ablations: k, d_e, α.
    "representation.stable_fraction": 0.3,
    "exploration.extension": 5,
    "exploration.potential_weight": 0.03,
    # What Sections 2 and 3 write, where we have alternatives.
    "low.reward": "distance",
    "low.hindsight": 0,
    "high.hindsight": 0,
    "high.choices": 1,
    "low.weight_decay": 0,
    "high.weight_decay": 0,
    "low.any_subgoal": 0,
    "low.hide_explained": False,
    "low.layer_norm": False,
    "high.layer_norm": False,
    "high.subgoal_shape": "ball",
    "high.warmup": "policy",
    "high.target_entropy": -1,
    "high.stop_at_success": False,
    "representation.distance": "l2",
    "representation.stability": "binary",
    "representation.priority": "loss",
    "exploration.balance": "weighted",
    "exploration.novelty": "cumulative",
    "exploration.potential": "distance",
    "exploration.counts": "grid",
    "exploration.waypoints": 0,
    "exploration.detour": 0,
    "exploration.least_progress": 0,
    "exploration.insistence": 0,
    "exploration.attempt_cost": 0,
    "exploration.least_weight": 1,
    "exploration.revisit_cost": 0,
    "exploration.recount": False,
    "exploration.units": "fixed",
    "exploration.decided": "segment",
    "high.normalise": False,
    "high.observation_input": True,
    "high.embedding_input": False,
    "high.memory_input": False,
}


@pytest.mark.parametrize("name", PAPER)
def test_the_paper_preset_has_the_paper_s_numbers(name: str) -> None:
    assert flat_fields(preset("paper"))[name] == PAPER[name]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_sets_fields_that_exist_with_values_of_their_type(name: str) -> None:
    fields = flat_fields(Config())
    for field, value in PRESETS[name].items():
        assert field in fields
        assert fields[field] is None or type(value) is type(fields[field]), field


@pytest.mark.parametrize(("entries", "dim"), [(1, 1), (2, 1), (7, 4), (15, 8), (16, 8), (104, 8)])
def test_d_is_at_most_half_of_what_is_observed(entries: int, dim: int) -> None:
    assert Config().representation.dimensions(entries) == dim
    assert RepresentationConfig(dim=5).dimensions(entries) == 5


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_can_work(name: str) -> None:
    validate(preset(name), horizon=500)


def test_an_unknown_preset_is_refused_with_the_closest_name() -> None:
    with pytest.raises(HessError, match="unknown preset 'papr'; did you mean 'paper'"):
        preset("papr")


def test_an_override_reaches_nested_fields_and_leaves_the_original_alone() -> None:
    before = Config()
    after = override(before, {"low.hindsight": 0.5, "steps": 7, "low.hidden": (1,)})
    assert (after.low.hindsight, after.steps, after.low.hidden) == (0.5, 7, (1,))
    changed = {
        name for name, value in flat_fields(after).items() if value != flat_fields(before)[name]
    }
    assert changed <= {"low.hindsight", "steps", "low.hidden"}
    assert before == Config()


def test_values_take_the_form_that_a_run_folder_gives_back() -> None:
    given = {"steps": 1e5, "low.hidden": [64, 32], "high.hidden": np.array([8]), "horizon": None}
    config = override(Config(), given | {"low.hindsight": 1, "seed": np.int64(3)})
    assert config.low.hidden == (64, 32)
    assert config.high.hidden == (8,)
    assert config.horizon is None
    assert [type(value) for value in (config.steps, config.seed)] == [int, int]
    assert from_json(Config, json.loads(json.dumps(dataclasses.asdict(config))), "it") == config


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("exploration.schedule", "sucess", "linear or success"),
        ("low.hindsight", "0.3", "a number"),
        ("low.hindsight", float("nan"), "a number"),
        ("low.hidden", 64, "a tuple"),
        ("low.hidden", ("64",), "a whole number"),
        ("pipeline", "no", "True or False"),
        ("pipeline", 1, "True or False"),
        ("steps", 0.5, "a whole number"),
        ("steps", True, "a whole number"),
        ("horizon", "long", "a whole number"),
        ("seed", 2**60, "a whole number"),
        ("seed", 10**400, "a whole number"),
        ("task", None, "text"),
    ],
)
def test_a_value_that_no_run_folder_could_hold_is_refused(
    name: str, value: object, wanted: str
) -> None:
    with pytest.raises(HessError) as caught:
        override(Config(), {name: value})
    assert str(caught.value).startswith(f"{name}=")
    assert str(caught.value).endswith(f"is impossible; it must be {wanted}")


def test_a_config_cannot_be_changed_in_place() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config().steps = 1  # type: ignore[misc]


def test_every_field_is_documented() -> None:
    undocumented = [
        f"{group.name}.{ast.unparse(field.target)}"
        for file in Path(config_module.__file__).parent.glob("*.py")
        for group in ast.parse(file.read_text()).body
        if isinstance(group, ast.ClassDef)
        for field, after in itertools.pairwise([*group.body, ast.Pass()])
        if isinstance(field, ast.AnnAssign)
        and not (isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant))
        and not ast.unparse(field.annotation).endswith("Config")
    ]
    levels = {
        f"{level}.{field.name}"
        for level in ("LowConfig", "HighConfig")
        for field in dataclasses.fields(LevelConfig)
    }
    assert set(undocumented) <= levels  # whose base has the text
