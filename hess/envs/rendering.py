"""Picture and video files of tasks, ours or a user's."""

from __future__ import annotations

import dataclasses
import io
import itertools
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import imageio.v3 as iio
import numpy as np

from hess.arrays import Picture
from hess.encoding import VIDEO_FORMATS, encode_video
from hess.envs.layouts import Layout
from hess.envs.making import make
from hess.envs.registration import TASKS
from hess.envs.scene import Camera
from hess.envs.topdown import TopDownView
from hess.errors import HessError
from hess.files import require_ending, write_atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes


PICTURE_FORMATS = (".png", ".jpg", ".jpeg")
ENLARGE = 2  # a picture file against a frame of a video
FRAMES_PER_SECOND = 30  # for an environment that does not say


def render_picture(
    task: str, out: Path, seed: int = 0, arguments: Mapping[str, Any] | None = None
) -> None:
    """Save the task's first moment as a picture; `arguments` are those of the environment."""
    require_ending(out, PICTURE_FORMATS)
    picture = first_picture(task, seed, arguments)
    write_atomic(out, iio.imwrite("<bytes>", picture, extension=out.suffix.lower()))


def render_video(
    task: str,
    out: Path,
    seed: int = 0,
    steps: int | None = None,
    arguments: Mapping[str, Any] | None = None,
) -> None:
    """Save an episode of random actions as a video; `steps` stops it early."""
    require_ending(out, VIDEO_FORMATS)
    if steps is not None and steps < 1:
        raise HessError(f"a video needs at least 1 step, not {steps}")
    with closing(_make(task, arguments)) as env:
        if steps is None and getattr(env.spec, "max_episode_steps", None) is None:
            raise HessError(f"episodes of {task!r} may never end; give --steps for its video")
        env.action_space.seed(seed)
        env.reset(seed=seed)
        speed = max(int(env.metadata.get("render_fps") or FRAMES_PER_SECOND), 1)
        encode_video(out, _random_episode(env, task, steps), speed)


def _random_episode(env: Any, task: str, steps: int | None) -> Iterator[Picture]:
    """One picture after the other: all of them together would take most of a gigabyte."""
    yield picture_of(env, task)
    for _ in itertools.count() if steps is None else range(steps):
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        yield picture_of(env, task)
        if terminated or truncated:
            break


def first_picture(task: str, seed: int = 0, arguments: Mapping[str, Any] | None = None) -> Picture:
    """The picture of a task after reset; ours are drawn larger than a frame of a video."""
    with closing(_make(task, arguments)) as env:
        camera = getattr(env.unwrapped, "camera", None)
        if isinstance(camera, Camera):  # others call something else so
            env.unwrapped.camera = dataclasses.replace(
                camera, height=ENLARGE * camera.height, width=ENLARGE * camera.width
            )
        env.reset(seed=seed)
        return picture_of(env, task)


def _make(task: str, arguments: Mapping[str, Any] | None) -> Any:
    return make(task, **arguments or {}, render_mode="rgb_array")


def picture_of(env: Any, task: str) -> Picture:
    """What the environment draws of this moment."""
    frame = env.render()
    if not isinstance(frame, np.ndarray) or frame.ndim != 3:
        raise HessError(f"the task {task!r} does not draw: render() gave {type(frame).__name__}")
    return frame


# --- all tasks in one picture, for the documentation --------------------------------------------


MAZES = ("PointMaze", "AntMaze", "AntPush", "AntFourRooms")
CHEETAHS = ("CheetahHurdle", "CheetahAscending")


def render_gallery(out: Path) -> None:
    """Draw all tasks into one file; maze tasks with the view of their `Images` variant."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 7.8), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(2, 4)
    for column, name in enumerate(MAZES):
        axes = figure.add_subplot(grid[0, column])
        _show(axes, name)
        _show_view(axes, name)
    for column, name in enumerate(CHEETAHS):
        _show(figure.add_subplot(grid[1, 2 * column : 2 * column + 2]), name)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100, metadata={"Software": None})
    write_atomic(out, buffer.getvalue())


def _show(axes: Axes, name: str) -> None:
    axes.imshow(first_picture(name))
    axes.set_title(name, fontsize=13, fontweight="bold")
    axes.set_axis_off()


def _show_view(axes: Axes, name: str) -> None:
    """What the robot of the `Images` variant sees from the start: walls blue, block red."""
    settings: dict[str, Any] = TASKS[name].kwargs
    layout = Layout.parse(settings["layout"], settings["cell"])
    view = TopDownView(layout)(*layout.start, layout.block)
    colours = np.array([[0.44, 0.53, 0.66], [0.0, 0.0, 0.0], [0.82, 0.30, 0.26]])
    picture = 1.0 - np.clip(view @ (1.0 - colours), 0.0, 1.0)
    inset = axes.inset_axes((0.84, 0.89, 0.16, 0.16))
    inset.imshow(picture, origin="lower", interpolation="nearest")
    inset.set_xticks([])
    inset.set_yticks([])
