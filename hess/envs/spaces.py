"""What any Gymnasium environment gives and takes, as flat arrays: observations, goals, actions.

A Box of any shape is flattened. Of a Dict, `desired_goal` is the goal, and the rest is joined in
this order: `observation`, then all other keys by the alphabet. `achieved_goal` comes last, and only
where `observation` does not contain it already.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from hess.arrays import Floats
from hess.errors import HessError, unknown

ACHIEVED, DESIRED = "achieved_goal", "desired_goal"
_ONE_HOT = (spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)
_PROBED_STEPS = 10  # enough for a robot to leave a start at which everything is 0


class Observed(NamedTuple):
    """What an agent sees, and the achieved goal for analysis where there is one."""

    observation: Floats
    goal: Floats
    achieved: Floats | None


class Observer:
    """Turns what an environment returns into flat arrays."""

    def __init__(self, space: spaces.Space[Any], keys: Iterable[str] = ()):
        """`keys` of a Dict are what the agent sees, in that order; the usual ones without any."""
        self.space = space
        self.keys = tuple(keys) or usual_keys(space)
        if keys and not isinstance(space, spaces.Dict):
            raise HessError(
                f"observe={' '.join(self.keys)} names keys of a Dict, "
                f"the observation is a {type(space).__name__}"
            )
        self._parts = {key: _part(space, key) for key in self.keys}
        named = self._parts or {"the observation": space}
        self.observation_dim = sum(_size(part, name) for name, part in named.items())
        if self.observation_dim == 0:
            raise HessError("the observation has no numbers")
        self._goal = _part(space, DESIRED) if _has(space, DESIRED) else None
        self.goal_dim = _size(self._goal, DESIRED) if self._goal is not None else 0
        self._achieved = _part(space, ACHIEVED) if _has(space, ACHIEVED) else None

    def __call__(self, raw: Any) -> Observed:
        """Flat arrays, in the dtype that the environment gives."""
        if not self.keys:
            return Observed(_flat(self.space, raw), np.zeros(0), None)
        parts = [_flat(part, raw[key]) for key, part in self._parts.items()]
        observation = parts[0] if len(parts) == 1 else np.concatenate(parts)
        goal = np.zeros(0) if self._goal is None else _flat(self._goal, raw[DESIRED])
        achieved = None if self._achieved is None else _flat(self._achieved, raw[ACHIEVED])
        return Observed(observation, goal, achieved)

    def is_batch(self, raw: Any) -> bool:
        """Whether arrays have a leading axis for several environments."""
        if isinstance(self.space, spaces.Dict):
            key = self.keys[0]
            return Observer(self._parts[key]).is_batch(raw[key])
        if isinstance(self.space, spaces.Tuple):
            return Observer(self.space.spaces[0]).is_batch(raw[0])
        declared = len(self.space.shape or ())
        return np.ndim(raw) > declared

    @property
    def description(self) -> str:
        """For messages: what the agent sees."""
        seen = " + ".join(self.keys) if self.keys else "a Box"
        return f"{seen}, {_count(self.observation_dim)}" + (
            f"; goal {_count(self.goal_dim)}" if self.goal_dim else "; no goal is observed"
        )


def usual_keys(space: spaces.Space[Any]) -> tuple[str, ...]:
    """What an agent sees of a Dict, if its `observation` contains the achieved goal."""
    if not isinstance(space, spaces.Dict):
        return ()
    hidden = (ACHIEVED, DESIRED) if _has(space, DESIRED) else ()
    names = [key for key in space.spaces if key not in hidden]
    return tuple(sorted(names, key=lambda key: (key != "observation", key)))


def observed_keys(env: Any) -> tuple[str, ...]:
    """The keys that an agent sees of this environment, which is played for a few steps.

    An environment may say itself, by an attribute `observation_keys`.
    """
    space = env.observation_space
    keys = usual_keys(space)
    if not is_goal_space(space):
        return keys
    own = getattr(env.unwrapped, "observation_keys", None)
    if own is not None:
        return tuple(own)
    if not keys or not _contains_achieved(env, Observer(space, keys)):
        keys = (*keys, ACHIEVED)
    return keys


def is_goal_space(space: spaces.Space[Any]) -> bool:
    """Whether goals are observed: those to be reached, and those that are."""
    return _has(space, DESIRED) and _has(space, ACHIEVED)


def _contains_achieved(env: Any, observer: Observer) -> bool:
    """Whether the achieved goal stands at one place of the observation in every state."""
    env.action_space.seed(0)
    raw, _ = env.reset(seed=0)
    places = _places(observer(raw))
    for _ in range(_PROBED_STEPS):
        raw, _, terminated, truncated, _ = env.step(env.action_space.sample())
        places &= _places(observer(raw))
        if terminated or truncated:
            break
    return bool(places)


def _places(observed: Observed) -> set[int]:
    values, part = observed.observation, observed.achieved
    assert part is not None
    last = len(values) - len(part)
    return {
        place
        for place in range(last + 1)
        if np.array_equal(values[place : place + len(part)], part)
    }


def real_numbers(values: Floats) -> Floats:
    """The same as floats; float64 is passed on as it is. Raises for what is no real number."""
    if values.dtype == np.float64:
        return values
    if values.dtype.kind not in "fiub":
        raise TypeError(f"expected real numbers, found {values.dtype}")
    return values.astype(np.float64)


def _flat(space: spaces.Space[Any], value: Any) -> Floats:
    if isinstance(space, spaces.Box):
        return np.ravel(value)
    if isinstance(space, spaces.Dict):
        return np.concatenate([_flat(part, value[key]) for key, part in space.items()])
    if isinstance(space, spaces.Tuple):
        pairs = zip(space.spaces, value, strict=True)
        return np.concatenate([_flat(part, each) for part, each in pairs])
    return np.asarray(spaces.flatten(space, value))


def _size(space: spaces.Space[Any], name: str) -> int:
    """How many numbers `_flat` gives."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        parts = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces)
        return sum(_size(part, f"{name}.{key}") for key, part in parts)
    if isinstance(space, spaces.Box) and np.dtype(space.dtype).kind in "fiub":
        return int(np.prod(space.shape))
    if isinstance(space, _ONE_HOT):
        return spaces.flatdim(space)
    kind = type(space).__name__
    what = f"{kind} of {space.dtype}" if isinstance(space, spaces.Box) else kind
    raise HessError(f"{name} is a {what}; HESS reads Box spaces of real numbers, and Dicts of them")


