"""Frames of a video: the cameras' pictures, a map of φ-space, a caption and a banner."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from matplotlib.font_manager import FontProperties, findfont
from PIL import Image, ImageDraw, ImageFont

from hess.analysis.projection import Projection
from hess.analysis.stage import SIZE
from hess.analysis.style import GOAL, INK, PAPER, PATH, SUBGOAL, SUCCESS, start_to_end
from hess.arrays import Floats
from hess.encoding import Picture
from hess.runs.snapshots import Snapshot

_CAPTION = 52  # pixels
_GAP = 4
_FINE = 2  # the map is drawn this much larger and then scaled down: smooth edges


class SpaceMap:
    """φ-space: visited states from start to end of their episodes, φ(s) and the subgoal."""

    def __init__(self, snapshot: Snapshot):
        self._projection = Projection.of(snapshot)
        points = self._projection(snapshot.states.embeddings)
        low, high = points.min(0), points.max(0)
        self._middle = (low + high) / 2
        # Imagined subgoals lie beyond what was visited: leave room for them.
        self._scale = 0.62 * SIZE * _FINE / max(float((high - low).max()), 1e-6)
        self._background = Image.new("RGB", (SIZE * _FINE, SIZE * _FINE), PAPER)
        draw = ImageDraw.Draw(self._background)
        last = max(int(snapshot.states.steps.max()), 1)
        order = np.argsort(-snapshot.states.steps.astype(int), kind="stable")
        colours = start_to_end(snapshot.states.steps / last)
        for index in order:
            _dot(draw, self._pixel(points[index]), 2.2 * _FINE, _faded(colours[index]))

    def draw(self, path: Sequence[Floats], subgoal: Floats) -> Picture:
        """The way through φ-space so far and where it should lead next."""
        picture = self._background.copy()
        draw = ImageDraw.Draw(picture)
        pixels = [self._pixel(self._projection(embedding)) for embedding in path]
        aim = self._pixel(self._projection(subgoal))
        if len(pixels) > 1:
            draw.line(pixels, fill=PATH, width=2 * _FINE, joint="curve")
        draw.line([pixels[-1], aim], fill=SUBGOAL, width=_FINE)
        _dot(draw, aim, 9 * _FINE, SUBGOAL, outline=INK)
        _dot(draw, pixels[-1], 7 * _FINE, PATH, outline=INK)
        small = picture.resize((SIZE, SIZE), Image.Resampling.LANCZOS)
        ImageDraw.Draw(small).text((14, 10), self._projection.title, font=_font(17), fill=INK)
        return np.asarray(small)

    def _pixel(self, point: Floats) -> tuple[float, float]:
        x, y = (point - self._middle) * self._scale + SIZE * _FINE / 2
        edge = SIZE * _FINE
        return float(np.clip(x, 8, edge - 8)), float(np.clip(edge - y, 8, edge - 8))


def compose(
    pictures: Sequence[Picture], caption: str, banner: str | None, has_subgoal: bool
) -> Picture:
    """Pictures side by side under a caption; the banner lies over their lower edge."""
    height = max(picture.shape[0] for picture in pictures)
    width = sum(picture.shape[1] for picture in pictures) + _GAP * (len(pictures) - 1)
    frame = Image.new("RGB", (width + width % 2, height + _CAPTION + height % 2), PAPER)
    left = 0
    for picture in pictures:
        frame.paste(Image.fromarray(picture), (left, _CAPTION))
        left += picture.shape[1] + _GAP
    draw = ImageDraw.Draw(frame)
    draw.text((14, _CAPTION / 2), caption, font=_font(19), fill=INK, anchor="lm")
    _legend(draw, frame.width - 14, has_subgoal)
    if banner is not None:
        _banner(draw, frame, banner)
    return np.asarray(frame)


def _legend(draw: ImageDraw.ImageDraw, right: float, has_subgoal: bool) -> None:
    marks = [("subgoal", SUBGOAL), ("goal", GOAL)] if has_subgoal else [("goal", GOAL)]
    for text, colour in marks:
        right -= draw.textlength(text, font=_font(17))
        draw.text((right, _CAPTION / 2), text, font=_font(17), fill=INK, anchor="lm")
        right -= 16
        _dot(draw, (right, _CAPTION / 2), 7, colour)
        right -= 26


def _banner(draw: ImageDraw.ImageDraw, frame: Image.Image, text: str) -> None:
    middle, top = frame.width / 2, frame.height - 74
    half = draw.textlength(text, font=_font(26)) / 2 + 28
    draw.rounded_rectangle((middle - half, top, middle + half, top + 52), 26, fill=SUCCESS)
    draw.text((middle, top + 26), text, font=_font(26), fill="white", anchor="mm")


def _dot(
    draw: ImageDraw.ImageDraw,
    centre: tuple[float, float],
    radius: float,
    fill: str | tuple[int, ...],
    outline: str | None = None,
) -> None:
    x, y = centre
    box = (x - radius, y - radius, x + radius, y + radius)
    draw.ellipse(box, fill=fill, outline=outline, width=_FINE)


def _faded(colour: Floats) -> tuple[int, ...]:
    """Halfway to white: a background."""
    return tuple(int(255 * (0.5 + 0.5 * part)) for part in colour[:3])


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(findfont(FontProperties(family="DejaVu Sans")), size)
