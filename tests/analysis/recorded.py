"""Run folders as the trainer leaves them, and recorded seeds, without training."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from hess.analysis.recorded import RecordedSeed
from hess.api import make_config
from hess.config import Config
from hess.config.budgets import budget
from hess.files import write_sealed
from hess.runs.folder import RunFolder


def make_run(folder: Path, config: Config, success: list[float], *, dirty: bool = False) -> Path:
    """A run with evaluations evenly spread over its steps, which took a minute in all."""
    run = RunFolder(folder)
    folder.mkdir(parents=True)
    run.write_config(config)
    run.write_metadata()
    write_sealed(run.metadata_file, run.read_metadata() | {"dirty": dirty})
    steps = [config.steps * index // (len(success) - 1) for index in range(len(success))]
    rows = [
        f"{step},10,{rate},0,{rate / 2},{rate / 4}"
        for step, rate in zip(steps, success, strict=True)
    ]
    header = "step,episodes,success_rate,mean_return,train_success,success_at_end"
    run.evaluations_file.write_text("\n".join([header, *rows]) + "\n")
    lines = [
        {"step": config.steps * third // 3, "time/learning": 20.0, "time/collection": 5.0}
        for third in (0, 1, 2, 3)
    ]
    run.metrics_file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def recorded(
    seed: int,
    *success: float,
    task: str = "AntMaze",
    method: str = "hess",
    dirty: bool | None = False,
    minutes: float | None = None,
    **fields: Any,
) -> RecordedSeed:
    """A recorded seed, evenly evaluated over the steps of its config: the budget if not given."""
    config = make_config(task, method, seed=seed, **{"steps": budget(task), **fields})
    every = config.steps // max(len(success) - 1, 1)
    about = {
        "dirty": dirty,
        "minutes": minutes,
        "cpu": "a processor",
        "cores": 2,
        "affinity": [0],
        "config": dataclasses.asdict(config),
    }
    steps = tuple(every * index for index in range(len(success)))
    return RecordedSeed("main", method, task, seed, steps, success, success, success, about)
