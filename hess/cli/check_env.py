"""`hess check-env`."""

from __future__ import annotations

from dataclasses import dataclass

import tyro

from hess import runtime


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

    def run(self) -> int:
        """Print the findings; 2 if HESS could not train on it."""
        runtime.configure()
        from hess.envs.check import Wanted, can_train, check_env

        wanted = Wanted(self.env, self.success, self.horizon, self.observe)
        checks = check_env(self.task, wanted)
        width = max(len(check.name) for check in checks)
        for check in checks:
            verdict = "ok" if check.ok else "bad" if check.required else "note"
            print(f"{verdict:4}  {check.name:{width}}  {check.sentence}")
        trainable = can_train(checks)
        verb = "can" if trainable else "cannot"
        print(f"\nHESS {verb} train on {self.task}.")
        return 0 if trainable else 2
