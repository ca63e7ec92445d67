from __future__ import annotations

import os
import subprocess
import sys
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import imageio.v3 as iio
import imageio_ffmpeg
import numpy as np
import pytest

from hess.cli import main
from hess.envs import TASKS
from hess.envs.models import BLOCK_COLOUR, GOAL_COLOUR
from hess.envs.rendering import render_gallery, render_picture, render_video
from hess.errors import HessError

ROBOT_COLOUR = (0.95, 0.72, 0.25)
CHEETAH_COLOUR = (0.8, 0.6, 0.4)


def pixels_like(picture: Any, colour: tuple[float, ...]) -> int:
    """How many pixels have this hue, in light or in shadow."""
    pixels = picture.reshape(-1, 3) / 255.0
    target = np.array(colour[:3])
    norms = np.linalg.norm(pixels, axis=1) * np.linalg.norm(target) + 1e-9
    saturated = np.ptp(pixels, axis=1) > 0.15
    return int(((pixels @ target / norms > 0.985) & saturated).sum())


@pytest.mark.usefixtures("drawing")
@pytest.mark.parametrize("name", [name for name, task in TASKS.items() if not task.images])
def test_robot_goal_and_block_can_be_seen(name: str, build: Any) -> None:
    env = build(name, render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert picture.dtype == np.uint8
    assert pixels_like(picture, GOAL_COLOUR) > 200
    robot = CHEETAH_COLOUR if name.startswith("Cheetah") else ROBOT_COLOUR
    assert pixels_like(picture, robot) > 200
    assert (pixels_like(picture, BLOCK_COLOUR) > 2000) == name.startswith("AntPush")


@pytest.mark.usefixtures("drawing")
def test_pictures_do_not_change_the_episode(build: Any) -> None:
    for name in ("AntPush", "CheetahHurdle", "PointMaze"):
        watched, plain = build(name, render_mode="rgb_array"), build(name)
        watched.unwrapped.camera = replace(watched.unwrapped.camera, height=64, width=64)
        watched.reset(seed=0)
        plain.reset(seed=0)
        for action in np.random.default_rng(0).uniform(-1, 1, (3, *plain.action_space.shape)):
            watched.render()
            one, two = watched.step(action)[0], plain.step(action)[0]
            assert one["observation"].tobytes() == two["observation"].tobytes()


@pytest.mark.usefixtures("drawing")
def test_the_goal_mark_follows_the_goal(build: Any) -> None:
    env = build("AntMaze", render_mode="rgb_array")
    pictures = []
    for goal in ((0.0, 8.0), (8.0, 8.0)):
        env.reset(seed=0, options={"goal": goal})
        pictures.append(env.render())
    assert (pictures[0] != pictures[1]).any()


def test_drawing_needs_a_reset_and_a_mode(build: Any) -> None:
    assert build("PointMaze").render() is None
    env = build("PointMaze", render_mode="rgb_array")
    with pytest.raises(HessError, match=r"before reset\(\)"):
        env.render()


@pytest.mark.usefixtures("drawing")
def test_a_picture_file(tmp_path: Path) -> None:
    render_picture("PointMaze", tmp_path / "deep" / "maze.png")
    assert iio.imread(tmp_path / "deep" / "maze.png").shape == (960, 960, 3)


@pytest.mark.usefixtures("drawing")
@pytest.mark.parametrize("name", ["run.mp4", "run.gif"])
def test_a_video_file(tmp_path: Path, name: str) -> None:
    render_video("CheetahHurdle", tmp_path / name, steps=5)
    # imageio's own reader leaves pipes open, which counts as an error here.
    frames, _ = imageio_ffmpeg.count_frames_and_secs(str(tmp_path / name))
    assert frames >= 3  # a gif skips some
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.slow
@pytest.mark.usefixtures("drawing")
def test_a_gallery(tmp_path: Path) -> None:
    render_gallery(tmp_path / "tasks.png")
    assert iio.imread(tmp_path / "tasks.png").shape[:2] == (780, 1400)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: render_picture("AntMaze", Path("maze.gif")), "must end in .png or .jpg"),
        (lambda: render_video("AntMaze", Path("maze.png")), "must end in .mp4 or .gif"),
        (lambda: render_video("AntMaze", Path("maze.mp4"), steps=0), "at least 1 step"),
        (lambda: render_picture("AntMace", Path("maze.png")), "did you mean 'AntMaze'"),
    ],
)
def test_bad_input_is_named(call: Any, sentence: str) -> None:
    with pytest.raises(HessError, match=sentence):
        call()


