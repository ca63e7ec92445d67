"""The command that makes a run again, from its config alone."""

from __future__ import annotations

import shlex
from typing import Any

from hess.agents.methods import method
from hess.config import Config, flat_fields
from hess.config.presets import PRESETS, preset

_ALWAYS = ("task", "method", "seed", "steps")


def train_command(config: Config) -> str:
    """`hess train` with the preset that needs the fewest further flags."""
    candidates = [_flags(config, name) for name in PRESETS]
    flags = min(candidates, key=len)
    return shlex.join(["hess", "train", config.task, *flags])


def _flags(config: Config, preset_name: str) -> list[str]:
    start = flat_fields(method(config.method).apply(preset(preset_name)))
    flags = ["--method", config.method] if config.method != "hess" else []
    flags += [] if preset_name == "default" else ["--preset", preset_name]
    flags += ["--seed", str(config.seed), "--steps", str(config.steps)]
    for name, value in flat_fields(config).items():
        if name not in _ALWAYS and value != start[name]:
            flags += _flag(name, value)
    return flags


def _flag(name: str, value: Any) -> list[str]:
    option = name.replace("_", "-")
    if isinstance(value, bool):
        head, _, last = option.rpartition(".")
        prefix = f"{head}." if head else ""
        return [f"--{prefix}{last}" if value else f"--{prefix}no-{last}"]
    values = value if isinstance(value, tuple) else (value,)  # None is written None
    return [f"--{option}", *map(str, values)]
