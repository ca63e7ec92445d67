"""`hess envs`, `hess check-env` and `hess render`: our tasks, and one of them or of others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from hess import runtime


@dataclass(frozen=True)
class Envs:
    """List the tasks."""

    images: bool = True
    """Show the variants with a view from above as well."""

    def run(self) -> None:
        from hess.console import print_table
        from hess.envs import TASKS

        rows = []
        for task in TASKS.values():
            if self.images or not task.images:
                goal = ", ".join(f"{value:g}" for value in task.goal)
                sizes = str(task.horizon), str(task.observation)
                rows.append((task.id, task.robot, task.map, *sizes, f"({goal})"))
        numbers = ("horizon", "observation", "goal")
        print_table(("id", "robot", "map"), rows, numbers, fixed=2)


@dataclass(frozen=True)
class CheckEnv:
    """Say in one line each what of an environment fits HESS and what does not."""

    task: tyro.conf.Positional[str]
    """A name from `hess envs`, a Gymnasium id, or module:Env-v0."""
    env: tuple[str, ...] = ()
    """Arguments of the environment: --env random_goal=True reward=dense."""
    success: str = "auto"
    """What success is, as for `hess train`."""
    horizon: int | None = None
    """Steps per episode, where the environment has no limit or another one is wanted."""
    observe: tuple[str, ...] = ()
    """Keys of a Dict observation that the agent sees, as for `hess train`."""
    subgoal_interval: int | None = None
    """c: steps per subgoal, if not the default's."""
    capacity: int | None = None
    """Environment steps that the replay holds, if not the default's."""

    def run(self) -> int:
        """Print the findings; 2 if HESS could not train on it."""
        runtime.configure()
        from hess.config import Config, override
        from hess.envs.check import can_train, check_env
        from hess.training.probe import check_start

        given = {name: value for name, value in vars(self).items() if value is not None}
        wanted = override(Config(), given)
        checks = check_env(wanted)
        if can_train(checks):
            checks.append(check_start(wanted))
        width = max(len(check.name) for check in checks)
        for check in checks:
            verdict = "ok" if check.ok else "bad" if check.required else "note"
            print(f"{verdict:4}  {check.name:{width}}  {check.sentence}")
        trainable = can_train(checks)
        print(f"\nHESS {'can' if trainable else 'cannot'} train on {self.task}.")
        return 0 if trainable else 2


@dataclass(frozen=True)
class Render:
    """Draw a task: a picture of its start, a video of random actions."""

    task: tyro.conf.Positional[str]
    """A name from `hess envs`, a Gymnasium id, or module:Env-v0."""
    env: tuple[str, ...] = ()
    """Arguments of the environment: --env random_goal=True reward=dense."""
    out: Path | None = None
    """Where the picture goes: a .png or .jpg file."""
    video: Path | None = None
    """Where the video goes: an .mp4 or .gif file."""
    steps: int | None = None
    """Length of the video in steps; one whole episode by default."""
    seed: int = 0
    """Seed of start and actions."""

    def run(self) -> None:
        from hess.errors import HessError, require_at_least

        require_at_least("seed", self.seed, 0)
        if self.out is None and self.video is None:
            raise HessError("nothing to draw: give --out FILE.png, --video FILE.mp4, or both")
        runtime.configure()
        from hess.envs.making import drawing

        with drawing(self.task):
            from hess.envs.arguments import parse_arguments
            from hess.envs.rendering import render_picture, render_video

            arguments = parse_arguments(self.env)
            if self.out is not None:
                render_picture(self.task, self.out, self.seed, arguments)
                print(f"picture  {self.out}")
            if self.video is not None:
                render_video(self.task, self.video, self.seed, self.steps, arguments)
                print(f"video    {self.video}")
