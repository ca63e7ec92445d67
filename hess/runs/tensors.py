"""Named arrays as bytes and back, and whether they are what a run expects. No pickle anywhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from hess.arrays import Arrays
from hess.errors import HessError
from hess.files import digest
from hess.learning.trees import matching
from hess.replay.episode import Episode

_HEADER = 2**20  # bytes that names and shapes may take
_GROWING = 2**31  # bytes that tables of visited cells and the like may take together
_SEAL = "digest"
_PENDING = "pending."
_MOST = 2**31  # no counter of a run comes near


def pack(arrays: Arrays) -> bytes:
    """A safetensors file."""
    # Not ascontiguousarray, which turns a scalar into an array of one element.
    return save({name: np.asarray(array, order="C") for name, array in arrays.items()})


def unpack(content: bytes, what: str) -> Arrays:
    """The arrays of a safetensors file; none is larger than the file."""
    try:
        arrays: Arrays = load(content)
    except (SafetensorError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise HessError(f"{what} is not a safetensors file: {error}") from error
    return arrays


def pack_sealed(arrays: Arrays) -> bytes:
    """A safetensors file that carries its own digest."""
    return pack(arrays | {_SEAL: _seal(arrays)})


def unpack_sealed(content: bytes, what: str) -> Arrays:
    """What `pack_sealed` wrote; a change of any number is noticed."""
    arrays = unpack(content, what)
    seal = arrays.pop(_SEAL, None)
    if seal is None or not np.array_equal(seal, _seal(arrays)):
        raise HessError(f"{what} is damaged: its digest does not fit")
    return arrays


def _seal(arrays: Arrays) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    parts = [
        f"{name} {arrays[name].dtype.str} {arrays[name].shape} ".encode() + arrays[name].tobytes()
        for name in sorted(arrays)
    ]
    return np.frombuffer(digest(b"".join(parts)).encode(), np.uint8)


def state_limit(expected: Arrays) -> int:
    """Bytes that the file of a state can have."""
    return _HEADER + _GROWING + sum(array.nbytes for array in expected.values())


def episodes_limit(like: Episode, count: int) -> int:
    """Bytes that a file of so many episodes can have."""
    return _HEADER + count * sum(array.nbytes for array in like)


def checked_state(arrays: Arrays, expected: Arrays) -> Arrays:
    """The arrays that a fresh run has as well, in the shapes they have there.

    What is empty in a fresh one (visited cells, recent successes) may have grown.
    """
    for name, like in expected.items():
        array = matching(arrays, name, like, grown=True)
        if array.ndim == 0 and array.dtype.kind == "i" and not 0 <= int(array) < _MOST:
            raise HessError(f"the checkpoint's counter {name!r} is {int(array)}")
    return {name: arrays[name] for name in expected}


def as_episodes(arrays: Arrays, like: Episode, count: int) -> Episode:
    """Stacked episodes, checked against one empty episode of the run. -> each [count, ...]."""
    for name, one in like._asdict().items():
        matching(arrays, name, np.broadcast_to(one, (count, *one.shape)))
    if set(arrays) != set(like._fields):
        raise HessError("the checkpoint's episodes have unknown fields")
    lengths = arrays["length"]
    if count and not (lengths.min() >= 1 and lengths.max() <= len(like.actions)):
        raise HessError("the checkpoint's episodes have impossible lengths")
    return Episode(**arrays)


def stack_pending(episodes: Sequence[Episode]) -> Arrays:
    """Episodes that were collected and not learned from yet, as part of a state."""
    return {
        _PENDING + name: np.stack([getattr(episode, name) for episode in episodes])
        for name in Episode._fields
        if episodes
    }


def unstack_pending(arrays: Arrays, like: Episode, most: int) -> list[Episode]:
    """Take the pending episodes out of a state's arrays."""
    names = [name for name in arrays if name.startswith(_PENDING)]
    stacked = {name.removeprefix(_PENDING): arrays.pop(name) for name in names}
    if not stacked:
        return []
    count = len(stacked["length"]) if stacked.get("length", np.zeros(())).ndim else 0
    if not 1 <= count <= most:
        raise HessError(f"the checkpoint has {count} pending episodes, there can be {most}")
    episodes = as_episodes(stacked, like, count)
    return [Episode(*(field[index] for field in episodes)) for index in range(count)]
