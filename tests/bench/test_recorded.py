"""What README says about speed is what was measured last."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_readme_quotes_the_recorded_bench() -> None:
    rows = json.loads((ROOT / "benchmarks/results.json").read_text())["rows"]
    (row,) = [row for row in rows if "against the authors' code" in row["name"]]
    sentence = re.search(
        r"make (\d+) steps/s, everything included: ([\d.]+) times",
        (ROOT / "README.md").read_text(),
    )
    assert sentence is not None
    speed, times = sentence.groups()
    assert speed == f"{row['measured']:.0f}"
    assert times == f"{row['ratio']:.1f}"
