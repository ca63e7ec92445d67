"""What a run writes as it goes: metrics.jsonl, eval.csv, TensorBoard events.

The two text files are the truth. A checkpoint remembers how long they were, with a digest, so
that a resumed run cuts off what came after it and continues as if nothing had happened.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

from hess.errors import HessError
from hess.training.folder import RunFolder

EVALUATION_COLUMNS = ("step", "episodes", "success_rate", "mean_return", "train_success")


class AppendOnlyText:
    """A text file that only grows, with a running checksum."""

    def __init__(self, path: Path, header: str = ""):
        self._path = path
        self._header = header
        self._size = 0
        self._checksum = 0

    def start(self) -> None:
        """Begin a new file."""
        self._write("wb", self._header.encode())

    def resume(self, position: dict[str, int]) -> None:
        """Cut the file to where the checkpoint left it."""
        try:
            with self._path.open("r+b") as file:
                kept = file.read(position["size"])
                checksum = zlib.crc32(kept)
                if len(kept) != position["size"] or checksum != position["checksum"]:
                    raise HessError(
                        f"{str(self._path)!r} is damaged: it does not begin with what was written "
                        "until the checkpoint"
                    )
                file.truncate(position["size"])
        except OSError as error:
            raise HessError(f"cannot read {str(self._path)!r}: {error.strerror}") from error
        self._size, self._checksum = len(kept), checksum

    def append(self, line: str) -> None:
        """Add a line."""
        self._write("ab", f"{line}\n".encode())

    def position(self) -> dict[str, int]:
        """For the checkpoint."""
        return {"size": self._size, "checksum": self._checksum}

    def _write(self, mode: str, data: bytes) -> None:
        try:
            with self._path.open(mode) as file:
                file.write(data)
        except OSError as error:
            raise HessError(f"cannot write {str(self._path)!r}: {error.strerror}") from error
        self._size += len(data)
        self._checksum = zlib.crc32(data, self._checksum)


class Records:
    """The writers of one run."""

    def __init__(self, folder: RunFolder, tensorboard: bool):
        self._folder = folder
        self._metrics = AppendOnlyText(folder.metrics_file)
        self._evaluations = AppendOnlyText(
            folder.evaluations_file, ",".join(EVALUATION_COLUMNS) + "\n"
        )
        self._tensorboard: Any = None
        self._wants_tensorboard = tensorboard

    def start(self) -> None:
        """Begin the files of a new run."""
        self._metrics.start()
        self._evaluations.start()
        self._open_tensorboard(None)

    def resume(self, positions: dict[str, dict[str, int]], step: int) -> None:
        """Continue the files of a run from a checkpoint."""
        self._metrics.resume(positions["metrics"])
        self._evaluations.resume(positions["evaluations"])
        self._open_tensorboard(step)

    def metrics(self, step: int, values: dict[str, float]) -> None:
        """A line of metrics.jsonl, and the same as TensorBoard scalars."""
        self._metrics.append(json.dumps({"step": step} | values))
        if self._tensorboard is not None:
            for name, value in values.items():
                self._tensorboard.add_scalar(name, value, step)

    def evaluation(self, values: dict[str, float]) -> None:
        """A row of eval.csv."""
        row = [values[name] for name in EVALUATION_COLUMNS]
        self._evaluations.append(",".join(f"{value:.10g}" for value in row))
        if self._tensorboard is not None:
            step = int(values["step"])
            for name in EVALUATION_COLUMNS[2:]:
                self._tensorboard.add_scalar(f"evaluation/{name}", values[name], step)

    def positions(self) -> dict[str, dict[str, int]]:
        """For the checkpoint."""
        return {
            "metrics": self._metrics.position(),
            "evaluations": self._evaluations.position(),
        }

    def close(self) -> None:
        """Flush what is buffered."""
        if self._tensorboard is not None:
            self._tensorboard.close()

    def _open_tensorboard(self, purge_step: int | None) -> None:
        if not self._wants_tensorboard:
            return
        from tensorboardX import SummaryWriter

        self._tensorboard = SummaryWriter(
            str(self._folder.path / "tensorboard"), purge_step=purge_step
        )


def read_evaluations(folder: RunFolder) -> dict[str, list[float]]:
    """The columns of eval.csv."""
    try:
        header, *rows = folder.evaluations_file.read_text().splitlines()
        names = header.split(",")
        values = [[float(cell) for cell in row.split(",")] for row in rows]
    except (OSError, ValueError) as error:
        raise HessError(f"cannot read {str(folder.evaluations_file)!r}: {error}") from error
    return {name: [row[index] for row in values] for index, name in enumerate(names)}
