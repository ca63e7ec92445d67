"""Traces of skills in the plane: what the same skill did in different episodes (paper Fig. 12)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from numpy.typing import NDArray

from hess.analysis import maps, style
from hess.analysis.explored import spread_out, steps_text
from hess.arrays import Arrays, Floats
from hess.runs.run import NothingToDrawError, Run
from hess.runs.snapshots import parse_file, read_snapshot

_SIDE = 2.9  # inches of a map
_KEY = 61  # pixels per side of the key to the colours
# A circle of hues that stay apart with every kind of colour vision.
_WHEEL = LinearSegmentedColormap.from_list(
    "skills", [style.BLUE, style.GREEN, style.ORANGE, style.VERMILION, style.PURPLE, style.BLUE]
)


@dataclass(frozen=True)
class Trace:
    """A stretch of an episode under one skill."""

    positions: Floats  # [k, 2]
    skill: Floats  # [d]
    drawn: bool  # at random, to learn it; otherwise chosen to solve the task


@style.styled
def skill_traces(run: Run) -> Figure:
    """x, y traces at several times of training, in the colours of their skills."""
    steps = skill_moments(run)
    figure = style.new_figure(_SIDE * len(steps) + 1.3, _SIDE + 0.5)
    widths = [*[1.0] * len(steps), 0.35]
    *row, key = figure.subplots(1, len(steps) + 1, width_ratios=widths)
    for axes, step in zip(row, steps, strict=True):
        traces = load_traces(run.skill_files[step], run.read)
        draw_traces(axes, run, traces)
        axes.set_title(f"{steps_text(step)}\n{_origin(traces)}", fontsize=8)
    for axes in row[1:]:
        axes.set_ylabel("")
    _draw_key(key)
    style.add_title(figure, f"{run.title}: traces of skills")
    return figure


def skill_moments(run: Run) -> list[int]:
    """Up to five times of training at which traces were written."""
    if not run.skill_files:
        raise NothingToDrawError(f"{run.title} has no skill traces; only dads writes them")
    return spread_out(list(run.skill_files))


def _origin(traces: Sequence[Trace]) -> str:
    drawn = [trace.drawn for trace in traces]
    if all(drawn):
        return "skills drawn at random"
    return "some skills chosen" if any(drawn) else "skills chosen by control"


def draw_traces(axes: Axes, run: Run, traces: Sequence[Trace]) -> None:
    """Every trace, with a dot where it ends."""
    colours = skill_colours(np.stack([trace.skill for trace in traces]))
    for trace, colour in zip(traces, colours, strict=True):
        x, y = trace.positions.T
        axes.plot(x, y, color=colour, linewidth=1.0, alpha=0.85)
        axes.plot(x[-1:], y[-1:], ".", color=colour, markersize=5)
    maps.draw_plan(axes, run.plan, np.concatenate([trace.positions for trace in traces]))


def skill_colours(skills: Floats) -> Floats:
    """The direction of a skill's first two numbers as hue; grey towards 0. [..., d] -> [..., 3]."""
    flat = np.zeros((*skills.shape[:-1], 2))
    count = min(skills.shape[-1], 2)
    flat[..., :count] = skills[..., :count]
    angle = np.arctan2(flat[..., 1], flat[..., 0]) / (2 * np.pi) % 1.0
    strength = np.clip(np.abs(flat).max(-1, keepdims=True), 0.0, 1.0)
    hues = np.asarray(_WHEEL(angle))[..., :3]
    return strength * hues + (1 - strength) * np.array(to_rgb(style.FAINT))


def _draw_key(axes: Axes) -> None:
    side = np.linspace(-1.0, 1.0, _KEY)
    square = np.stack(np.meshgrid(side, side), -1)
    axes.imshow(skill_colours(square), origin="lower", extent=(-1, 1, -1, 1))
    axes.set(xticks=(-1, 1), yticks=(-1, 1), title="skill", xlabel="z₁", ylabel="z₂")


def load_traces(path: Path, read: Callable[[Path], Arrays] = read_snapshot) -> list[Trace]:
    """Read and check a file of traces."""
    return parse_file(path, _parse, read)


def _parse(arrays: Arrays) -> list[Trace]:
    positions, skills = arrays["skills.positions"], arrays["skills.skills"]
    drawn = arrays["skills.drawn"].astype(np.bool_)
    lengths, stride = arrays["skills.lengths"], int(arrays["skills.stride"])
    every = int(arrays["skills.interval"]) // stride  # points per segment
    if positions.ndim != 3 or positions.shape[-1] != 2 or skills.ndim != 3:
        raise ValueError(f"traces of shape {positions.shape} with skills of {skills.shape}")
    if not (np.isfinite(positions).all() and np.isfinite(skills).all()):
        raise ValueError("numbers that are not finite")
    return [
        trace
        for path, own, random, length in zip(positions, skills, drawn, lengths, strict=True)
        for trace in split(path[: int(length) // stride + 1], own, random, every)
    ]


def split(path: Floats, skills: Floats, drawn: NDArray[np.bool_], every: int) -> list[Trace]:
    """An episode as traces: one wherever the skill changed. [k, 2], [segments, d], [segments]."""
    started = skills[: max(-(-(len(path) - 1) // every), 1)]
    changed = (started[1:] != started[:-1]).any(-1)
    starts = np.concatenate([[0], np.flatnonzero(changed) + 1])
    ends = np.append(starts[1:], len(started))
    return [
        Trace(path[start * every : end * every + 1], started[start], bool(drawn[start]))
        for start, end in zip(starts, ends, strict=True)
    ]
