"""The page as one file that needs no server: scripts, styles and data inside."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

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


def static_text(name: str) -> str:
    """A file of the page."""
    return (files("hess.viewer") / "static" / name).read_text()


def bundle(title: str, before: str, after: str, style: str, data: dict[str, Any]) -> str:
    """One HTML file: the viewer between two pieces of HTML, over embedded data.

    The policy in it forbids the browser to load anything from anywhere.
    """
    page = static_text("index.html")
    head_start, head_end = page.index("<title>"), page.index("</head>")
    styles = "\n".join(static_text(n) for n in ("uplot/uPlot.min.css", "style.css")) + style
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
        f"<script>{static_text('uplot/uPlot.iife.min.js')}</script>\n"
        f"<script>{joined_modules('app.js')}</script>\n"
    )
    return page.replace("</body>", scripts + "</body>")


def joined_modules(first: str) -> str:
    """The modules that `first` needs as one plain script, each a function's body of its own."""
    order: list[str] = []
    sources: dict[str, str] = {}

    def visit(name: str) -> None:
        if name in sources:
            return
        sources[name] = _EMBEDDED_API if name == "api.js" else static_text(name)
        for _, needed in _IMPORT.findall(sources[name]):
            visit(needed)
        order.append(name)

    visit(first)
    parts = ['"use strict";\nconst modules = {};']
    for name in order:
        exported = ", ".join(_EXPORT.findall(sources[name]))
        body = _IMPORT.sub(r'const \1 = modules["\2"];', sources[name])
        body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
        parts.append(f'modules["{name}"] = (() => {{\n{body}\nreturn {{{exported}}};\n}})();')
    return "\n".join(parts)
