"""In what a recorded seed breaks the protocol."""

from __future__ import annotations

import dataclasses

import pytest

from hess.analysis.recorded import RecordedSeed
from tests.analysis.recorded import recorded
from tools.results.protocol import (
    breaches,
    commits,
    departures,
    differences,
    row_breaches,
    settings,
)


@pytest.mark.parametrize(
    ("curve", "found"),
    [
        (recorded(0, 0.0, 1.0), []),
        (recorded(0, 0.0, 1.0, dirty=True), ["changed checkout"]),
        (recorded(0, 0.0, 1.0, dirty=None), ["unknown checkout"]),
        (recorded(0, 0.0, 1.0, steps=305_000), ["ended early, at 305,000 of 500,000 steps"]),
        (recorded(0, 0.0, 1.0, steps=575_000), ["575,000 steps instead of 500,000"]),
        (recorded(0), ["ended early, at 0 of 500,000 steps"]),
        (dataclasses.replace(recorded(0, 0.0, 1.0), about={}), ["unknown origin"]),
        # Somebody else's task: as many steps as its config says.
        (recorded(0, 0.0, 1.0, task="Pendulum-v1", steps=777), []),
    ],
)
def test_breaches_of_a_seed(curve: RecordedSeed, found: list[str]) -> None:
    assert breaches(curve) == found


def test_a_run_that_was_stopped_on_the_way_has_not_used_its_budget() -> None:
    curve = recorded(0, 0.0, 0.5, 1.0)
    stopped = dataclasses.replace(curve, steps=curve.steps[:2], success=curve.success[:2])
    assert breaches(stopped) == ["ended early, at 250,000 of 500,000 steps"]
    # Meant for more and stopped at the budget: schedules would have had another length.
    longer = recorded(0, 0.0, 0.5, 1.0, steps=1_000_000)
    stopped = dataclasses.replace(longer, steps=longer.steps[:2], success=longer.success[:2])
    assert breaches(stopped) == ["1,000,000 steps instead of 500,000"]


@pytest.mark.parametrize(
    ("earlier", "found"), [(False, []), (True, ["changed checkout"]), (None, ["unknown checkout"])]
)
def test_every_checkout_that_trained_a_part_counts(earlier: bool | None, found: list[str]) -> None:
    curve = recorded(0, 0.0, 1.0)
    about = {**curve.about, "earlier": [{"commit": "a", "dirty": earlier}]}
    assert breaches(dataclasses.replace(curve, about=about)) == found


def test_an_episode_too_long_at_the_end_is_no_breach() -> None:
    curve = recorded(0, 0.0, 1.0)
    assert breaches(dataclasses.replace(curve, steps=(0, 500_300))) == []


def test_seed_and_records_may_differ() -> None:
    one, other = recorded(0, 1.0), recorded(1, 1.0, record__tensorboard=False)
    assert differences(settings(one), settings(other)) == []


def test_fields_that_differ_are_named() -> None:
    one = recorded(0, 1.0)
    other = recorded(1, 1.0, low__hindsight=0.9, evaluation__episodes=3)
    names = ["evaluation.episodes", "low.hindsight"]
    assert differences(settings(one), settings(other)) == names


def test_old_files_have_what_was_done_before_a_field_existed() -> None:
    new = settings(recorded(0, 1.0, exploration__waypoints=0.0))
    curve = recorded(1, 1.0, exploration__waypoints=0.0)
    config = {name: value for name, value in curve.about["config"].items() if name != "fun"}
    fewer = {n: v for n, v in config["exploration"].items() if n != "waypoints"}
    old = dataclasses.replace(curve, about={"config": config | {"exploration": fewer}})
    assert differences(new, settings(old)) == []  # fun came later, and belongs to another method
    now = settings(recorded(0, 1.0, exploration__waypoints=0.5))
    assert differences(now, settings(old)) == ["exploration.waypoints"]
    without = {n: v for n, v in fewer.items() if n != "pool"}
    unknown = dataclasses.replace(curve, about={"config": config | {"exploration": without}})
    assert differences(new, settings(unknown)) == ["exploration.pool"]


def test_a_row_names_the_seeds_of_each_breach_and_the_settings() -> None:
    row = [
        recorded(0, 0.0, 1.0),
        recorded(1, 0.0, 1.0, dirty=True, steps=100_000),
        recorded(2, 0.0, 1.0, dirty=True, low__hindsight=0.9),
    ]
    assert row_breaches(row[:1]) == []
    assert row_breaches(row) == [
        "changed checkout (seeds 1, 2)",
        "ended early, at 100,000 of 500,000 steps (seed 1)",
        "settings differ: low.hindsight",
    ]


def test_what_is_not_the_default_of_today_is_named() -> None:
    assert departures(recorded(0, 1.0)) == []
    assert departures(recorded(0, 1.0, method="hess-no-potential")) == []  # its own default
    other = recorded(
        0, 1.0, low__hindsight=0.9, action_share=0.1
    )  # the latter is in the row's name
    assert departures(other) == ["low.hindsight=0.9 instead of 0.3"]
    named = dataclasses.replace(other, method="hess,low.hindsight=0.9")
    assert departures(named) == []
    foreign = {"config": {**other.about["config"], "method": "somebody's"}}
    assert departures(dataclasses.replace(other, about=foreign)) == []


def test_all_code_that_trained_a_row_is_named_once() -> None:
    made = {"commit": "aaaaaaaaaa", "earlier": [{"commit": "bbbbbbbbbb"}]}
    row = [dataclasses.replace(recorded(seed, 1.0), about=made) for seed in (0, 1)]
    assert commits(row) == ["bbbbbbb", "aaaaaaa"]
