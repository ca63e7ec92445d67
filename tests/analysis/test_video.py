"""Films of an agent at work."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, cast

import gymnasium
import imageio_ffmpeg
import numpy as np
import pytest
from numpy.typing import NDArray

from hess.analysis import video
from hess.analysis.stage import SIZE, open_stage
from hess.analysis.video import EPISODES, SpaceMap, compose, record_video
from hess.api import LoadedAgent, make_config
from hess.config import Config
from hess.envs import TASKS, register_maze
from hess.envs.adapter import State, Task
from hess.envs.layouts import U_MAZE
from hess.errors import HessError
from hess.runs.run import Run

HORIZON = 12


class Wanderer:
    """Acts like a loaded agent: straight on, always after the same subgoal."""

    step = 1_000
    subgoal = np.array([15.0, 0.0])

    def __init__(self, config: Config):
        self.config = config

    def reset(self) -> None: ...

    def act(self, observation: Any, goal: Any, position: Any) -> Any:
        return np.array([1.0, 0.0])

    def embed(self, observations: Any) -> Any:
        return 2.5 * observations[:, :2]


def played(path: Path, width: int) -> NDArray[np.uint8]:
    """The frames as a player would show them; imageio's own reader leaves pipes open."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", "-i", str(path)]
    command += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(command, capture_output=True, check=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, SIZE + 52, width, 3)


def test_a_film_of_every_kind_of_picture(rendering: None, run: Run, tmp_path: Path) -> None:
    task = register_maze("ShortMaze", U_MAZE, "point", horizon=HORIZON)
    agent = cast("LoadedAgent", Wanderer(make_config(task)))
    record_video(agent, run.folder, tmp_path / "film.mp4", make_config(task, seed=3))
    frames = played(tmp_path / "film.mp4", 3 * SIZE + 8)
    assert len(frames) >= EPISODES * HORIZON // 2
    assert (frames[0] != frames[HORIZON // 2 - 1]).any()


def test_an_agent_without_subgoals_is_filmed_without_them(
    rendering: None, root: Path, tmp_path: Path
) -> None:
    bare = Run(root / "PointMaze" / "hess" / "seed-1")
    task = register_maze("ShortMaze", U_MAZE, "point", horizon=HORIZON)
    agent = cast("LoadedAgent", Wanderer(make_config(task)))
    record_video(agent, bare.folder, tmp_path / "film.mp4", agent.config)
    assert len(played(tmp_path / "film.mp4", 2 * SIZE + 4)) >= EPISODES * HORIZON // 2


def test_the_film_of_an_episode_ends_with_its_last_state(
    rendering: None, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments: list[tuple[str, str | None]] = []

    def note(pictures: Any, caption: str, banner: str | None, has_subgoal: bool) -> Any:
        moments.append((caption.rpartition("step ")[2], banner))
        return np.zeros((SIZE, SIZE, 3), np.uint8)

    monkeypatch.setattr(video, "compose", note)
    config = make_config("PointMaze", env={"terminate_on_success": True, "success_radius": 50.0})
    agent = cast("LoadedAgent", Wanderer(config))
    bare = Run(root / "PointMaze" / "hess" / "seed-1")
    record_video(agent, bare.folder, tmp_path / "film.mp4", config)
    # The first step of each episode reaches the goal, which ends it.
    assert moments == [("0", None), ("1", "goal reached at step 1")] * EPISODES


def test_other_formats_are_refused(run: Run, tmp_path: Path) -> None:
    agent = cast("LoadedAgent", Wanderer(make_config("PointMaze")))
    with pytest.raises(HessError, match=r"must end in \.mp4 or \.gif"):
        record_video(agent, run.folder, tmp_path / "film.avi", agent.config)


@pytest.mark.parametrize("name", [name for name, task in TASKS.items() if not task.images])
def test_every_task_shows_its_subgoal(rendering: None, name: str) -> None:
    task = Task(Config(task=name))
    stage = open_stage(task.env, name)
    try:
        state = task.reset(0)
        plain = stage.draw(state, [], None)
        start = (float(state.position[0]), float(state.position[1]))
        marked = stage.draw(state, [start], (start[0] + 1.0, start[1]))
        again = stage.draw(state, [], None)
    finally:
        stage.close()
        task.close()
    for before, with_mark, after in zip(plain, marked, again, strict=True):
        assert before.shape == (SIZE, SIZE, 3)
        changed = (before != with_mark).any(-1)
        orange = with_mark[changed].astype(int)
        assert changed.sum() > 100
        assert ((orange[:, 0] > 150) & (orange[:, 2] < 90)).sum() > 50
        np.testing.assert_array_equal(before, after)


def test_looking_does_not_change_the_episode(rendering: None) -> None:
    """A filmed episode goes as one that nobody watches."""
    ends = []
    for watched in (False, True):
        task = Task(Config(task="AntMaze"))
        stage = open_stage(task.env, "AntMaze")
        state = task.reset(0)
        for step in range(3):
            if watched:
                stage.draw(state, [(0.0, 0.0)], (1.0, 1.0))
            state = task.step(np.full(8, 0.5), step).state
        ends.append(state.observation)
        stage.close()
        task.close()
    np.testing.assert_array_equal(ends[0], ends[1])


def test_a_banner_lies_over_the_picture(run: Run) -> None:
    picture = np.full((SIZE, SIZE, 3), 200, np.uint8)
    plain = compose([picture], "caption", None, has_subgoal=True)
    banner = compose([picture], "caption", "goal reached at step 3", has_subgoal=True)
    changed = (plain != banner).any(-1)
    assert changed[: 2 * SIZE // 3].sum() == 0
    assert changed.sum() > 2_000


def test_the_map_of_phi_shows_the_way_and_the_subgoal(run: Run) -> None:
    space = SpaceMap(run.snapshot(max(run.snapshots)))
    there = space.draw([np.array([0.0, 0.0])], np.array([5.0, 0.0]))
    elsewhere = space.draw([np.array([0.0, 0.0])], np.array([10.0, 10.0]))
    far_out = space.draw([np.array([0.0, 0.0])], np.array([1e4, 0.0]))  # stays on the paper
    assert there.shape == elsewhere.shape == far_out.shape == (SIZE, SIZE, 3)
    assert (there != elsewhere).any()


class Painter(gymnasium.Env[Any, Any]):
    """Somebody else's environment."""

    def __init__(self, picture: Any):
        self._picture = picture

    def render(self) -> Any:
        return self._picture


def test_a_foreign_environment_is_shown_as_it_draws_itself() -> None:
    picture = np.zeros((3, 4, 3), np.uint8)
    state = State(np.zeros(2), np.zeros(0), np.zeros(2))
    assert open_stage(Painter(picture), "Own").draw(state, [], (0.0, 0.0)) == [picture]
    with pytest.raises(HessError, match="'Own' does not draw"):
        open_stage(Painter(None), "Own").draw(state, [], None)
