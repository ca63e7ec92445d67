"""docs/paper.md: the paper's figures and tables beside ours, made and never typed.

The pictures are drawn from recorded rows (evidence.py), what the paper shows is in paper.py, and
what we see stands in results/paper.toml, together with the rows that it was seen in:

    [fig4]
    seen = "One sentence."
    agrees = "yes"                  # or "no", or "open"
    why = "One sentence."           # where it does not
    rows = ["main/hess/AntMaze (seeds 0, 1, 2 of 1a2b3c4)"]

Rows that have changed since make the verdict open again, and the page says so.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hess.analysis import style
from hess.analysis.tables import markdown
from hess.errors import HessError, unknown
from hess.files import named, write_atomic
from hess.sweeps.drawings import CURVES, HYPER_PARAMETERS, Material, curve_table, figures
from hess.sweeps.grids import hyper_parameters
from hess.sweeps.suites import Suite
from tools.results.evidence import MAIN, Absent, Evidence, Row, evidence, varied_fields
from tools.results.paper import PAPER, PaperItem
from tools.results.protocol import departures

PICTURES = "images/paper"  # beside the page
OBSERVATIONS = "paper.toml"  # among the results
_SMOOTH = 5  # evaluations, as `hess reproduce` has it
_VERDICTS = ("yes", "no", "open")


@dataclass(frozen=True)
class Observation:
    """What we see in a figure."""

    seen: str
    agrees: str
    why: str = ""
    rows: tuple[str, ...] = ()


def write_page(results: Path, page: Path) -> list[Path]:
    """Write the page and its pictures; their paths. Pictures of what is not recorded go."""
    observations = read_observations(results / OBSERVATIONS)
    found = all_evidence(results)
    folder = page.parent / PICTURES
    files = [_draw(PAPER[name], own, folder) for name, own in found.items() if own.panels]
    for name in found:
        for old in {*folder.glob(f"{name}.png"), *folder.glob(f"{name}-*.png")} - set(files):
            old.unlink()
    write_atomic(page, page_text(found, observations))
    return [page, *files]


def all_evidence(results: Path) -> dict[str, Evidence]:
    """What is recorded of every figure that shows runs."""
    suites = [item.suite for item in PAPER.values() if item.suite is not None]
    return {s.name: evidence(s, results) for s in suites if s.studies}


def read_observations(file: Path) -> dict[str, Observation]:
    """What was seen so far; every name and verdict is checked."""
    if not file.exists():
        return {}
    try:
        with named("read", file):
            tables = tomllib.loads(file.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HessError(f"{str(file)!r} is no TOML: {error}") from error
    return {name: _observation(name, fields, file) for name, fields in tables.items()}


def _observation(name: str, fields: Any, file: Path) -> Observation:
    if name not in PAPER:
        raise unknown(f"figure in {str(file)!r}", name, PAPER)
    try:
        rows = tuple(fields.get("rows", ()))
        own = Observation(**{**fields, "rows": rows})
    except (TypeError, AttributeError) as error:
        raise HessError(f"{str(file)!r} is damaged at {name}: {error}") from error
    if own.agrees not in _VERDICTS:
        raise unknown(f"verdict of {name}", own.agrees, _VERDICTS)
    if own.agrees == "no" and not own.why:
        raise HessError(f"{str(file)!r}: {name} does not agree; `why` has to say why")
    return own


def _draw(item: PaperItem, own: Evidence, folder: Path) -> Path:
    assert item.suite is not None
    # Maps of the paper's figures are all of one task.
    (figure,) = figures(_material(item.suite, own)).values()
    file = folder / f"{item.name}.png"
    style.save_figure(figure, file, own.digest)
    return file


def _material(suite: Suite, own: Evidence) -> Material:
    return Material(suite, suite.tasks, own.panels, _SMOOTH)


# --- text -------------------------------------------------------------------------------------


def page_text(found: Mapping[str, Evidence], observations: Mapping[str, Observation]) -> str:
    """The page, from what is recorded and what was seen in it."""
    parts = [_HEAD, _overview(found, observations)]
    for item in PAPER.values():
        parts += _section(item, found.get(item.name), observations.get(item.name))
    return "\n\n".join(parts) + "\n"


def _overview(found: Mapping[str, Evidence], observations: Mapping[str, Observation]) -> str:
    lines = []
    for item in PAPER.values():
        own, seen = found.get(item.name), observations.get(item.name)
        link = f"[{item.title}](#{item.title.lower().replace(' ', '-')})"
        summary = item.suite.summary if item.suite else "drawing of the method"
        verdict = _valid(own, seen).agrees if item.suite else ""
        lines.append([link, summary, _share(own), verdict])
    return markdown(["", "what it shows", "recorded", "agrees"], lines)


def _share(own: Evidence | None) -> str:
    """How many curves, or maps, of all that the figure has."""
    if own is None:
        return "no runs"
    drawn = sum(map(len, own.panels.values()))
    return f"{drawn} of {drawn + len(own.absent)}"


def _valid(own: Evidence | None, seen: Observation | None) -> Observation:
    """What was seen, as long as it was in the rows that are recorded now; otherwise all is open."""
    if seen is not None and (own is None or set(seen.rows) == {row.name for row in own.rows}):
        return seen
    return Observation("", "open")


def _section(item: PaperItem, own: Evidence | None, seen: Observation | None) -> list[str]:
    parts = [f"## {item.title}"]
    if item.suite is not None:
        parts += _shown(item, item.suite, own)
    lines = [f"- **The paper:** {item.shows}"]
    if item.suite is None:
        lines.append(
            "- **Here:** A drawing of the method: [how it works](how-it-works.md) has ours."
        )
    else:
        valid = _valid(own, seen)
        lines.append(f"- **Here:** {_seen(own, seen)}")
        lines.append(f"- **Agrees:** {valid.agrees}. {valid.why}".rstrip())
    return [*parts, "\n".join(lines)]


def _shown(item: PaperItem, suite: Suite, own: Evidence | None) -> list[str]:
    """The picture with what it is drawn from, and numbers beside curves."""
    file = item.picture or f"{PICTURES}/{item.name}.png"
    picture = f"![{item.title}: {suite.summary}]({file})"
    if own is None:
        if suite.drawing == HYPER_PARAMETERS:
            return [hyper_parameters()]
        return [picture]
    parts = []
    if own.panels:
        rows = "; ".join(f"`{row.name}`" for row in own.rows)
        parts += [picture, f"Drawn from {rows}.", *_departures(own.rows)]
        if suite.drawing == CURVES:
            parts.append(curve_table(_material(suite, own)))
    return [*parts, *_missing(suite, own)]


def _departures(rows: Sequence[Row]) -> list[str]:
    """Rows of an earlier default must not pass for today's."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if changed := departures(row.seeds[0]):
            found.setdefault(", ".join(changed), []).append(f"`{row.place}`")
    return [f"Not today's default: {', '.join(own)} ({what})." for what, own in found.items()]


