"""The `hess` command: finds the sub-command, parses its flags, runs it.

Only the module of the sub-command in question is imported, and these import what is heavy when
they run, so that help and typing errors are answered at once.
"""

from __future__ import annotations

import contextlib
import io
import os
import pkgutil
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Protocol, TypeVar

from hess.errors import HessError, unknown


class Runnable(Protocol):
    """A parsed sub-command."""

    def run(self) -> int | None:
        """Do it; the exit code, None for success."""


@dataclass(frozen=True)
class Command:
    """A row of the table of sub-commands."""

    name: str
    group: str
    target: str
    """"module:Class" of a frozen dataclass: its docstring and fields become the help."""

    def load(self) -> type[Runnable]:
        loaded: type[Runnable] = pkgutil.resolve_name(self.target)
        return loaded


COMMANDS = (
    Command("envs", "Tasks", "hess.cli.tasks:Envs"),
    Command("check-env", "Tasks", "hess.cli.tasks:CheckEnv"),
    Command("render", "Tasks", "hess.cli.tasks:Render"),
    Command("methods", "Training", "hess.cli.train:Methods"),
    Command("train", "Training", "hess.cli.train:Train"),
    Command("evaluate", "Training", "hess.cli.train:Evaluate"),
    Command("sweep", "Many runs", "hess.cli.sweep:Sweep"),
    Command("sweep status", "Many runs", "hess.cli.sweep:Status"),
    Command("reproduce", "Many runs", "hess.cli.reproduce:Reproduce"),
    Command("compare", "Many runs", "hess.cli.compare:Compare"),
    Command("plot", "Look", "hess.cli.look:Plot"),
    Command("report", "Look", "hess.cli.look:Report"),
    Command("view", "Look", "hess.cli.look:View"),
    Command("doctor", "Machine", "hess.cli.doctor:Doctor"),
    Command("bench", "Machine", "hess.cli.bench:Bench"),
)

INTERRUPTED = 130
BAD_INPUT = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code."""
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # module:Env-v0 also finds a module beside the user
    return exit_code(lambda: _dispatch(list(sys.argv[1:] if argv is None else argv)))


def exit_code(command: Callable[[], int | None]) -> int:
    """Run a command; what a user can put right is a sentence, not a traceback."""
    try:
        code = command() or 0
        sys.stdout.flush()
        return code
    except HessError as error:
        print(f"hess: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (`hess envs | head`) has left; Python must not complain at exit about it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _dispatch(arguments: list[str]) -> int | None:
    name = arguments[0] if arguments else None
    if name in ("-h", "--help", "help"):
        print(overview())
        return 0
    if name in ("-V", "--version"):
        from importlib.metadata import version

        print(f"hess {version('hess')}")
        return 0
    if name is None:
        print(overview(), file=sys.stderr)
        return BAD_INPUT
    commands = {command.name: command for command in COMMANDS}
    if name not in commands:
        raise unknown("command", name, commands)
    arguments = arguments[1:]
    if arguments and f"{name} {arguments[0]}" in commands:
        name, arguments = f"{name} {arguments[0]}", arguments[1:]
    return parse(commands[name].load(), f"hess {name}", arguments).run()


def overview() -> str:
    """What `hess --help` prints: the sub-commands in their groups."""
    lines = [
        "usage: hess COMMAND [FLAGS]",
        "",
        "Hierarchical exploration with stable subgoal representations, for sparse rewards.",
    ]
    width = max(len(command.name) for command in COMMANDS)
    for group, commands in groupby(COMMANDS, key=lambda command: command.group):
        lines += ["", f"{group}:"]
        for command in commands:
            summary = (command.load().__doc__ or "").partition("\n")[0]
            lines.append(f"  {command.name:{width}}  {summary}")
    lines += ["", "hess COMMAND --help shows the flags of a command, hess --version the version."]
    return "\n".join(lines)


def resume_command() -> str:
    """The command line that was typed; given again, it goes on."""
    return shlex.join([*_program(), *sys.argv[1:]])


def signal_code(number: int) -> int:
    """What shells and schedulers expect of a program that a signal has ended."""
    return 128 + number


def _program() -> list[str]:
    """`hess`, or what was typed where the PATH does not lead to this one."""
    found, typed = shutil.which("hess"), sys.argv[0]
    if found and os.path.exists(typed) and os.path.samefile(found, typed):
        return ["hess"]
    return [typed] if os.access(typed, os.X_OK) else [sys.executable, typed]


# --- flags from a dataclass, and tyro's error boxes as one sentence -----------------------------


Parsed = TypeVar("Parsed")

_LISTS = ("--env", "--observe")
_SIDES = "│|╭╮╰╯+ "
_RULES = "─-"


def parse(command: type[Parsed], program: str, arguments: Sequence[str]) -> Parsed:
    """Build the dataclass from the arguments; bad ones are a `HessError`.

    A dataclass with a classmethod `defaults(arguments)` gets its default values from there, so
    that one flag (a preset) can decide the defaults of others.
    """
    import tyro

    options = (
        tyro.conf.HelptextFromCommentsOff,  # comments explain code, docstrings explain flags
        tyro.conf.PositionalMetavarFromFieldName,
    )
    defaults = getattr(command, "defaults", None)
    default: Parsed = defaults(arguments) if defaults else tyro.MISSING_NONPROP
    errors = io.StringIO()
    try:
        with contextlib.redirect_stderr(errors):
            return tyro.cli(
                command, prog=program, args=merged(arguments), default=default, config=options
            )
    except SystemExit as leaving:
        if leaving.code in (0, None):  # --help
            raise
        raise HessError(sentence(errors.getvalue())) from None


def merged(arguments: Sequence[str]) -> list[str]:
    """Lists of names and values that are given in parts; the parser would keep the last part alone.

    >>> merged(["Maze-v0", "--env", "size=3", "--seed", "1", "--env", "reward=dense"])
    ['Maze-v0', '--seed', '1', '--env', 'size=3', 'reward=dense']
    """
    lists: dict[str, list[str]] = {}
    others: list[str] = []
    current = others
    for argument in arguments:
        flag, equals, value = argument.partition("=")
        if flag in _LISTS:
            values = lists.setdefault(flag, [flag])
            values += [value] if equals else []
            current = others if equals else values
        else:
            current = others if argument.startswith("--") else current
            current.append(argument)
    return [*others, *chain.from_iterable(lists.values())]


def sentence(box: str) -> str:
    """The text inside of a box, its parts joined by semicolons.

    >>> sentence("╭─ Title ───╮\\n│ No --sed. │\\n│ ───────── │\\n│ Run --help │\\n╰───────╯")
    'no --sed; run --help'
    """
    parts: list[list[str]] = [[]]
    for line in box.splitlines():
        text = line.strip(_SIDES)
        if not text.strip(_RULES):
            parts.append([])
        elif not text.startswith(("─ ", "- ")):  # the title says the same again
            parts[-1].append(text)
    joined = [" ".join(_without_explanations(part)).rstrip(".") for part in parts if part]
    return "; ".join(part[0].lower() + part[1:] for part in joined)


def _without_explanations(lines: list[str]) -> list[str]:
    """Of suggestions keep the flags; what each means is in the help."""
    if lines[0] != "Perhaps you meant:":
        return lines
    flags = [line for line in lines[1:] if line.startswith("-")]
    return [*lines[:1], ", ".join(flags)] if flags else lines
