"""Plans: the product, names by content, and everything that is refused before a start."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest

import hess.sweeps.overview
import hess.sweeps.plan
from hess.config import flat_fields
from hess.errors import HessError
from hess.sweeps.plan import combine, parse_settings, planned_run, product


def test_the_product_has_every_combination_in_order() -> None:
    plan = product(["hess", "sac"], ["PointMaze"], range(2), {"low.hindsight": (0.1, 0.2)})
    assert [run.key for run in plan] == [
        f"PointMaze/{method}/low.hindsight={value},seed-{seed}"
        for method in ("hess", "sac")
        for value in (0.1, 0.2)
        for seed in range(2)
    ]
    assert plan[3].config.low.hindsight == 0.2
    assert (plan[3].config.seed, plan[3].config.method) == (1, "hess")
    assert plan[3].path(Path("runs")) == Path("runs") / plan[3].key


def test_a_default_value_names_no_new_run() -> None:
    plain = product(["hess"], ["PointMaze"], [0])
    same = product(["hess"], ["PointMaze"], [0], {"low.hindsight": (0.3, 0.5)})
    assert plain[0] == same[0]
    assert plain[0].name == "seed-0"
    assert combine(plain, same) == same


def test_length_and_records_are_not_part_of_a_name() -> None:
    run = planned_run("hess", "AntMaze", 3, {"steps": 10, "record.tensorboard": False})
    assert run.key == "AntMaze/hess/seed-3"
    with pytest.raises(HessError, match=r"share the folder 'AntMaze/hess/seed-0'.* steps only"):
        product(["hess"], ["AntMaze"], [0], {"steps": (10, 20)})


def test_a_preset_is_named_instead_of_all_its_values() -> None:
    run = planned_run("hess", "PointMaze", 0, {"low.hidden": (64, 32)}, "paper")
    assert run.name == "paper,low.hidden=64x32,seed-0"


def test_a_value_with_a_slash_names_one_folder() -> None:
    run = planned_run("sac", "Pendulum-v1", 0, {"success": "metrics/solved"})
    assert run.key == "Pendulum-v1/sac/success=metrics-solved,seed-0"


def test_long_names_stay_short_and_different() -> None:
    names = list(flat_fields(planned_run("hess", "PointMaze", 0, {}).config))
    scales = [name for name in names if name.endswith(("learning_rate", "reward_scale", "margin"))]
    runs = [
        planned_run("hess", "PointMaze", 0, dict.fromkeys(scales, value) | {scales[-1]: last})
        for value, last in ((0.123456, 0.5), (0.123456, 0.6))
    ]
    assert len({run.name for run in runs}) == 2
    assert all(len(run.name) < 180 for run in runs)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": ["hes"]}, "unknown method 'hes'; did you mean 'hess'?"),
        ({"tasks": ["antmaze"]}, "unknown task 'antmaze'; did you mean 'AntMaze'?"),
        ({"settings": {"low.hindsigt": (1,)}}, "unknown field 'low.hindsigt'; did you mean"),
        ({"settings": {"seed": (1,)}}, "name the seeds of the sweep"),
        ({"settings": {"low.hindsight": (1.5,)}}, "low.hindsight=1.5 is impossible"),
        ({"settings": {"subgoal_interval": (501,)}}, "it may be 1 to 500, the steps of an episode"),
        ({"settings": {"env.random_gaol": (True,)}}, "did you mean 'random_goal'?"),
        ({"preset": "papre"}, "unknown preset 'papre'; did you mean 'paper'?"),
        ({"methods": []}, "the sweep is empty: no methods given"),
        ({"tasks": []}, "the sweep is empty: no tasks given"),
        ({"seeds": []}, "the sweep is empty: no seeds given"),
        ({"settings": {"steps": ()}}, "the sweep is empty: no steps given"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"methods": ["hess"], "tasks": ["PointMaze"], "seeds": [0]}
    with pytest.raises(HessError) as caught:
        product(**arguments | changes)
    assert message in str(caught.value)


def test_arguments_of_the_environment_are_settings_like_others() -> None:
    plan = product(["sac"], ["PointMaze"], [0], {"env.random_goal": (False, True)})
    names = [f"PointMaze/sac/random_goal={value},seed-0" for value in (False, True)]
    assert [run.key for run in plan] == names
    assert plan[1].config.env == ("random_goal=True",)
    both = product(["sac"], ["PointMaze"], [0], {"env.reward": ("dense",), "horizon": (100,)})
    assert both[0].name == "reward=dense,horizon=100,seed-0"


# --- values from the command line ---------------------------------------------------------------


def test_words_become_values_of_their_fields() -> None:
    words = ["steps=1000", "pipeline=false", "low.reward=distance", "progress", "low.hidden=8"]
    words += ["success=auto", "reward>=1", "env.random_goal=True", "False", "horizon=None", "20"]
    assert parse_settings(words) == {
        "success": ("auto", "reward>=1"),
        "env.random_goal": (True, False),
        "horizon": (None, 20),
        "steps": (1000,),
        "pipeline": (False,),
        "low.reward": ("distance", "progress"),
        "low.hidden": ((8,),),
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["1000"], "'1000' sets no field; write it as field=value"),
        (["step=1"], "unknown field 'step'; did you mean 'steps'?"),
        (["steps=many"], "steps=many is impossible; it must be a whole number"),
        (["steps=1.5"], "it must be a whole number"),
        (["low.discount=much"], "it must be a number"),
        (["pipeline=yes"], "it may be true, false"),
        (["low.reward=none"], "it may be distance, progress"),
        (["steps=1", "steps=2"], "steps is set twice"),
    ],
)
def test_words_that_fit_no_field_are_refused(words: list[str], message: str) -> None:
    with pytest.raises(HessError) as caught:
        parse_settings(words)
    assert message in str(caught.value)


@pytest.mark.parametrize("module", [hess.sweeps.plan, hess.sweeps.overview])
def test_examples(module: Any) -> None:
    assert doctest.testmod(module).failed == 0
