"""How everything drawn by this package looks: one palette, one set of sizes, one way to save."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import NDArray

from hess.files import write_atomic

# Okabe and Ito's colours: distinct with every kind of colour vision, and in greyscale order.
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, GREY = "#56B4E9", "#CC79A7", "#7F7F7F"
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, "#4B4B4B", "#B8A000")

# One meaning, one colour, in figures, report, video and viewer alike.
INK, PAPER, WALL, FAINT = "#22272E", "#FFFFFF", "#8894A6", "#CBD3DC"
GOAL, START, SUBGOAL, PATH, SUCCESS = GREEN, INK, ORANGE, BLUE, "#00805C"
SELECTED, IMAGINED, BY_POLICY = BLUE, ORANGE, GREY

MEASURE = "viridis"  # low is dark: of the score, what is chosen, as in the paper's Fig. 3
DENSITY = LinearSegmentedColormap.from_list(
    "density", ["#EAF2F8", "#A9CCE3", "#4A90C2", "#0B5394", "#0A2342"]
)
# The paper's red to blue, in shades that stay apart with red-green blindness.
START_TO_END = LinearSegmentedColormap.from_list(
    "start_to_end", ["#C1272D", "#E8894A", "#E7D4A8", "#6FA8D6", "#0B3C8C"]
)

FORMATS = (".png", ".pdf")

STYLE = Path(__file__).with_name("hess.mplstyle")

styled = mpl.rc_context(fname=STYLE)
"""Decorates what draws in our style, and leaves the style of the caller's own figures alone."""


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches; no window and no list keeps it alive."""
    layout = ConstrainedLayoutEngine(compress=True, w_pad=0.06, h_pad=0.07)
    return Figure(figsize=(width, height), layout=layout)


def add_title(figure: Figure, text: str) -> None:
    """A line above all panels."""
    figure.suptitle(text, x=0.01, ha="left", fontsize=9)


def save_figure(figure: Figure, path: Path, note: str | None = None) -> None:
    """Write a figure in the format of the path's ending, all at once; a PNG may carry a note."""
    content = io.BytesIO()
    kind = path.suffix.lstrip(".")
    # Without the date, the same run gives the same file.
    metadata = {"CreationDate": None} if kind == "pdf" else {"Comment": note} if note else None
    with mpl.rc_context(fname=STYLE):
        figure.savefig(content, format=kind, metadata=metadata)
    write_atomic(path, content.getvalue())


def save_formats(figure: Figure, path: Path) -> list[Path]:
    """Write a figure in every format, each with its ending after the path; their paths."""
    files = [path.with_name(path.name + ending) for ending in FORMATS]
    for file in files:
        save_figure(figure, file)
    return files


def start_to_end(share: NDArray[Any]) -> NDArray[np.floating[Any]]:
    """Colours for shares of the way, 0 at the start. [n] -> [n, 4]."""
    return np.asarray(START_TO_END(np.asarray(share, np.float64)))
