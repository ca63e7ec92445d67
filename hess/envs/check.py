"""Could HESS train on this environment? The checks behind `hess check-env`.

They use the parts that training uses: what is said here is what happens there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from hess.config import Config
from hess.envs import registry
from hess.envs.arguments import make_keywords
from hess.envs.making import FAILURES, close, raised
from hess.envs.memory import machine_memory, most_memory
from hess.envs.spaces import (
    ACHIEVED,
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


_AS_IT_IS = Config()


def check_env(task: str, wanted: Config = _AS_IT_IS, **kwargs: Any) -> list[Check]:
    """Run all checks on an environment given by name, id or 'module:Env-v0'.

    How it is to be made and read is `wanted`: env, success, horizon and observe of a config, and
    the capacity that its replay is to have.
    """
    env = registry.make(task, **make_keywords(wanted.env, wanted.horizon), **kwargs)
    try:
        return list(_run(env, wanted))
    finally:
        close(env, task)


def can_train(checks: list[Check]) -> bool:
    """Whether HESS could train on the environment that was checked."""
    return all(check.ok for check in checks if check.required)


def _run(env: Any, wanted: Config) -> Iterator[Check]:
    required: tuple[tuple[str, Callable[[Any, Config], str]], ...] = (
        ("observation", _observation),
        ("action bounds", lambda env, _: ActionScale(env.action_space).description),
        ("horizon", _horizon),
        ("reset and step", _values),
        ("success signal", _success),
    )
    fits = True
    for name, inspect in required:
        check = _try(name, inspect, env, wanted)
        fits &= check.ok
        yield check
        if name == "reset and step" and not check.ok:
            return
    if is_goal_space(env.observation_space):
        yield _try("compute_reward", _compute_reward, env, wanted, required=False)
    yield _try("seeding", _seeding, env, wanted, required=False)
    yield _try("subgoals", _subgoals, env, wanted, required=False)
    if fits:
        yield _try("replay", _replay, env, wanted)


def _try(
    name: str,
    inspect: Callable[[Any, Config], str],
    env: Any,
    wanted: Config,
    required: bool = True,
) -> Check:
    try:
        return Check(name, True, inspect(env, wanted), required)
    except HessError as misfit:
        return Check(name, False, str(misfit), required)
    except FAILURES as error:  # the report says how
        return Check(name, False, f"it failed with {raised(error)}", required)


def _observer(env: Any, wanted: Config) -> Observer:
    return Observer(env.observation_space, wanted.observe or observed_keys(env))


def _observation(env: Any, wanted: Config) -> str:
    space: Any = env.observation_space
    observer = _observer(env, wanted)
    if not isinstance(space, spaces.Dict):
        flattened = "" if len(space.shape or ()) == 1 else f"; flattened from {space.shape}"
        return f"{observer.description}{flattened}"
    added = observer.keys[-1] == ACHIEVED and not wanted.observe
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


def _values(env: Any, wanted: Config) -> str:
    """Reset, then a few random steps: numbers in the declared shapes, all finite."""
    observer = _observer(env, wanted)
    env.action_space.seed(SEED)
    observation, _ = env.reset(seed=SEED)
    _fits(observer, observation, "reset()")
    for _ in range(STEPS):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        _fits(observer, observation, "step()")
        if not math.isfinite(float(reward)):
            raise HessError(f"step() gave the reward {reward}")
        if terminated or truncated:
            env.reset()
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


def _success(env: Any, wanted: Config) -> str:
    """One episode at most; of most environments the first step tells."""
    signal = SuccessSignal(wanted.success)
    env.action_space.seed(SEED)
    env.reset(seed=SEED)
    for _ in range(getattr(env.spec, "max_episode_steps", None) or _LONGEST):
        _, reward, terminated, truncated, info = env.step(env.action_space.sample())
        signal(float(reward), bool(terminated), info)
        if signal.is_settled or terminated or truncated:
            break
    missing = signal.missing()
    if missing is not None:
        raise HessError(f"the environment {missing}")
    return signal.description


def _compute_reward(env: Any, wanted: Config) -> str:
    compute = getattr(env.unwrapped, "compute_reward", None)
    if compute is None:
        raise HessError("none; goals cannot be relabelled, HESS itself does not need it")
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
        raise HessError(f"on a batch of 4 goals it gave the shape {batch.shape}, not (4,)")
    single = [float(compute(*each)) for each in zip(achieved, desired, infos, strict=True)]
    if not (np.allclose(batch, rewards) and np.allclose(single, rewards)):
        raise HessError("it does not give the rewards that step() gave")
    return "agrees with step(), on single goals and on batches"


def _seeding(env: Any, _: Config) -> str:
    first, second = (_trajectory(env) for _ in range(2))
    if not all(np.array_equal(a, b) for a, b in zip(first, second, strict=True)):
        raise HessError(
            "two episodes with the same seed and actions differ: runs cannot be repeated"
        )
    return "same seed, same trajectory"


def _subgoals(env: Any, wanted: Config) -> str:
    dim = wanted.representation.dimensions(_observer(env, wanted).observation_dim)
    return f"φ will have {dim} dimension{'s' * (dim > 1)}; --representation.dim for another number"


def _replay(env: Any, wanted: Config) -> str:
    """Pictures as observations can ask for more memory than there is."""
    observer = _observer(env, wanted)
    numbers = observer.observation_dim + observer.goal_dim + ActionScale(env.action_space).dim
    needed = 4 * numbers * wanted.capacity
    if needed > most_memory():
        raise HessError(
            f"{wanted.capacity:,} steps need {needed / 1e9:.0f} GB, this machine has "
            f"{machine_memory() / 1e9:.0f}; give a smaller --capacity"
        )
    return f"{needed / 1e9:.1f} GB when full"


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
        return np.concatenate([np.ravel(_flat(observation[key])) for key in sorted(observation)])
    return np.array(observation)
