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

    def run(self) -> int:
        """Print the findings; 2 if HESS could not train on it."""
        runtime.configure()
        from hess.envs.check import can_train, check_env

        checks = check_env(self.task)
        width = max(len(check.name) for check in checks)
        for check in checks:
            verdict = "ok" if check.ok else "bad" if check.required else "note"
            print(f"{verdict:4}  {check.name:{width}}  {check.sentence}")
        trainable = can_train(checks)
        verb = "can" if trainable else "cannot"
        print(f"\nHESS {verb} train on {self.task}.")
        return 0 if trainable else 2
