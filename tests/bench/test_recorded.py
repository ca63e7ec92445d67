"""What README says about speed is what was measured last."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def readme() -> str:
    """With its line breaks as spaces."""
    return " ".join((ROOT / "README.md").read_text().split())


def test_readme_quotes_the_recorded_bench() -> None:
    rows = json.loads((ROOT / "benchmarks/results.json").read_text())["rows"]
    (row,) = [row for row in rows if "against the authors' code" in row["name"]]
    sentence = re.search(
        r"paper's networks .* make (\d+) steps/s, everything included: ([\d.]+) times", readme()
    )
    assert sentence is not None
    speed, times = sentence.groups()
    assert speed == f"{row['measured']:.0f}"
    assert times == f"{row['ratio']:.1f}"


def test_readme_has_the_speed_of_the_default_as_soon_as_it_is_recorded() -> None:
    rows = json.loads((ROOT / "benchmarks/results.json").read_text())["rows"]
    found = [row for row in rows if row["name"] == "AntMaze, the default"]
    missing = "The speed of the default is not among the recorded measurements yet."
    assert (missing in readme()) == (not found)
    for row in found:
        assert f"the default makes {row['measured']:.0f} steps/s" in readme()
