"""What a checkpoint of a full replay costs: only what is new is written."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hess.config import Config, override
from hess.replay.ring import Replay
from hess.runs.folder import RunFolder
from hess.training.display import PlainDisplay
from hess.training.trainer import Trainer

EPISODES = 2000  # of 500 steps


class Fake:
    """A trainer whose replay is full of noise, as if it had trained for so many episodes."""

    def __init__(self, path: Path):
        config: Config = override(Config(), {"task": "AntMaze"})
        self.trainer = Trainer(config, RunFolder(path), PlainDisplay(config.steps))
        rng = np.random.default_rng(0)

        def noise(ring: Any) -> Any:
            if ring.dtype == jnp.float32:
                return jnp.asarray(rng.standard_normal(ring.shape, np.float32))
            return jnp.full(ring.shape, 500 if ring.dtype == jnp.int32 else False)

        self._stored = jax.tree.map(noise, self.trainer.agent.replay.episodes)

    def pretend(self, episodes: int) -> None:
        self.trainer.agent.replay = Replay(self._stored, jnp.asarray(episodes, jnp.int32))
        self.trainer.agent.episodes, self.trainer.step = episodes, 500 * episodes

    def save(self) -> float:
        start = time.perf_counter()
        self.trainer._save()
        return time.perf_counter() - start


def size_of(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


@pytest.mark.faults
def test_a_checkpoint_of_a_million_steps_writes_what_is_new(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    fake.trainer._records.start()
    fake.pretend(EPISODES)
    first = fake.save()
    whole = size_of(tmp_path / "replay")
    fake.pretend(EPISODES + 100)
    later = fake.save()
    assert size_of(tmp_path / "replay") - whole < 1.1 * whole * 100 / EPISODES
    start = time.perf_counter()
    again = Fake(tmp_path)
    again.trainer._begin()
    assert again.trainer.agent.episodes == EPISODES + 100
    loading = time.perf_counter() - start
    print(f"{whole / 1e6:.0f} MB: first {first:.2f} s, later {later:.2f} s, load {loading:.2f} s")
