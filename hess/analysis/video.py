"""`hess evaluate --video`: the agent at work, and what it is after."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from hess.analysis.frames import SpaceMap, compose
from hess.analysis.stage import Point, Stage, open_stage
from hess.arrays import Floats
from hess.encoding import VIDEO_FORMATS, Picture, encode_video
from hess.envs.adapter import State, Task
from hess.envs.task import GoalTask
from hess.files import require_ending
from hess.runs.folder import RunFolder
from hess.runs.snapshots import Snapshot, newest_snapshot
from hess.training.collector import seed_stream

if TYPE_CHECKING:
    from hess.api import LoadedAgent

EPISODES = 2
FRAMES_PER_SECOND = 20
_EVERY = 2  # steps per frame: an ant's 0.2 s pass eight times as fast
_EVALUATION = 1  # the collector's number for seeds of evaluation
_AFTER_SUCCESS = 10  # steps to show after the goal was reached
_HOLD = 15  # frames for which the last picture of an episode stands still
_TRAIL = 0.3  # metres between the dots of the trail
_DOTS = 150  # of the trail that are kept


def record_video(agent: LoadedAgent, folder: RunFolder, out: Path, seed: int = 0) -> None:
    """Film the first episodes of `agent.evaluate(seed=seed)` as an mp4 or gif."""
    require_ending(out, VIDEO_FORMATS)
    task = Task.of(agent.config)
    if not isinstance(task.env.unwrapped, GoalTask):
        task.close()
        task = Task.of(agent.config, task, render_mode="rgb_array")
    try:
        stage = open_stage(task.env, task.name)
        try:
            film = _Film(agent, task, stage, newest_snapshot(folder))
            frames = chain.from_iterable(film.episode(n, seed) for n in range(EPISODES))
            encode_video(out, frames, FRAMES_PER_SECOND)
        finally:
            stage.close()
    finally:
        task.close()


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
        frame = None
        for step in range(task.horizon):
            action = agent.act(state.observation, state.goal, state.position)
            here = (float(state.position[0]), float(state.position[1]))
            if not trail or math.dist(trail[-1], here) > _TRAIL:
                trail = [*trail[-_DOTS:], here]
            if step % _EVERY == 0:
                path.append(agent.embed(state.observation[None])[0])
                moment = f"episode {number + 1}, step {step}"
                frame = self._frame(state, trail, path, moment, reached)
                yield frame
            outcome = task.step(action, step)
            state = outcome.state
            if outcome.success and reached is None:
                reached = step + 1
            over = reached is not None and step >= reached + _AFTER_SUCCESS
            if over or outcome.terminated or outcome.truncated:
                break
        for _ in range(_HOLD):
            assert frame is not None
            yield frame

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
