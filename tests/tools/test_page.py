"""docs/paper.md: complete, made from what is recorded, and as the committed files say."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from hess.analysis.recorded import table_path, write_table
from hess.errors import HessError
from hess.sweeps.suites import SUITES
from tests.analysis.fakes import fake_run
from tests.analysis.recorded import recorded
from tools.results.evidence import (
    BEFORE_THE_PROTOCOL,
    WITHOUT_SNAPSHOTS,
    Absent,
    evidence,
    keep_snapshots,
    varied_fields,
)
from tools.results.kept import kept_path
from tools.results.page import (
    OBSERVATIONS,
    PICTURES,
    all_evidence,
    page_text,
    read_observations,
    write_page,
)
from tools.results.paper import PAPER

ROOT = Path(__file__).parents[2]
MOST = 100_000  # bytes that may be committed for a figure


def record(results: Path, *seeds: Any, among: str = "main") -> Path:
    table = table_path(results, among, seeds[0].method, seeds[0].task)
    write_table(table, [dataclasses.replace(seed, suite=among) for seed in seeds])
    return table


# --- the committed page -----------------------------------------------------------------------


def note_of(picture: Path) -> str | None:
    """What a picture says that it was drawn from."""
    with Image.open(picture) as opened:
        note: str | None = opened.info.get("Comment")
    return note


def test_the_page_is_that_of_the_committed_files() -> None:
    found = all_evidence(ROOT / "results")
    text = page_text(found, read_observations(ROOT / "results" / OBSERVATIONS))
    assert (ROOT / "docs/paper.md").read_text() == text, "`make results` makes it anew"
    for name, own in found.items():
        picture = ROOT / "docs" / PICTURES / f"{name}.png"
        assert picture.exists() == bool(own.panels)
        if own.panels:
            assert note_of(picture) == own.digest, f"{name}: `make results` draws it anew"


def test_every_figure_and_table_of_the_paper_is_there() -> None:
    text = (ROOT / "docs/paper.md").read_text()
    titles = [f"Figure {number}" for number in range(1, 18)] + ["Table 1"]
    assert re.findall(r"^## (.*)$", text, flags=re.MULTILINE) == titles
    assert set(SUITES) <= set(PAPER)


def test_what_is_kept_for_a_figure_is_small() -> None:
    sizes: dict[str, int] = {}
    for file in (ROOT / "results").rglob("*.npz"):
        figure = file.stem.rpartition("-")[2]
        sizes[figure] = sizes.get(figure, 0) + file.stat().st_size
    assert {figure: size for figure, size in sizes.items() if size > MOST} == {}


# --- what is recorded -------------------------------------------------------------------------


def test_curves_show_what_is_recorded_and_name_the_rest(tmp_path: Path) -> None:
    record(tmp_path, recorded(0, 0, 1), recorded(1, 0, 0.5))
    record(tmp_path, recorded(0, 0, 0.1, method="sac"))
    record(tmp_path, recorded(0, 0, 1, method="lesson", dirty=True))
    own = evidence(SUITES["fig4"], tmp_path)
    ((title, panel),) = own.panels.items()
    assert title == "AntMaze"
    assert [(each.label, len(each.runs)) for each in panel] == [("hess", 2), ("sac", 1)]
    assert Absent("lesson", "AntMaze", BEFORE_THE_PROTOCOL) in own.absent
    assert Absent("h-sr", "AntMaze") in own.absent
    assert len(own.absent) == 5 * 8 - 2
    assert own.rows[0].name == "main/hess/AntMaze (seeds 0, 1 of None)"


def test_values_are_found_among_the_rows_of_their_figure(tmp_path: Path) -> None:
    row = SUITES["fig14"]
    fields = {"capacity": 1_000_000, "exploration.probability": 0.8, "representation.interval": 100}
    assert varied_fields(row) == tuple(fields)
    record(tmp_path, recorded(0, 0, 1))
    name = "hess," + ",".join(f"{key}={value}" for key, value in fields.items())
    other = dataclasses.replace(recorded(0, 0, 1, representation__interval=50), method=name)
    record(tmp_path, other, among="fig14")
    own = evidence(row, tmp_path)
    shown = {title: [each.label for each in panel] for title, panel in own.panels.items()}
    # The row of the default has its place among both.
    assert shown == {"I on AntMaze": ["I = 50", "I = 100"], "bs on AntMaze": ["bs = 1e+06"]}


def test_maps_need_snapshots_which_are_kept_of_the_lowest_seed(tmp_path: Path) -> None:
    results = tmp_path / "results"
    table = record(results, *(recorded(seed, 0, 1) for seed in (0, 1)))
    (absent,) = evidence(SUITES["fig3"], results).absent
    assert absent.reason == WITHOUT_SNAPSHOTS
    runs = [fake_run(tmp_path, "AntMaze", seed=seed).path for seed in (1, 0)]
    fig3, fig8 = kept_path(table, "fig3"), kept_path(table, "fig8")
    assert keep_snapshots(runs[:1], results) == [fig3, fig8]
    ((setting,),) = evidence(SUITES["fig3"], results).panels.values()
    assert [run.config.seed for run in setting.runs] == [1]
    first = evidence(SUITES["fig3"], results).digest
    keep_snapshots(runs, results)
    own = evidence(SUITES["fig3"], results)
    ((setting,),) = own.panels.values()
    assert [run.config.seed for run in setting.runs] == [0]
    assert own.digest != first
    # 0.4 of 30 000 steps: the second of four snapshots, and φ of the one before.
    assert list(setting.runs[0].snapshots) == [7_500, 15_000]
    bare = fake_run(tmp_path / "bare", "AntMaze", snapshots=0).path
    assert keep_snapshots([bare], results, replace=True) == []
    assert not fig3.exists()


def test_nothing_is_kept_of_a_task_with_arguments(tmp_path: Path) -> None:
    made = fake_run(tmp_path, "AntMaze")
    values = made.config_values() | {"env": ["random_goal=True"]}
    made.config_file.write_text(json.dumps(values))
    assert keep_snapshots([made.path], tmp_path / "results") == []
    assert not (tmp_path / "results").exists()


def test_variances_are_kept_of_all_seeds(tmp_path: Path) -> None:
    results = tmp_path / "results"
    record(results, *(recorded(seed, 0, 1, method="h-sr") for seed in (0, 1)))
    for seed in (0, 1):
        made = fake_run(tmp_path, "AntMaze", "h-sr", seed, snapshots=0)
        with made.metrics_file.open("a") as file:
            file.write('{"step": 31000, "intrinsic/variance": 0.5}\n')
        keep_snapshots([made.path], results)
    (panel,) = evidence(SUITES["fig11"], results).panels.values()
    assert [len(setting.runs) for setting in panel] == [2]


# --- the page ---------------------------------------------------------------------------------


def section(text: str, title: str) -> str:
    return text.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_pictures_are_drawn_and_go_with_their_rows(tmp_path: Path) -> None:
    results, page = tmp_path / "results", tmp_path / "docs/paper.md"
    table = record(results, recorded(0, 0, 1))
    keep_snapshots([fake_run(tmp_path, "AntMaze").path], results)
    pictures = page.parent / PICTURES
    drawn = ["fig3", "fig4", "fig7", "fig8", "fig14", "fig17"]
    assert write_page(results, page) == [page, *(pictures / f"{name}.png" for name in drawn)]
    assert note_of(pictures / "fig3.png") == evidence(SUITES["fig3"], results).digest
    text = section(page.read_text(), "Figure 8")
    assert "![Figure 8: " in text
    assert "Drawn from `main/hess/AntMaze (seed 0 of None)`." in text
    assert "Not run yet: hess-no-potential, hess-immediate-counts on AntMaze. `hess repr" in text
    assert "| AntMaze | hess | 1 | 0.50 |" in section(page.read_text(), "Figure 4")
    table.unlink()
    assert write_page(results, page) == [page]
    assert not list(pictures.glob("*.png"))
    assert "Not run yet. `hess reproduce fig3` trains" in section(page.read_text(), "Figure 3")
    among = '`make results RUNS=... ARGS="--suite fig9"` records it.'
    assert among in section(page.read_text(), "Figure 9")


SEEN = """[fig4]
seen = "HESS is ahead."
agrees = "yes"
rows = ["main/hess/AntMaze (seed 0 of None)"]
"""


def test_a_verdict_holds_for_the_rows_that_it_was_seen_in(tmp_path: Path) -> None:
    (tmp_path / OBSERVATIONS).write_text(SEEN)
    seen = read_observations(tmp_path / OBSERVATIONS)
    record(tmp_path, recorded(0, 0, 1))
    text = section(page_text(all_evidence(tmp_path), seen), "Figure 4")
    assert "- **Here:** HESS is ahead.\n- **Agrees:** yes." in text
    assert "nothing said of it yet" in section(page_text(all_evidence(tmp_path), {}), "Figure 4")
    record(tmp_path, recorded(0, 0, 1), recorded(1, 0, 1))
    text = section(page_text(all_evidence(tmp_path), seen), "Figure 4")
    assert "HESS is ahead. (This was said of rows that have changed since.)" in text
    assert "- **Agrees:** open." in text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[fig99]\nseen = 'a'\nagrees = 'yes'\n", "fig99"),
        ("[fig4]\nseen = 'a'\nagrees = 'maybe'\n", "maybe"),
        ("[fig4]\nseen = 'a'\nagrees = 'no'\n", "`why` has to say why"),
        ("[fig4]\nagrees = 'yes'\n", "damaged at fig4"),
        ("[fig4]\nseen = 'a'\nagrees = 'yes'\nmore = 1\n", "damaged at fig4"),
        ("fig4 = 1\n", "damaged at fig4"),
        ("fig4 = \n", "no TOML"),
    ],
)
def test_what_we_see_is_checked(text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / OBSERVATIONS).write_text(text)
    with pytest.raises(HessError, match=problem):
        read_observations(tmp_path / OBSERVATIONS)


def test_figures_that_show_runs_have_one_picture() -> None:
    maps = [row for row in SUITES.values() if row.studies and row.drawing != "curves"]
    assert all(len(row.tasks) == len(row.studies) == 1 for row in maps)
