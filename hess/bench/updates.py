"""The SAC update against the speed of the machine, and against Stable-Baselines3."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from hess.bench.processes import worker
from hess.bench.rows import Goal, Row
from hess.bench.sizes import Size
from hess.bench.timing import in_turns, median_ratio

_SHARE_OF_LIMIT = {1: 0.75, 2: 0.60}  # by cores
_TIMES_FASTER = 2.5
_COUNTS = {1: "one core", 2: "two cores"}


def limit_row(size: Size, cores: Sequence[int]) -> Row:
    """An update against its arithmetic at the speed of a 1024³ single-precision product."""
    return _row("sac", "product", "its arithmetic at sgemm speed", size, cores)


def baseline_row(size: Size, cores: Sequence[int]) -> Row:
    """An update against one by Stable-Baselines3's `SAC.train()`."""
    return _row("baseline", "stable-baselines3", "Stable-Baselines3", size, cores)


def _row(group: str, other: str, other_name: str, size: Size, cores: Sequence[int]) -> Row:
    count = len(cores)
    with (
        worker("pace", "update", size, cores) as ours,
        worker("pace", other, size, cores, blas_threads=count) as theirs,
    ):
        ours.listen()
        theirs.listen()
        mine, reference = in_turns(ours.measure, theirs.measure, repetitions=size.repetitions)
    goal = _SHARE_OF_LIMIT[count] if group == "sac" else _TIMES_FASTER
    return Row(
        group=group,
        name=f"SAC update, {_COUNTS[count]}",
        measured=statistics.median(mine),
        unit="ms",
        reference=statistics.median(reference),
        reference_name=other_name,
        ratio=median_ratio(reference, mine),
        ratio_name="reference / measured",
        goal=Goal("at least", goal),
    )
