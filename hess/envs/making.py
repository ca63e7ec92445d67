"""From a task's name and its arguments to an environment, or to one sentence about why not."""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hess.errors import HessError, closest, unknown

if TYPE_CHECKING:
    import gymnasium

_UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")
_LONGEST_REASON = 300
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_ID = re.compile(r"(?!hess/).+-v\d+")


def build(
    task: str, identifier: str, arguments: Mapping[str, Any], known: Mapping[str, Any]
) -> gymnasium.Env[Any, Any]:
    """Make it; whatever it raises is a `HessError` that names the task."""
    import gymnasium

    try:
        return gymnasium.make(identifier, **arguments)
    except HessError:
        raise
    except (ImportError, gymnasium.error.DependencyNotInstalled) as error:
        raise HessError(f"cannot load the task {task!r}: {reason(error)}") from error
    except gymnasium.error.UnregisteredEnv as error:
        raise _unknown_task(task, known) from error
    except Exception as error:  # somebody else's environment may fail in any way
        unexpected = _UNEXPECTED.search(str(error))
        if isinstance(error, TypeError) and unexpected and unexpected[1] in arguments:
            # A parent may have one of this name that is not passed on to it.
            valid = [name for name in _argument_names(identifier) if name != unexpected[1]]
            raise unknown(f"{task} argument", unexpected[1], valid) from error
        raise HessError(f"cannot build the task {task!r}: it raised {raised(error)}") from error


def raised(error: BaseException) -> str:
    """What was raised and where, in one line: `ValueError (arm.py, line 12): no such joint`."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}{where}: {reason(error)}"


def reason(error: BaseException) -> str:
    """The first line of an exception's message, without colours."""
    lines = [line.strip() for line in _COLOUR.sub("", str(error)).splitlines() if line.strip()]
    text = lines[0] if lines else "no message"
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}..."


def _argument_names(identifier: str) -> list[str]:
    """What the environment's constructor takes, and those of its parents that it passes on to."""
    import gymnasium
    from gymnasium.envs.registration import load_env_creator

    spec = gymnasium.spec(identifier.rpartition(":")[2])  # its module is imported by now
    entry: Any = spec.entry_point
    creator: Any = load_env_creator(entry) if isinstance(entry, str) else entry
    names = set(spec.kwargs)
    constructors = inspect.getmro(creator) if inspect.isclass(creator) else (creator,)
    for each in constructors:
        if inspect.isclass(each) and "__init__" not in vars(each):
            continue
        parameters = list(inspect.signature(each).parameters.values())
        names |= {
            one.name for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        }
        if not any(one.kind is one.VAR_KEYWORD for one in parameters):
            break
    return sorted(names - {"self", "render_mode"})


def _unknown_task(task: str, known: Mapping[str, Any]) -> HessError:
    """The closest of our tasks; of an id that is none of ours, the closest that is registered."""
    import gymnasium

    module, _, name = task.rpartition(":")
    if not _ID.fullmatch(name):
        return unknown("task", task, known)
    ids = [each for each in gymnasium.registry if not each.startswith("hess/")]
    if found := closest(name, ids, cutoff=0.8):
        meant = f"{module}:{found}" if module else found
        return HessError(f"unknown task {task!r}; did you mean {meant!r}?")
    if module:
        return HessError(f"unknown task {task!r}; the module {module!r} registers no such id")
    return HessError(
        f"{unknown('task', task, known)}; an environment of another package is named together "
        "with it: gymnasium_robotics:PointMaze_UMaze-v3"
    )
