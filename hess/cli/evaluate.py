"""`hess evaluate`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro


@dataclass(frozen=True)
class Evaluate:
    """Evaluate the agent of a run with deterministic policies."""

    run_folder: tyro.conf.Positional[Path]
    """A run folder, as `hess train` printed it."""
    episodes: int = 100
    """Episodes to play."""
    seed: int = 0
    """Seed of the episodes."""
    task: str | None = None
    """The run's task, if it is a module:Env-v0: naming it says that you trust the module."""
    method: str | None = None
    """The run's method, if it is a module:name: naming it says that you trust the module."""
    env: tuple[str, ...] = ()
    """Arguments of the environment that differ from those of training."""
    success: str | None = None
    """What success is, if not as in training."""
    video: Path | None = None
    """Also film the first episodes, with the subgoals pursued, as .mp4 or .gif."""

    def run(self) -> int:
        """Play and print the success rate."""
        from hess import runtime
        from hess.envs.arguments import parse_arguments
        from hess.errors import HessError

        if self.episodes < 1:
            raise HessError(f"episodes={self.episodes} is impossible; it must be at least 1")
        runtime.configure()
        import hess

        agent = hess.load(self.run_folder, task=self.task, method=self.method)
        arguments = parse_arguments(self.env)
        result = agent.evaluate(self.episodes, self.seed, env=arguments, success=self.success)
        print(
            f"success rate {result.success_rate:.2f} ({result.success_at_end:.2f} at the last "
            f"step), mean return {result.mean_return:.2f} "
            f"over {self.episodes} episodes at step {agent.step:,}"
        )
        if self.video is not None:
            from hess.analysis.video import record_video
            from hess.runs.folder import RunFolder

            record_video(agent, RunFolder(self.run_folder), self.video, self.seed)
            print(f"video {self.video}")
        return 0
