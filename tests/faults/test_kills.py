"""SIGKILL at any moment: the run resumes, and nobody can tell from its outcome."""

from __future__ import annotations

import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from subprocess import Popen, TimeoutExpired

import numpy as np
import pytest

from hess.config import Config
from tests.faults.runs import command, finish, outcome, path_of, start, tiny_config

_POLL = 0.001  # seconds between two looks at a program
_MOMENTS = ("any", "training", "saving", "saving")


class Killer:
    """Kills the programs that train a config, so many times, at moments drawn from its seed."""

    def __init__(self, config: Config, kills: int, folder: Path, cache: Path):
        self._config, self._kills, self._folder, self._cache = config, kills, folder, cache
        self._rng = np.random.default_rng(config.seed)
        self._seconds = 0.0  # that a program takes from start to end
        self.done: Counter[str] = Counter()

    def run(self) -> None:
        """Kill runs until there are no kills left; each has to end like one left in peace."""
        undisturbed = self._folder / "undisturbed"
        begin = time.perf_counter()
        ended = finish(command(self._config, undisturbed), self._cache)
        assert ended.code == 0, ended.errors
        self._seconds = time.perf_counter() - begin
        expected = outcome(path_of(self._config, undisturbed))
        while self.done["killed"] < self._kills:
            self.done["runs"] += 1
            runs = self._folder / f"killed-{self.done['runs']}"
            self._torment(runs)
            assert outcome(path_of(self._config, runs)) == expected
            assert not list(runs.rglob("*.tmp"))

    def _torment(self, runs: Path) -> None:
        """Start a run again and again until it has finished."""
        path = path_of(self._config, runs)
        while True:
            process = start(command(self._config, runs), self._cache)
            moment = str(self._rng.choice(_MOMENTS))
            if self.done["killed"] < self._kills and self._kill(moment, process, path):
                self.done.update(("killed", moment))
                self.done["torn"] += is_saving(path)
            _, errors = process.communicate()
            if process.returncode != -signal.SIGKILL:
                assert process.returncode == 0, errors
                return

    def _kill(self, moment: str, process: Popen[str], path: Path) -> bool:
        """Kill the program at such a moment; False if it came to its end before."""
        seconds, rounds = self._rng.uniform(0, self._seconds), int(self._rng.integers(1, 12))
        metrics, size, begin = path / "metrics.jsonl", 0, time.perf_counter()
        while True:
            with suppress(TimeoutExpired):
                process.wait(_POLL)
                return False
            if moment == "any":
                due = time.perf_counter() - begin > seconds
            elif moment == "training":
                now = metrics.stat().st_size if metrics.exists() else 0
                rounds -= now > size > 0
                due, size = rounds <= 0, now
            else:
                due = is_saving(path) and self._rng.random() < 0.3
            if due:
                process.kill()
                process.wait()
                return True


def is_saving(path: Path) -> bool:
    """A file is being written, or a checkpoint has no manifest yet."""
    checkpoints = list((path / "checkpoints").glob("0*"))
    unnamed = [file for folder in (path / "replay", *checkpoints) for file in folder.glob(".*.tmp")]
    return bool(unnamed) or any(not (each / "manifest.json").exists() for each in checkpoints)


def test_a_few_kills_change_nothing(tmp_path: Path, cache: Path) -> None:
    Killer(tiny_config(), 2, tmp_path, cache).run()


CASES = {
    "pipelined": (tiny_config(seed=1), 18),
    "two at a time": (tiny_config(seed=2, num_envs=2), 18),
    "one after the other": (tiny_config(seed=3, pipeline=False), 18),
    "two, one after the other": (tiny_config(seed=4, num_envs=2, pipeline=False), 14),
    "hess": (tiny_config(seed=5, method="hess"), 14),
    "hess, two at a time": (tiny_config(seed=6, method="hess", num_envs=2), 14),
    "sac": (tiny_config(seed=7, method="sac"), 12),
}
assert sum(kills for _, kills in CASES.values()) >= 100


@pytest.mark.faults
@pytest.mark.parametrize("case", CASES)
def test_a_hundred_kills_change_nothing(case: str, tmp_path: Path, cache: Path) -> None:
    config, kills = CASES[case]
    killer = Killer(config, kills, tmp_path, cache)
    killer.run()
    print(f"{case}: {dict(killer.done)}")
    assert killer.done["torn"] >= 1