def _has(space: Any, key: str) -> bool:
    return isinstance(space, spaces.Dict) and key in space.spaces


def _part(space: Any, key: str) -> spaces.Space[Any]:
    if key not in space.spaces:
        raise unknown("observation key", key, space.spaces)
    part: spaces.Space[Any] = space[key]
    return part


def _count(size: int) -> str:
    return "1 number" if size == 1 else f"{size:,} numbers"


# --- actions ------------------------------------------------------------------------------------


class ActionScale:
    """Scales, clips and shapes what an agent does to what an environment takes."""

    def __init__(self, space: spaces.Space[Any], share: float = 1.0):
        """`share` of the bounds is used, around their middle."""
        if not isinstance(space, spaces.Box):
            raise HessError(
                f"its actions are a {type(space).__name__}; HESS needs a Box with finite bounds"
            )
        low, high = np.asarray(space.low, np.float64), np.asarray(space.high, np.float64)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise HessError("its actions have no finite bounds; declare low and high of the Box")
        if low.size == 0 or not (low <= high).all() or (low == high).all():
            raise HessError("its actions leave no choice: no low is below its high")
        self.dim = int(low.size)
        self.low, self.high = low, high
        self._shape, self._dtype = space.shape, np.dtype(space.dtype)
        # Halves first: the difference of two large bounds can be more than a float holds.
        self._middle, self._half = high / 2 + low / 2, share * (high / 2 - low / 2)
        flat = len(space.shape) == 1 and self._dtype.kind == "f"
        self._is_unit = flat and bool((self._middle == 0).all() and (self._half == 1).all())

    def __call__(self, action: Floats) -> NDArray[Any]:
        """From [-1, 1] to the environment's own bounds. [action] -> the shape of the Box."""
        if self._is_unit:
            return action
        shaped = np.asarray(action, np.float64).reshape(self._shape)
        scaled = np.clip(self._middle + self._half * shaped, self.low, self.high)
        if self._dtype.kind in "iu":
            scaled = np.rint(scaled)
        return scaled.astype(self._dtype)

    @property
    def description(self) -> str:
        return f"{_count(self.dim)} in [{self.low.min():g}, {self.high.max():g}]"
