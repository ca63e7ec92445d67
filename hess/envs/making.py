"""From a task's name and its arguments to an environment, or to one sentence about why not."""

from __future__ import annotations

import inspect
import re
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hess.envs.registration import TASKS, register_all
from hess.errors import HessError, closest, unknown

if TYPE_CHECKING:
    import gymnasium

FAILURES = (Exception, SystemExit)  # somebody else's environment may fail in any way
_UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")
_LONGEST_REASON = 300
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_ID = re.compile(r"(?!hess/).+-v\d+")


def make(task: str, **arguments: Any) -> gymnasium.Env[Any, Any]:
    """Build a task: 'AntMaze', 'hess/AntMaze-v0', any Gymnasium id, or 'module:Env-v0'.

    Whatever it raises is a `HessError` that names the task.
    """
    import gymnasium

    register_all()
    identifier = TASKS[task].id if task in TASKS else task
    try:
        return gymnasium.make(identifier, **arguments)
    except HessError:
        raise
    except gymnasium.error.DependencyNotInstalled as error:
        raise HessError(f"cannot load the task {task!r}: {reason(error)}") from error
    except ImportError as error:
        raise _not_importable(task, identifier.rpartition(":")[0], error) from error
    except gymnasium.error.UnregisteredEnv as error:
        raise _unknown_task(task) from error
    except FAILURES as error:
        if str(error).startswith("Malformed environment ID"):
            raise _unknown_task(task) from error
        unexpected = _UNEXPECTED.search(str(error))
        if isinstance(error, TypeError) and unexpected and unexpected[1] in arguments:
            # A parent may have one of this name that is not passed on to it.
            valid = [name for name in _argument_names(identifier) if name != unexpected[1]]
            raise unknown(f"{task} argument", unexpected[1], valid) from error
        raise HessError(f"cannot build the task {task!r}: it raised {raised(error)}") from error


def raised(error: BaseException) -> str:
    """What was raised and where, in one line: `ValueError (arm.py, line 12): no such joint`."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith("<frozen importlib")
    ]
    if not frames:
        return f"{type(error).__name__}: {reason(error)}"
    last = frames[-1]
    where = f"{Path(last.filename).name}, line {last.lineno}"
    return f"{type(error).__name__} ({where}): {reason(error, last.line)}"


def reason(error: BaseException, source: str | None = None) -> str:
    """The first line of an exception's message, without colours; of none, the line of source."""
    lines = [line.strip() for line in _COLOUR.sub("", str(error)).splitlines() if line.strip()]
    text = lines[0] if lines else source or "no message"
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}..."


@contextmanager
def drawing(task: str) -> Iterator[None]:
    """Whatever a picture of it raises is a `HessError` that names the task."""
    try:
        yield
    except HessError:
        raise
    except FAILURES as error:
        raise HessError(f"cannot draw {task!r}: it raised {raised(error)}") from error


def close(env: gymnasium.Env[Any, Any], name: str) -> None:
    """Free the simulator; one that cannot even be closed must not cost a run its end."""
    try:
        env.close()
    except FAILURES as error:
        warnings.warn(f"the environment {name!r} close raised {raised(error)}", stacklevel=2)


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


def _not_importable(task: str, module: str, error: ImportError) -> HessError:
    """The module that the id names is missing; or what it imports is, and where it does so."""
    # Gymnasium raises anew what the import of a module raised.
    origin = error.__cause__ if isinstance(error.__cause__, ImportError) else error
    missing = module and origin.name in (module, module.partition(".")[0])
    why = reason(error) if missing else f"it raised {raised(origin)}"
    return HessError(f"cannot load the task {task!r}: {why}")


def _unknown_task(task: str) -> HessError:
    """The closest of our tasks; of an id that is none of ours, the closest that is registered."""
    import gymnasium

    module, _, name = task.rpartition(":")
    if not _ID.fullmatch(name):
        return unknown("task", task, TASKS)
    ids = [each for each in gymnasium.registry if not each.startswith("hess/")]
    if found := closest(name, ids, cutoff=0.8):
        meant = f"{module}:{found}" if module else found
        return HessError(f"unknown task {task!r}; did you mean {meant!r}?")
    if module:
        return HessError(f"unknown task {task!r}; the module {module!r} registers no such id")
    return HessError(
        f"{unknown('task', task, TASKS)}; an environment of another package is named together "
        "with it: gymnasium_robotics:PointMaze_UMaze-v3"
    )