def test_a_backend_that_cannot_be_loaded_is_named() -> None:
    program = "from hess.envs import make; make('AntMaze')"
    environment = os.environ | {"MUJOCO_GL": "crayons"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert "HessError: MuJoCo cannot be loaded with MUJOCO_GL=crayons" in done.stderr


def test_without_a_gl_backend_only_drawing_fails() -> None:
    program = """
import numpy as np
from hess.envs import make
from hess.errors import HessError
for name in ("PointMaze", "AntMaze"):
    env = make(name, render_mode="rgb_array")
    env.reset(seed=0)
    env.step(np.zeros(env.action_space.shape))
    try:
        env.render()
    except HessError as error:
        print(error)
    env.close()
"""
    environment = os.environ | {"MUJOCO_GL": "disable"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("cannot draw here") for line in lines)


def test_an_environment_that_fails_while_it_is_drawn_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Blind(gymnasium.Env[Any, Any]):
        metadata = {"render_modes": ["rgb_array"]}
        observation_space = gymnasium.spaces.Box(0, 1, (1,))
        action_space = gymnasium.spaces.Box(0, 1, (1,))

        def __init__(self, **options: Any) -> None:
            self.render_mode = options.get("render_mode")

        def reset(self, **_: Any) -> Any:
            raise RuntimeError("the lens cap is on")

    gymnasium.register("users/Blind-v0", Blind, disable_env_checker=True)
    try:
        assert main(["render", "users/Blind-v0", "--out", str(tmp_path / "x.png")]) == 2
    finally:
        del gymnasium.registry["users/Blind-v0"]
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("hess: cannot draw 'users/Blind-v0': it raised RuntimeError (test_rend")
    assert line.endswith("): the lens cap is on")


class Filmed(gymnasium.Env[Any, Any]):
    """Draws slowly, and counts how many of its pictures are in memory."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 0.5}
    observation_space = action_space = gymnasium.spaces.Box(0, 1, (1,))
    camera = "from above"
    pictures: ClassVar[list[weakref.ref[Any]]] = []
    most = 0

    def __init__(self, **options: Any) -> None:
        self.render_mode = options["render_mode"]

    def reset(self, **_: Any) -> Any:
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        return np.zeros(1, np.float32), 0.0, False, False, {}

    def render(self) -> Any:
        picture = np.full((16, 16, 3), 200, np.uint8)
        Filmed.pictures.append(weakref.ref(picture))
        Filmed.most = max(Filmed.most, sum(each() is not None for each in Filmed.pictures))
        return picture


@pytest.fixture
def filmed() -> Iterator[str]:
    gymnasium.register("users/Filmed-v0", Filmed, disable_env_checker=True)
    yield "users/Filmed-v0"
    del gymnasium.registry["users/Filmed-v0"]


def test_what_others_call_a_camera_is_left_alone(filmed: str, tmp_path: Path) -> None:
    render_picture(filmed, tmp_path / "x.png")
    assert iio.imread(tmp_path / "x.png").shape == (16, 16, 3)


def test_a_video_is_written_as_it_is_drawn_at_a_frame_a_second_or_more(
    filmed: str, tmp_path: Path
) -> None:
    render_video(filmed, tmp_path / "x.mp4", steps=20)
    frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "x.mp4"))
    assert (frames, seconds) == (21, 21.0)
    assert Filmed.most <= 3