def _missing(suite: Suite, own: Evidence) -> list[str]:
    """What is not drawn, why, and how to come by it."""
    if not own.absent:
        return []
    groups: dict[str, list[Absent]] = {}
    for each in own.absent:
        groups.setdefault(each.reason, []).append(each)
    sentences = []
    for reason, absent in sorted(groups.items()):
        what = f"Not drawn, since it was {reason}" if reason else "Not run yet"
        everything = len(absent) == len(own.absent) and not own.panels
        sentences.append(f"{what}." if everything else f"{what}: {_listed(absent)}.")
    among = f' ARGS="--suite {suite.name}"' if varied_fields(suite) else ""
    sentences.append(
        f"`hess reproduce {suite.name}` trains what is missing, `make results RUNS=...{among}` "
        "records it."
    )
    return [" ".join(sentences)]


def _listed(absent: Sequence[Absent]) -> str:
    """Labels that lack the same tasks together."""
    tasks: dict[str, list[str]] = {}
    for each in absent:
        tasks.setdefault(each.label, []).append(each.task)
    labels: dict[str, list[str]] = {}
    for label, own in tasks.items():
        labels.setdefault(", ".join(dict.fromkeys(own)), []).append(label)
    return "; ".join(f"{', '.join(own)} on {where}" for where, own in labels.items())


def _seen(own: Evidence | None, seen: Observation | None) -> str:
    if own is not None and not own.panels:
        return "nothing to see yet."
    if seen is None:
        return "drawn, and nothing said of it yet."
    if _valid(own, seen) is seen:
        return seen.seen
    return f"{seen.seen} (This was said of rows that have changed since.)"


_HEAD = f"""# The paper's figures and tables, and ours

Generated by `make results`; nothing here is typed but what we see, which stands in
`results/{OBSERVATIONS}` with the rows that it was seen in. Pictures show runs that are
[recorded](../results/README.md) under `results/{MAIN}` by [the
protocol](reproducing.md#recorded-results): whole budgets, clean checkouts, one config for all seeds
of a row. Maps are drawn from snapshots of these runs, of which the parts that are shown are kept
beside the curves. Nothing is extrapolated and no miniature is shown. Numbers are those of the
paper; what a suite trains is in [reproducing](reproducing.md#what-is-where)."""
