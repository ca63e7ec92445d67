"""`hess report`: what there is to say about a run, or a folder of runs, in one HTML file."""

from __future__ import annotations

import base64
import io
import json
import re
import shlex
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from hess.analysis import curves
from hess.analysis.explored import spread_out, steps_text
from hess.analysis.figures import METHOD_FIGURES, RUN_FIGURES, one_per_method
from hess.analysis.groups import by_task
from hess.analysis.statistics import arrivals
from hess.errors import HessError, MissingExtraError
from hess.files import read_bytes, read_json, write_atomic
from hess.runs.command import train_command
from hess.runs.run import NothingToDrawError, Run
from hess.viewer.payloads import Library
from hess.viewer.server import STATIC

_MOMENTS = 12  # snapshots of a run that are embedded
_MOMENTS_OF_MANY = 4  # the same where several runs are
_MOST_RUNS = 6  # with their snapshots; the table has all
_STATES = 1_200  # per snapshot: dense enough for the maps, and half the size
_VIDEO_LIMIT = 2_000_000  # bytes that are embedded; a larger video is only named
_DPI = 110
_FIGURES = {  # of one run, as `hess plot` calls them, under their headings
    "measures": "The measures at the end",
    "visits": "Visits over time",
    "representation": "The representation over time",
    "subgoals": "Subgoals at the end",
    "latent": "Latent trajectories",
}


def write_report(runs: Sequence[Run], out: Path) -> None:
    """Write the report of one run or of many."""
    if len(runs) == 1:
        shown, title = list(runs), runs[0].title
        before, after = _facts(runs[0]) + _command_card(runs[0]), _run_cards(runs[0])
    else:
        chosen = [run for own in by_task(runs).values() for run in one_per_method(own)]
        shown, title = chosen[:_MOST_RUNS], f"{len(runs)} runs"
        before, after = _table(runs) + _comparisons(runs), ""
    style = Path(__file__).with_name("report.css").read_text()
    page = bundle(f"HESS: {escape(title)}", before, after, style, _data(shown))
    kind = "report alone" if len(shown) == 1 else "report"
    write_atomic(out, page.replace("<body>", f'<body class="{kind}">', 1))


# --- what the maps and charts show -----------------------------------------------------------


def _data(runs: Sequence[Run]) -> dict[str, Any]:
    """The viewer's answers for some moments of the runs."""
    moments = _MOMENTS if len(runs) == 1 else _MOMENTS_OF_MANY
    answers: dict[str, Any] = {"list": [], "runs": {}, "snapshots": {}}
    for run in runs:
        library = Library(run.path)
        (row,) = library.runs()
        name = f"{run.config.task} · {run.config.method} · {run.path.name}"
        answers["list"].append(row | {"name": name, "title": name, "age": None})
        overview = library.run(".")
        steps = spread_out(overview["snapshots"], moments)
        answers["runs"][name] = overview | {"name": name, "snapshots": steps}
        for step in steps:
            snapshot = library.snapshot(".", step)
            fewer = {part: values[:_STATES] for part, values in snapshot["states"].items()}
            answers["snapshots"][f"{name} {step}"] = snapshot | {"states": fewer}
    return answers


# --- one run ---------------------------------------------------------------------------------


def _facts(run: Run) -> str:
    rates = run.evaluations.get("success_rate")
    facts = [("trained for", steps_text(int(rates.steps[-1])) if rates else "nothing yet")]
    if rates is not None:
        solved = arrivals([(rates.steps, rates.values)], 0.9)
        facts += [
            ("success, last evaluation", f"{rates.values[-1]:.2f}"),
            ("best evaluation", f"{rates.values.max():.2f}"),
            ("0.9 first reached", steps_text(int(solved.steps[0])) if solved.reached[0] else "—"),
        ]
    coverage = run.metrics.get("train/coverage")
    if coverage is not None:
        facts.append(("maze visited", f"{100 * coverage.values[-1]:.0f} %"))
    rows = "".join(f"<div><dt>{name}</dt><dd>{escape(text)}</dd></div>" for name, text in facts)
    return f'<dl class="facts">{rows}</dl>'


def _command_card(run: Run) -> str:
    about = _metadata(run)
    try:
        command = train_command(run.folder.read_config())
    except HessError:  # of another version: what was typed then has to do
        typed = about.get("command")
        command = shlex.join(["hess", *map(str, typed[1:])]) if isinstance(typed, list) else ""
    origin = "where it was trained is not known: it has no metadata.json that can be read"
    if about:
        changed = " with uncommitted changes" if about.get("dirty") else ""
        machine = f"{about.get('cpu')}, {about.get('cores')} cores, {about.get('platform')}"
        origin = f"hess {about.get('hess')}, commit {about.get('commit')}{changed}; {machine}"
    return _card(
        "To make it again", f'<pre>{escape(command)}</pre><p class="note">{escape(origin)}</p>'
    )


def _metadata(run: Run) -> dict[str, Any]:
    try:
        values = read_json(run.folder.metadata_file)
    except HessError:
        return {}
    return values if isinstance(values, dict) else {}


