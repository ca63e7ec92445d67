"""`hess evaluate --video`: the agent at work, and what it is after.

A frame has the cameras' pictures, a map of φ-space, a caption and a banner.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.font_manager import FontProperties, findfont
from PIL import Image, ImageDraw, ImageFont

from hess.analysis.stage import SIZE, Point, Stage, open_stage
from hess.analysis.style import GOAL, INK, PAPER, PATH, SUBGOAL, SUCCESS, start_to_end
from hess.arrays import Floats, Picture
from hess.encoding import VIDEO_FORMATS, encode_video
from hess.envs.adapter import State, Task
from hess.envs.task import GoalTask
from hess.files import require_ending
from hess.runs.folder import RunFolder
from hess.runs.snapshots import Projection, Snapshot, newest_snapshot
from hess.training.collector import seed_stream

if TYPE_CHECKING:
    from hess.api import LoadedAgent
    from hess.config import Config


EPISODES = 2
FRAMES_PER_SECOND = 20
_EVERY = 2  # steps per frame: an ant's 0.2 s pass eight times as fast
_EVALUATION = 1  # the collector's number for seeds of evaluation
_AFTER_SUCCESS = 10  # steps to show after the goal was reached
_HOLD = 15  # frames for which the last picture of an episode stands still
_TRAIL = 0.3  # metres between the dots of the trail
_DOTS = 150  # of the trail that are kept


def record_video(agent: LoadedAgent, folder: RunFolder, out: Path, config: Config) -> None:
    """Film the first episodes of an evaluation, of `agent.evaluated_config`, as an mp4 or gif."""
    require_ending(out, VIDEO_FORMATS)
    task = Task(config)
    if not isinstance(task.env.unwrapped, GoalTask):
        task.close()
        task = Task(config, task, render_mode="rgb_array")
    with closing(task), closing(open_stage(task.env, task.name)) as stage:
        film = _Film(agent, task, stage, newest_snapshot(folder))
        frames = chain.from_iterable(film.episode(n, config.seed) for n in range(EPISODES))
        encode_video(out, frames, FRAMES_PER_SECOND)


class _Film:
    """Plays episodes and gives a frame for every step."""

    def __init__(self, agent: LoadedAgent, task: Task, stage: Stage, snapshot: Snapshot | None):
        self._agent, self._task, self._stage = agent, task, stage
        # A method without subgoals writes no snapshots, and has no φ to show.
        self._snapshot = snapshot
        self._map = SpaceMap(snapshot) if snapshot is not None else None

    def episode(self, number: int, seed: int) -> Iterator[Picture]:
        """Frames of one episode, until a little after the goal was reached."""
        agent, task = self._agent, self._task
        seeds = seed_stream(seed, _EVALUATION, agent.step, number)
        agent.reset()
        state = task.reset(int(seeds.generate_state(1)[0]))
        trail: list[Point] = []
        path = []
        reached: int | None = None
        for step in range(task.horizon):
            action = agent.act(state.observation, state.goal, state.position)
            here = (float(state.position[0]), float(state.position[1]))
            if not trail or math.dist(trail[-1], here) > _TRAIL:
                trail = [*trail[-_DOTS:], here]
            if step % _EVERY == 0:
                path.append(agent.embed(state.observation[None])[0])
                moment = f"episode {number + 1}, step {step}"
                yield self._frame(state, trail, path, moment, reached)
            outcome = task.step(action, step)
            state = outcome.state
            if outcome.success and reached is None:
                reached = step + 1
            over = reached is not None and step >= reached + _AFTER_SUCCESS
            if over or outcome.terminated or outcome.truncated:
                break
        path.append(agent.embed(state.observation[None])[0])
        moment = f"episode {number + 1}, step {step + 1}"
        last = self._frame(state, trail, path, moment, reached)
        for _ in range(_HOLD):
            yield last

    def _frame(
        self, state: State, trail: list[Point], path: list[Floats], moment: str, reached: int | None
    ) -> Picture:
        subgoal: Point | None = None
        if self._snapshot is not None:
            x, y = self._snapshot.position_of(self._agent.subgoal)
            subgoal = float(x), float(y)
        pictures = self._stage.draw(state, trail, subgoal)
        if self._map is not None:
            pictures.append(self._map.draw(path, self._agent.subgoal))
        config = self._agent.config
        caption = (
            f"{config.method} on {config.task} after {self._agent.step:,} steps   ·   {moment}"
        )
        banner = None if reached is None else f"goal reached at step {reached}"
        return compose(pictures, caption, banner, has_subgoal=subgoal is not None)


# --- frames -------------------------------------------------------------------------------------


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
        colours = start_to_end(snapshot.states.steps / last)  # drawn halfway to white
        for index in order:
            faded = tuple(int(255 * (0.5 + 0.5 * part)) for part in colours[index][:3])
            _dot(draw, self._pixel(points[index]), 2.2 * _FINE, faded)

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


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(findfont(FontProperties(family="DejaVu Sans")), size)
