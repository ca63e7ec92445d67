"""Could HESS train on this environment? The checks behind `hess check-env`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from hess.envs import registry

GOAL_KEYS = ("observation", "achieved_goal", "desired_goal")
STEPS = 20
SEED = 0


@dataclass(frozen=True)
class Check:
    """One line of the report."""

    name: str
    ok: bool
    sentence: str
    required: bool = True
    """Whether HESS cannot train without it."""


class _MisfitError(Exception):
    """What does not fit, as a sentence."""


def check_env(task: str, **kwargs: Any) -> list[Check]:
    """Run all checks on an environment given by name, id or 'module:Env-v0'."""
    env = registry.make(task, **kwargs)
    try:
        return list(_run(env))
    finally:
        env.close()


def can_train(checks: list[Check]) -> bool:
    """Whether HESS could train on the environment that was checked."""
    return all(check.ok for check in checks if check.required)


def _run(env: Any) -> Iterator[Check]:
    required: tuple[tuple[str, Callable[[Any], str]], ...] = (
        ("observation", _observation),
        ("action bounds", _action),
        ("horizon", _horizon),
        ("reset and step", _values),
        ("success signal", _success),
    )
    for name, inspect in required:
        check = _try(name, inspect, env)
        yield check
        if name == "reset and step" and not check.ok:
            return
    if isinstance(env.observation_space, spaces.Dict):
        yield _try("compute_reward", _compute_reward, env, required=False)
    yield _try("seeding", _seeding, env, required=False)


def _try(name: str, inspect: Callable[[Any], str], env: Any, required: bool = True) -> Check:
    try:
        return Check(name, True, inspect(env), required)
    except _MisfitError as misfit:
        return Check(name, False, str(misfit), required)
    except Exception as error:  # a user's environment may fail in any way; the report says how
        reason = str(error).splitlines()[0] if str(error) else "no message"
        return Check(name, False, f"it failed with {type(error).__name__}: {reason}", required)


def _observation(env: Any) -> str:
    space: Any = env.observation_space
    if isinstance(space, spaces.Dict):
        missing = [key for key in GOAL_KEYS if key not in space.spaces]
        if missing:
            raise _MisfitError(
                f"the Dict observation lacks {', '.join(missing)}; a goal env has "
                f"{', '.join(GOAL_KEYS)}"
            )
        for key in GOAL_KEYS:
            _vector(space[key], key)
        if space["achieved_goal"].shape != space["desired_goal"].shape:
            raise _MisfitError(
                f"achieved_goal {space['achieved_goal'].shape} and desired_goal "
                f"{space['desired_goal'].shape} differ in shape"
            )
        extra = [key for key in space.spaces if key not in GOAL_KEYS]
        ignored = f"; {', '.join(extra)} will not be used" if extra else ""
        sizes = ", ".join(f"{key} {_size(space[key])}" for key in GOAL_KEYS)
        return f"a goal env: {sizes}{ignored}"
    _vector(space, "the observation")
    return f"a plain Box of {_size(space)}; no goal is observed"


def _size(space: Any) -> str:
    return "1 number" if space.shape[0] == 1 else f"{space.shape[0]} numbers"


def _vector(space: Any, name: str) -> None:
    if not isinstance(space, spaces.Box):
        raise _MisfitError(f"{name} is a {type(space).__name__}, HESS needs a Box of numbers")
    if len(space.shape) != 1 or space.shape[0] == 0:
        raise _MisfitError(
            f"{name} has the shape {space.shape}, HESS needs one flat row of numbers"
        )


def _action(env: Any) -> str:
    space = env.action_space
    _vector(space, "the action")
    if not (np.isfinite(space.low).all() and np.isfinite(space.high).all()):
        raise _MisfitError("the action has no finite bounds; declare low and high of the Box")
    if not (space.low < space.high).all():
        raise _MisfitError("an action's low is not below its high")
    low, high = float(space.low.min()), float(space.high.max())
    return f"{_size(space)} in [{low:g}, {high:g}]"


def _horizon(env: Any) -> str:
    steps = getattr(env.spec, "max_episode_steps", None)
    if steps is None:
        raise _MisfitError("unknown; give max_episode_steps when you register the environment")
    return f"{steps} steps"


def _values(env: Any) -> str:
    """Reset, then a few random steps: numbers in the declared shapes, all finite."""
    env.action_space.seed(SEED)
    observation, _ = env.reset(seed=SEED)
    _fits(env, observation, "reset()")
    for _ in range(STEPS):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        _fits(env, observation, "step()")
        if not math.isfinite(float(reward)):
            raise _MisfitError(f"step() gave the reward {reward}")
        if terminated or truncated:
            env.reset()
    return f"{STEPS} random steps gave finite numbers in the declared shapes"


def _fits(env: Any, observation: Any, source: str) -> None:
    space: Any = env.observation_space
    goal_env = isinstance(space, spaces.Dict)
    parts = {key: space[key] for key in GOAL_KEYS} if goal_env else {"the observation": space}
    for key, part in parts.items():
        value = observation[key] if goal_env else observation
        if not isinstance(value, np.ndarray) or value.shape != part.shape:
            shape = getattr(value, "shape", type(value).__name__)
            raise _MisfitError(f"{source} gave {key} {shape}, declared is {part.shape}")
        if not np.can_cast(value.dtype, part.dtype, "same_kind"):
            raise _MisfitError(f"{source} gave {key} as {value.dtype}, declared is {part.dtype}")
        if not np.isfinite(value).all():
            raise _MisfitError(f"{source} gave NaN or infinity in {key}")


def _success(env: Any) -> str:
    env.action_space.seed(SEED)
    env.reset(seed=SEED)
    _, _, _, _, info = env.step(env.action_space.sample())
    if "is_success" not in info:
        raise _MisfitError('step() puts no "is_success" into info; success rates need it')
    value = np.asarray(info["is_success"])
    if value.shape != () or float(value) not in (0.0, 1.0):
        raise _MisfitError(f'info["is_success"] is {info["is_success"]!r}, not True or False')
    return 'info["is_success"] at every step'


def _compute_reward(env: Any) -> str:
    compute = getattr(env.unwrapped, "compute_reward", None)
    if compute is None:
        raise _MisfitError("none; goals cannot be relabelled, HESS itself does not need it")
    env.action_space.seed(SEED)
    env.reset(seed=SEED)
    achieved, desired, infos, rewards = [], [], [], []
    for _ in range(4):
        observation, reward, _, _, info = env.step(env.action_space.sample())
        achieved.append(observation["achieved_goal"])
        desired.append(observation["desired_goal"])
        infos.append(info)
        rewards.append(float(reward))
    batch = np.asarray(compute(np.stack(achieved), np.stack(desired), np.array(infos)))
    if batch.shape != (4,):
        raise _MisfitError(f"on a batch of 4 goals it gave the shape {batch.shape}, not (4,)")
    single = [float(compute(*each)) for each in zip(achieved, desired, infos, strict=True)]
    if not (np.allclose(batch, rewards) and np.allclose(single, rewards)):
        raise _MisfitError("it does not give the rewards that step() gave")
    return "agrees with step(), on single goals and on batches"


def _seeding(env: Any) -> str:
    first, second = (_trajectory(env) for _ in range(2))
    if not all(np.array_equal(a, b) for a, b in zip(first, second, strict=True)):
        raise _MisfitError(
            "two episodes with the same seed and actions differ: runs cannot be repeated"
        )
    return "same seed, same trajectory"


def _trajectory(env: Any) -> list[Any]:
    env.action_space.seed(SEED)
    observation, _ = env.reset(seed=SEED)
    trajectory = [_flat(observation)]
    for _ in range(STEPS):
        observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
        trajectory.append(_flat(observation))
        if terminated or truncated:
            break
    return trajectory


def _flat(observation: Any) -> Any:
    if isinstance(observation, dict):
        return np.concatenate([np.ravel(observation[key]) for key in GOAL_KEYS])
    return np.array(observation)