def _run_cards(run: Run) -> str:
    fields = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>"
        for name, value in run.config.fields.items()
    )
    figures = [
        _figure_card(title, partial(RUN_FIGURES[name], run)) for name, title in _FIGURES.items()
    ]
    config = f"<details><summary>all fields</summary><table>{fields}</table></details>"
    return "".join([_video_card(run), *figures, _card("Config", config)])


def _video_card(run: Run) -> str:
    """The newest video in the run's folder, inside the page where it is small."""
    videos = sorted(run.folder.videos.glob("*.mp4"), key=lambda path: path.lstat().st_mtime)
    if not videos:
        return ""
    try:
        content = read_bytes(videos[-1], _VIDEO_LIMIT)  # of a plain file, not of what a link names
    except HessError as error:
        return _card("Video", f'<p class="note">{escape(str(error))}</p>')
    encoded = base64.b64encode(content).decode()
    return _card("Video", f'<video controls muted src="data:video/mp4;base64,{encoded}"></video>')


# --- many runs -------------------------------------------------------------------------------


def _table(runs: Sequence[Run]) -> str:
    rows = ["<tr><th>task</th><th>method</th><th>run</th><th>steps</th><th>success</th></tr>"]
    for run in runs:
        rates = run.evaluations.get("success_rate")
        last = f"{rates.values[-1]:.2f}" if rates else "—"
        steps = steps_text(int(rates.steps[-1])) if rates else "—"
        cells = (run.config.task, run.config.method, run.path.name, steps, last)
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    return _card("Runs", f"<table>{''.join(rows)}</table>")


def _comparisons(runs: Sequence[Run]) -> str:
    cards = [
        _figure_card("Methods", lambda: curves.method_curves(runs)),
        _figure_card("Hyper-parameters", lambda: curves.value_curves(runs)),
    ]
    for task, own in by_task(runs).items():
        chosen = one_per_method(own)
        if len(chosen) > 1:
            draw = partial(METHOD_FIGURES["subgoals"], chosen)
            cards.append(_figure_card(f"Subgoals, {task}", draw))
    return "".join(cards)


# --- pieces ----------------------------------------------------------------------------------


def _card(title: str, body: str) -> str:
    return f'<section class="card"><h2>{escape(title)}</h2>{body}</section>'


def _figure_card(title: str, draw: Callable[[], Figure]) -> str:
    """A figure as an image inside the page; nothing where there is nothing to draw."""
    try:
        figure = draw()
    except NothingToDrawError:
        return ""
    except MissingExtraError as error:
        return _card(title, f'<p class="note">{escape(str(error))}</p>')
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=_DPI)
    encoded = base64.b64encode(content.getvalue()).decode()
    return _card(title, f'<img alt="{escape(title)}" src="data:image/png;base64,{encoded}">')


# --- the page as one file that needs no server: scripts, styles and data inside -----------------


_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./([\w.]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:function|class|const) (\w+)", re.MULTILINE)

# What api.js asks the server for, out of the page itself.
_EMBEDDED_API = """
const data = JSON.parse(document.getElementById("data").textContent);
async function find(table, key) {
  if (!(key in table)) throw new Error("this part is not in the report");
  return table[key];
}
export const askRuns = async () => data.list;
export const askRun = (name) => find(data.runs, name);
export const askSnapshot = (name, step) => find(data.snapshots, `${name} ${step}`);
"""

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; media-src data:"
)


def bundle(title: str, before: str, after: str, style: str, data: dict[str, Any]) -> str:
    """One HTML file: the viewer between two pieces of HTML, over embedded data.

    The policy in it forbids the browser to load anything from anywhere.
    """
    page = (STATIC / "index.html").read_text()
    head_start, head_end = page.index("<title>"), page.index("</head>")
    sheets = ("uplot/uPlot.min.css", "style.css")
    styles = "\n".join((STATIC / name).read_text() for name in sheets) + style
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{title}</title>\n<style>\n{styles}\n</style>\n"
    )
    page = page[:head_start] + head + page[head_end:]
    page = page.replace('<main id="page" hidden>', f'<main id="page" hidden>\n{before}')
    page = page.replace("<footer>", f"{after}\n<footer>")
    # "<" could end the script element early, whatever is in the data.
    embedded = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    embedded = embedded.replace("<", "\\u003c")
    scripts = (
        f'<script type="application/json" id="data">{embedded}</script>\n'
        f"<script>{(STATIC / 'uplot/uPlot.iife.min.js').read_text()}</script>\n"
        f"<script>{joined_modules('app.js')}</script>\n"
    )
    return page.replace("</body>", scripts + "</body>")


def joined_modules(first: str) -> str:
    """The modules that `first` needs as one plain script, each a function's body of its own."""
    sources: dict[str, str] = {}  # each after those that it needs

    def add(name: str) -> None:
        source = _EMBEDDED_API if name == "api.js" else (STATIC / name).read_text()
        for _, needed in _IMPORT.findall(source):
            if needed not in sources:
                add(needed)
        sources[name] = source

    add(first)
    parts = ['"use strict";\nconst modules = {};']
    for name, source in sources.items():
        exported = ", ".join(_EXPORT.findall(source))
        body = _IMPORT.sub(r'const \1 = modules["\2"];', source)
        body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
        parts.append(f'modules["{name}"] = (() => {{\n{body}\nreturn {{{exported}}};\n}})();')
    return "\n".join(parts)
