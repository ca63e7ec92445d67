"""The registry of methods: every row is usable, and changes what its name says."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hess.agents.agent import BaseAgent
from hess.agents.hess.agent import Hess
from hess.agents.hess.exploration.measures import Measures
from hess.agents.methods import METHODS, Method, import_method, method, register_method
from hess.config import Config, flat_fields, override
from hess.config.presets import PRESETS, preset
from hess.errors import HessError
from hess.training.validation import validate
from tests.agents.tiny import SHAPE, tiny_config


@pytest.mark.parametrize("row", METHODS.values(), ids=METHODS)
def test_a_row_overrides_fields_that_exist_with_values_of_their_type(row: Method) -> None:
    fields = flat_fields(Config())
    for name, value in row.overrides.items():
        assert name in fields
        assert fields[name] is None or type(value) is type(fields[name])


@pytest.mark.parametrize("row", METHODS.values(), ids=METHODS)
def test_a_row_names_an_agent_class(row: Method) -> None:
    module, _, name = row.target.partition(":")
    target = getattr(importlib.import_module(module), name)
    parameters = list(inspect.signature(target).parameters)
    assert parameters == ["config", "shape"]
    assert issubclass(target, BaseAgent)
    assert {"policy", "learn"} <= set(vars(target))


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("row", METHODS.values(), ids=METHODS)
def test_a_row_applies_to_every_preset_and_changes_nothing_else(row: Method, name: str) -> None:
    before = flat_fields(preset(name))
    config = row.apply(preset(name))
    after = flat_fields(config)
    assert after == before | {"method": row.name} | dict(row.overrides)
    validate(config, horizon=500)


@pytest.mark.parametrize("row", METHODS.values(), ids=METHODS)
def test_a_row_says_what_it_is(row: Method) -> None:
    assert METHODS[row.name] is row
    assert row.summary
    assert row.section


def test_an_unknown_method_is_refused_with_the_closest_name() -> None:
    with pytest.raises(HessError, match="unknown method 'hes'; did you mean 'hess'"):
        method("hes")


def test_ablations_switch_off_what_they_are_named_after() -> None:
    config = {name: row.apply(Config()) for name, row in METHODS.items()}
    assert config["hess-no-stability"].representation.stability_weight == 0
    assert config["hess-no-priority"].representation.priority == "uniform"
    assert config["hess-continuous-stability"].representation.stability == "continuous"
    assert config["hess-no-potential"].exploration.potential_weight == 0
    assert config["hess-no-potential"].exploration.extension > 0
    assert config["hess-immediate-counts"].exploration.novelty == "immediate"
    assert config["hess-importance-novelty"].exploration.novelty == "importance"
    assert config["hess-no-imagined"].exploration.extension == 0
    reactive = config["hess-reactive"]
    assert reactive.intrinsic.kind == "reactive"
    assert (reactive.intrinsic.novelty_weight, reactive.intrinsic.potential_weight) == (1000, 10)
    assert reactive.representation == config["hess"].representation
    lesson = config["lesson"]
    assert lesson.exploration.probability == 0
    assert lesson.representation.stability_weight == 0
    assert lesson.representation.priority == "uniform"


@pytest.mark.parametrize("name", ["hess-immediate-counts", "hess-importance-novelty"])
def test_ablations_of_novelty_differ_in_nothing_else(name: str) -> None:
    config, usual = METHODS[name].apply(Config()), Config(method=name).exploration
    assert override(config, {"exploration.novelty": usual.novelty}) == Config(method=name)
    assert config.exploration.novelty != usual.novelty
    assert Measures(config.exploration, dim=2).has_graph  # waypoints, wear and detours are kept


def test_baselines_with_a_bonus_are_lesson_and_the_bonus() -> None:
    lesson = METHODS["lesson"].apply(Config())
    for name, kind in (("h-icm", "prediction"), ("h-sr", "successor")):
        config = METHODS[name].apply(Config())
        assert config.intrinsic.kind == kind
        assert config.representation == lesson.representation
        assert config.exploration == lesson.exploration
        assert config.low == lesson.low


# --- methods of somebody's own ------------------------------------------------------------------


@pytest.fixture
def own() -> Iterator[None]:
    """Whatever a test registers goes away again."""
    before = dict(METHODS)
    yield
    METHODS.clear()
    METHODS.update(before)


class Mine(Hess):
    """An agent that lives elsewhere."""


@pytest.mark.usefixtures("own")
def test_a_variant_and_an_agent_can_be_registered() -> None:
    assert register_method("calm", overrides={"exploration.probability": 0.1}) == "calm"
    assert method("calm").apply(Config()).exploration.probability == 0.1
    assert method("calm").apply(Config()).method == "calm"
    register_method("mine", Mine, summary="ours")
    register_method("mine", Mine, summary="ours")  # a module may be imported twice
    assert isinstance(method("mine").build(tiny_config(), SHAPE), Mine)


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("keywords", "sentence"),
    [
        ({"name": "hess", "agent": Mine}, "the method 'hess' exists already; rename yours"),
        ({"name": "my method"}, "must be letters, digits and -"),
        ({"name": "a", "overrides": {"low.hindsigt": 1}}, "unknown field 'low.hindsigt'; did you"),
        ({"name": "a", "agent": "nowhere"}, "must be a class of a module, not 'nowhere'"),
    ],
)
def test_a_bad_registration_is_named(keywords: dict[str, Any], sentence: str) -> None:
    with pytest.raises(HessError) as caught:
        register_method(**keywords)
    assert sentence in str(caught.value)


@pytest.mark.usefixtures("own")
def test_a_method_is_found_by_its_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "users_methods.py").write_text(
        "import hess\nhess.register_method('eager', overrides={'exploration.extension': 9.0})\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(HessError, match="by a module that is not imported"):
        method("users_methods:eager")
    found = import_method("users_methods:eager")
    assert found.apply(Config()).method == "users_methods:eager"
    assert method("users_methods:eager").overrides == {"exploration.extension": 9.0}
    with pytest.raises(HessError, match="unknown method 'eagr'; did you mean 'eager'"):
        import_method("users_methods:eagr")


def test_a_module_that_fails_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_methods.py").write_text("raise RuntimeError('no licence')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(HessError, match=r"cannot load the method .* RuntimeError: no licence"):
        import_method("broken_methods:x")


def test_a_module_that_ends_the_program_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ending_methods.py").write_text("import sys\nsys.exit(0)")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(HessError, match=r"cannot load the method .*: SystemExit: 0"):
        import_method("ending_methods:x")


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("agent", ["nowhere_at_all:Mine", "hess.agents.flat:Flatt"])
def test_an_agent_that_is_nowhere_is_a_sentence(agent: str) -> None:
    register_method("lost", agent)
    with pytest.raises(HessError, match=r"cannot load the method 'lost': .*(nowhere_at_all|Flatt)"):
        method("lost").build(tiny_config(), SHAPE)
