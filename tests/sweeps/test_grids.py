"""The sensitivity studies: every value makes a config that works."""

from __future__ import annotations

import pytest

from hess.cli import main
from hess.config import Config, flat_fields, override
from hess.config.presets import preset
from hess.sweeps.grids import GRIDS, Grid
from hess.training.validation import validate


@pytest.mark.parametrize("row", GRIDS.values(), ids=GRIDS)
def test_a_grid_varies_a_field_with_values_of_its_type(row: Grid) -> None:
    fields = flat_fields(Config())
    assert {type(value) for value in row.values} == {type(fields[row.field])}
    assert len(set(row.values)) == len(row.values) > 1
    for value in row.values:
        for horizon in (500, 1000):
            validate(override(preset("paper"), {row.field: value}), horizon)


@pytest.mark.parametrize("row", GRIDS.values(), ids=GRIDS)
def test_a_grid_has_the_value_that_the_paper_settled_on(row: Grid) -> None:
    assert flat_fields(preset("paper"))[row.field] in row.values


def test_the_command_prints_every_grid(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods", "--grids"]) == 0
    shown = capsys.readouterr().out
    for name, row in GRIDS.items():
        assert name in shown
        assert row.field in shown
    assert "10, 20, 50, 100" in shown
    assert "§5.5 (values ours)" in shown
