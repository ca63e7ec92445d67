"""The protocol of recorded results, and what breaks it.

Every seed of a method on a task comes from a clean checkout, has used the budget of its task
(hess/config/budgets.py), was evaluated as all others are, and has the settings of the others. What
breaks this is not recorded any more; what was recorded before is marked in the tables. Both read it
here.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from hess.agents.methods import METHODS
from hess.analysis.recorded import RecordedSeed
from hess.config.absent import complete_fields
from hess.config.budgets import budget
from hess.config.presets import preset

INTERVAL, EPISODES = 25_000, 10  # environment steps between evaluations, and what they are made of

# How an environment is taken; a row's name says so where it is not as usual.
ENVIRONMENT = ("success", "horizon", "observe", "action_share")
# A seed is what differs; what is written beside learning does not change it.
_FREE = ("seed", "record.")


def breaches(curve: RecordedSeed) -> list[str]:
    """In what one seed breaks the protocol by itself."""
    if not curve.about:
        return ["unknown origin"]
    found = _checkout_breach(curve.about)
    fields = settings(curve)
    meant = int(fields["steps"])
    allowed = budget(str(fields["task"])) or meant
    done = min(meant, curve.steps[-1] if curve.steps else 0)
    if done < allowed:
        found.append(f"ended early, at {done:,} of {allowed:,} steps")
    elif meant > allowed:
        found.append(f"{meant:,} steps instead of {allowed:,}")
    interval, episodes = fields["evaluation.interval"], fields["evaluation.episodes"]
    if (interval, episodes) != (INTERVAL, EPISODES):
        found.append(
            f"evaluated with {episodes} episodes every {interval:,} steps instead of {EPISODES} "
            f"every {INTERVAL:,}"
        )
    return found


def _checkout_breach(about: Mapping[str, Any]) -> list[str]:
    """Of all checkouts that trained a part of it, before and after interruptions."""
    changed = [each.get("dirty") for each in (about, *about.get("earlier", []))]
    if any(changed):
        return ["changed checkout"]
    return ["unknown checkout"] if None in changed else []


def settings(curve: RecordedSeed) -> dict[str, Any]:
    """The fields of a seed's config, with those that came later."""
    return complete_fields(curve.about.get("config", {}))


def differences(own: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The fields in which two seeds differ that should not.

    A part of the config that one of them lacks altogether belongs to methods that came later.
    """
    parts = _parts(own) & _parts(other)
    names = [name for name in own.keys() | other.keys() if name.partition(".")[0] in parts]
    return sorted(
        name for name in names if not name.startswith(_FREE) and own.get(name) != other.get(name)
    )


def _parts(fields: Mapping[str, Any]) -> set[str]:
    return {name.partition(".")[0] for name in fields}


def row_breaches(curves: Sequence[RecordedSeed]) -> list[str]:
    """In what the seeds of a row break the protocol, each with the seeds that do."""
    seeds: dict[str, list[int]] = {}
    for curve in curves:
        for breach in breaches(curve):
            seeds.setdefault(breach, []).append(curve.seed)
    found = [f"{breach} ({_listed(own)})" for breach, own in seeds.items()]
    fields = [settings(curve) for curve in curves if curve.about]
    names = {name for each in fields for name in differences(fields[0], each)}
    names.discard("steps")  # which have a sentence of their own
    return [*found, f"settings differ: {', '.join(sorted(names))}"] if names else found


def commits(curves: Sequence[RecordedSeed]) -> list[str]:
    """Of all code that trained a part of a row, before and after interruptions."""
    made = [each for curve in curves for each in (*curve.about.get("earlier", []), curve.about)]
    return list(dict.fromkeys(str(each.get("commit"))[:7] for each in made))


def departures(curve: RecordedSeed) -> list[str]:
    """The settings that are not what the method has by default today, but those in a row's name."""
    own = settings(curve)
    if own.get("method") not in METHODS:
        return []  # somebody else's, of whose default nothing is known here
    config = METHODS[own["method"]].apply(preset("default"))
    default = complete_fields(json.loads(json.dumps(dataclasses.asdict(config))))
    varied = [value.partition("=")[0] for value in curve.method.split(",")[1:]]
    named = {"task", "env", "steps", *ENVIRONMENT, *varied}
    return [
        f"{name}={own.get(name)} instead of {default.get(name)}"
        for name in differences(own, default)
        if name not in named
    ]


def _listed(seeds: Sequence[int]) -> str:
    return f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}"
