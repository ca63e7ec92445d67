"""Could HESS train on this environment? The checks behind `hess check-env`.

They use the parts that training uses: what is said here is what happens there.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils.env_checker import data_equivalence

from hess.config import Config
from hess.envs.arguments import make_keywords
from hess.envs.making import FAILURES, close, make, raised
from hess.envs.spaces import (
    ACHIEVED,
    DESIRED,
    ActionScale,
    Observer,
    is_goal_space,
    observed_keys,
    real_numbers,
    usual_keys,
)
from hess.envs.success import SuccessSignal
from hess.errors import HessError

STEPS = 20
SEED = 0
_LONGEST = 1_000  # steps to look for a success signal where the horizon is unknown


@dataclass(frozen=True)
class Check:
    """One line of the report."""

    name: str
    ok: bool
    sentence: str
    required: bool = True
    """Whether HESS cannot train without it."""


def check_env(config: Config) -> list[Check]:
    """Run all checks on the environment of a config."""
    env = make(config.task, **make_keywords(config.env, config.horizon))
    try:
        return list(_run(env, config))
    finally:
        close(env, config.task)


def can_train(checks: list[Check]) -> bool:
    """Whether HESS could train on the environment that was checked."""
    return all(check.ok for check in checks if check.required)


def _run(env: Any, config: Config) -> Iterator[Check]:
    required: tuple[tuple[str, Callable[[Any, Config], str]], ...] = (
        ("observation", _observation),
        ("action bounds", lambda env, _: ActionScale(env.action_space).description),
        ("horizon", _horizon),
        ("reset and step", _values),
        ("success signal", _success),
    )
    for name, inspect in required:
        yield (check := _try(name, inspect, env, config))
        if name == "reset and step" and not check.ok:
            return
    if is_goal_space(env.observation_space):
        yield _try("compute_reward", _compute_reward, env, config, required=False)
    yield _try("seeding", _seeding, env, config, required=False)
    yield _try("subgoals", _subgoals, env, config, required=False)


def _try(
    name: str,
    inspect: Callable[[Any, Config], str],
    env: Any,
    config: Config,
    required: bool = True,
) -> Check:
    try:
        return Check(name, True, inspect(env, config), required)
    except HessError as misfit:
        return Check(name, False, str(misfit), required)
    except FAILURES as error:  # the report says how
        return Check(name, False, f"it failed with {raised(error)}", required)


def _observer(env: Any, config: Config) -> Observer:
    return Observer(env.observation_space, config.observe or observed_keys(env))


def _observation(env: Any, config: Config) -> str:
    space: Any = env.observation_space
    observer = _observer(env, config)
    if not isinstance(space, spaces.Dict):
        flattened = "" if len(space.shape or ()) == 1 else f"; flattened from {space.shape}"
        return f"{observer.description}{flattened}"
    added = observer.keys[-1] == ACHIEVED and not config.observe
    why = f"; {ACHIEVED} is added, since the observation lacks it" if added else ""
    kind = "a goal env" if observer.goal_dim else "a Dict"
    hidden = [key for key in usual_keys(space) if key not in observer.keys]
    unused = f"; {', '.join(hidden)} will not be used" if hidden else ""
    return f"{kind}: {observer.description}{why}{unused}"


def _horizon(env: Any, _: Config) -> str:
    steps = getattr(env.spec, "max_episode_steps", None)
    if steps is None:
        raise HessError(
            "unknown; give --horizon STEPS, or max_episode_steps when you register the environment"
        )
    return f"{steps} steps"


def _random_steps(env: Any) -> Iterator[Any]:
    """What random actions, always the same ones, lead to; the next episode follows on an end."""
    env.action_space.seed(SEED)
    env.reset(seed=SEED)
    while True:
        outcome = env.step(env.action_space.sample())
        yield outcome
        _, _, terminated, truncated, _ = outcome
        if terminated or truncated:
            env.reset()


def _values(env: Any, config: Config) -> str:
    """Reset, then a few random steps: numbers in the declared shapes, all finite."""
    observer = _observer(env, config)
    _fits(observer, env.reset(seed=SEED)[0], "reset()")
    for observation, reward, *_ in islice(_random_steps(env), STEPS):
        _fits(observer, observation, "step()")
        if not math.isfinite(float(reward)):
            raise HessError(f"step() gave the reward {reward}")
    return f"{STEPS} random steps gave finite numbers in the declared shapes"


def _fits(observer: Observer, raw: Any, source: str) -> None:
    observed = observer(raw)
    for name, values, size in (
        ("an observation", observed.observation, observer.observation_dim),
        ("a goal", observed.goal, observer.goal_dim),
    ):
        if values.size != size:
            raise HessError(f"{source} gave {name} of {values.size} numbers, declared are {size}")
        if not np.isfinite(real_numbers(values)).all():
            raise HessError(f"{source} gave NaN or infinity in {name}")


def _success(env: Any, config: Config) -> str:
    """One episode at most; of most environments the first step tells."""
    signal = SuccessSignal(config.success)
    longest = getattr(env.spec, "max_episode_steps", None) or _LONGEST
    for _, reward, terminated, truncated, info in islice(_random_steps(env), longest):
        signal(float(reward), bool(terminated), info)
        if signal.is_settled or terminated or truncated:
            break
    missing = signal.missing()
    if missing is not None:
        raise HessError(f"the environment {missing}")
    return signal.description


def _compute_reward(env: Any, _: Config) -> str:
    compute = getattr(env.unwrapped, "compute_reward", None)
    if compute is None:
        raise HessError("none; goals cannot be relabelled, HESS itself does not need it")
    achieved, desired, infos, rewards = [], [], [], []
    for observation, reward, _, _, info in islice(_random_steps(env), 4):
        achieved.append(observation[ACHIEVED])
        desired.append(observation[DESIRED])
        infos.append(info)
        rewards.append(float(reward))
    batch = np.asarray(compute(np.stack(achieved), np.stack(desired), np.array(infos)))
    if batch.shape != (4,):
        raise HessError(f"on a batch of 4 goals it gave the shape {batch.shape}, not (4,)")
    single = [float(compute(*each)) for each in zip(achieved, desired, infos, strict=True)]
    if not (np.allclose(batch, rewards) and np.allclose(single, rewards)):
        raise HessError("it does not give the rewards that step() gave")
    return "agrees with step(), on single goals and on batches"


def _seeding(env: Any, _: Config) -> str:
    if not data_equivalence(_trajectory(env), _trajectory(env), exact=True):
        raise HessError(
            "two episodes with the same seed and actions differ: runs cannot be repeated"
        )
    return "same seed, same trajectory"


def _subgoals(env: Any, config: Config) -> str:
    dim = config.representation.dimensions(_observer(env, config).observation_dim)
    return f"φ will have {dim} dimension{'s' * (dim > 1)}; --representation.dim for another number"


def _trajectory(env: Any) -> list[Any]:
    """Of one episode."""
    trajectory = [copy.deepcopy(env.reset(seed=SEED)[0])]  # it may be the environment's own array
    for observation, _, terminated, truncated, _ in islice(_random_steps(env), STEPS):
        trajectory.append(copy.deepcopy(observation))
        if terminated or truncated:
            break
    return trajectory
