"""Scripted robots that several tests use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from hess.envs import make
from hess.errors import HessError

Drive = Callable[[Any, Sequence[tuple[float, float]]], dict[str, Any]]


@pytest.fixture
def build() -> Iterator[Callable[..., Any]]:
    """`hess.envs.make`, closing everything it made."""
    made = []

    def build_one(task: str, **kwargs: Any) -> Any:
        made.append(make(task, **kwargs))
        return made[-1]

    yield build_one
    for env in made:
        env.close()


@pytest.fixture
def drag_ant() -> Drive:
    """Pull the ant's torso from waypoint to waypoint with a force that its legs could give."""

    def drag(env: Any, waypoints: Sequence[tuple[float, float]]) -> dict[str, Any]:
        data, info = env.unwrapped.data, {}
        for waypoint in waypoints:
            for _ in range(150):
                away = np.array(waypoint) - data.qpos[:2]
                if np.hypot(*away) < 0.5:
                    break
                force = 12.0 * away - 6.0 * data.qvel[:2]
                force *= min(1.0, 15.0 / np.hypot(*force))
                data.xfrc_applied[1, :3] = *force, 5.0  # half its weight is carried
                *_, info = env.step(np.zeros(8))
            else:
                pytest.fail(f"stuck at {data.qpos[:2]} on the way to {waypoint}")
        return info

    return drag


@pytest.fixture(scope="session")
def drawing() -> None:
    """Skip where the machine cannot draw; `hess doctor` says what is missing."""
    env = make("PointMaze", render_mode="rgb_array")
    try:
        env.reset(seed=0)
        env.render()
    except HessError as error:
        pytest.skip(str(error))
    finally:
        env.close()
