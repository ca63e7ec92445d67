"""A run folder: where everything about one run lies, and who may write to it."""

from __future__ import annotations

import dataclasses
import functools
import sys
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from hess import machine
from hess.config import Config, fitting, flat_fields
from hess.config.absent import WHEN_ABSENT, notice
from hess.envs.arguments import label
from hess.errors import HessError
from hess.files import (
    FileLock,
    TakenError,
    read_json,
    read_sealed,
    reason,
    refuse_links,
    remove_leftovers,
    write_sealed,
)


class RunFolder:
    """runs/<task>/<method>/<name>, locked while a process trains in it."""

    def __init__(self, path: Path):
        self.path = path
        self.config_file = path / "config.json"
        self.metadata_file = path / "metadata.json"
        self.metrics_file = path / "metrics.jsonl"
        self.evaluations_file = path / "eval.csv"
        self.replay = path / "replay"
        self.snapshots = path / "snapshots"
        self.tensorboard = path / "tensorboard"
        self.videos = path / "videos"
        self.curve_file = path / "curve.png"
        self.log_file = path / "train.log"  # what it printed, where a sweep has started it
        self._lock = FileLock(path / ".lock")

    def lock(self) -> None:
        """Refuse a second process; the system frees the lock when its holder dies."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            refuse_links(self.path)
            self._lock.acquire()
        except TakenError as holder:
            raise TakenError(f"{holder} is training in {str(self.path)!r}") from holder
        except OSError as error:
            raise HessError(f"cannot write to {str(self.path)!r}: {reason(error)}") from error
        for folder in (self.path, self.replay, self.snapshots):
            remove_leftovers(folder)

    def require_lock(self) -> None:
        """Stop if the lock file has been removed: somebody else may be training here by now."""
        if self._lock.lost:
            raise HessError(
                f"the lock of {str(self.path)!r} was removed while this process was training; "
                "it stops before it can disturb another one"
            )

    def unlock(self) -> None:
        self._lock.release()

    def write_config(self, config: Config) -> None:
        write_sealed(self.config_file, dataclasses.asdict(config))

    def read_config(self) -> Config:
        """The config of the run, whole and of this version."""
        config: Config = from_json(Config, self.config_values(sealed=True), "config.json")
        return config

    def config_values(self, *, sealed: bool = False) -> dict[str, Any]:
        """What config.json says, of whatever version; only to be looked at unless `sealed`."""
        if not self.config_file.exists():
            raise HessError(f"{str(self.path)!r} is not a run folder: it has no config.json")
        values = read_sealed(self.config_file) if sealed else read_json(self.config_file)
        if not isinstance(values, dict):
            raise HessError(f"{str(self.config_file)!r} is damaged: it is not an object")
        values.pop("digest", None)
        return values

    def write_metadata(self, *, resumed: bool = False) -> None:
        """Write what runs here now: command, versions, commit, machine.

        A run is as clean as every checkout that trained a part of it, so a resumed one keeps them.
        """
        now = machine.describe()
        earlier = [each for each in self._checkouts() if each != _checkout(now)] if resumed else []
        command = [Path(sys.argv[0]).name, *sys.argv[1:]]
        write_sealed(self.metadata_file, {"command": command, **now, "earlier": earlier})

    def _checkouts(self) -> list[dict[str, Any]]:
        """All that have trained here so far; of a damaged file it is not known."""
        try:
            before = self.read_metadata()
        except HessError:
            before = {}
        last = _checkout(before)
        return [*(each for each in before.get("earlier", []) if each != last), last]

    def read_metadata(self) -> dict[str, Any]:
        return read_sealed(self.metadata_file)


def _checkout(metadata: dict[str, Any]) -> dict[str, Any]:
    return {name: metadata.get(name) for name in ("commit", "dirty")}


def run_path(config: Config, runs: Path, name: str | None) -> Path:
    """runs/task/method/name."""
    if name is not None and (Path(name).name != name or name in ("", ".", "..")):
        raise HessError(f"a run cannot be named {name!r}; a name is one folder, without slashes")
    task = folder_name(config.task.removeprefix("hess/").removesuffix("-v0"))
    usual = ",".join(filter(None, (label(config.env), f"seed-{config.seed}")))
    return runs / task / folder_name(config.method) / (name or usual)


def folder_name(text: str) -> str:
    """The name of a task or method as that of one folder."""
    return text.replace("/", "-").replace(":", "-")


def from_json(kind: Any, values: Any, where: str, prefix: str = "") -> Any:
    """A dataclass from parsed JSON; unknown, missing or ill-typed fields are named.

    Fields of a config that came later have a value for files without them; `prefix` is the part of
    the config.
    """
    if not isinstance(values, dict):
        raise HessError(f"{where} is damaged: expected an object, found {type(values).__name__}")
    names = {field.name for field in dataclasses.fields(kind)}
    values = values | _absent(names - set(values), where, prefix)
    for name in sorted(set(values) ^ names):
        problem = "an unknown" if name in values else "no"
        raise HessError(
            f"{where} is damaged or of another version: it has {problem} field {name!r}"
        )
    hints = _hints(kind)
    return kind(
        **{
            name: _convert(hints[name], values[name], f"{where}: {name}", f"{prefix}{name}.")
            for name in names
        }
    )


def _absent(names: set[str], where: str, prefix: str) -> dict[str, Any]:
    later = {name: f"{prefix}{name}" for name in sorted(names) if f"{prefix}{name}" in WHEN_ABSENT}
    notice(where.partition(":")[0], *later.values())
    return {name: WHEN_ABSENT[full] for name, full in later.items()}


_hints = functools.cache(get_type_hints)


def _convert(kind: Any, value: Any, where: str, prefix: str = "") -> Any:
    if dataclasses.is_dataclass(kind):
        return from_json(kind, value, where, "" if kind is Config else prefix)
    if get_origin(kind) is tuple and isinstance(value, list | tuple):
        return tuple(_convert(get_args(kind)[0], item, where) for item in value)
    try:
        return fitting(where, kind, value)
    except HessError as error:
        raise HessError(f"{where} is damaged: {repr(value)[:80]} does not fit") from error


MAY_CHANGE = ("steps", "record.")


def refuse_changes(before: Config, now: Config) -> None:
    """A run resumes with the config it started with; only its length and records may change."""
    old, new = flat_fields(before), flat_fields(now)
    changed = [name for name in old if old[name] != new[name] and not name.startswith(MAY_CHANGE)]
    if changed:
        differences = ", ".join(f"{name}: {old[name]!r} -> {new[name]!r}" for name in changed)
        raise HessError(
            f"the run exists with another config ({differences}); "
            "give it another --name, or remove its folder to start over"
        )
