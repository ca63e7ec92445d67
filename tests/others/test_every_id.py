"""Whatever others have registered trains, or is refused in one sentence that names it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import jax
import pytest

from tests.others import survey

pytestmark = [
    pytest.mark.envs,
    # Whatever others warn of, in whatever way, is not what is tested here.
    pytest.mark.filterwarnings("ignore"),
]


_KEPT = 20  # trainings: neighbours among the ids often have the same sizes
_played = itertools.count(1)


@pytest.fixture(autouse=True)
def _free_memory() -> Iterator[None]:
    """Hundreds of trainings in one process: what was compiled must not pile up."""
    yield
    if next(_played) % _KEPT == 0:
        jax.clear_caches()  # type: ignore[no-untyped-call]


# One of each kind is trained whatever the table knows: HESS may have changed.
ALWAYS = {
    "Hopper-v5",
    "Pendulum-v1",
    "Reacher-v5",
    "gymnasium_robotics:AdroitHandDoor-v1",
    "gymnasium_robotics:AntMaze_UMaze-v5",
    "gymnasium_robotics:PointMaze_UMaze-v3",
    "ogbench:antmaze-medium-v0",
    "ogbench:cube-single-v0",
    "ogbench:pointmaze-medium-v0",
    "ogbench:visual-antmaze-medium-v0",
}


@pytest.mark.parametrize("task", survey.tasks())
def test_it_trains_or_is_refused_in_a_sentence(task: str, tmp_path: Path) -> None:
    row = survey.read_rows().get(task)
    known = row is not None and row.outcome not in survey.UNFINISHED and survey.is_known(task)
    if row is None or not known or task in ALWAYS:
        row = survey.survey(task, tmp_path)
        survey.add_row(row)
    if row.outcome != "trained":
        assert "\n" not in row.sentence
        assert task in row.sentence or "capacity" in row.sentence


def test_the_page_is_written() -> None:
    survey.add_untried()
    survey.PAGE.write_text(survey.page())
    assert "were refused with the sentence" in survey.PAGE.read_text()
