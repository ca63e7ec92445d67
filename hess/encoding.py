"""Frames to a video, with the ffmpeg that imageio-ffmpeg brings along."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np

from hess.arrays import Picture
from hess.errors import HessError
from hess.files import write_atomic

# How ffmpeg is to write each kind of file.
_OUTPUT = {
    ".mp4": (
        *("-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2"),  # H.264 takes even sides only
        *("-c:v", "libx264", "-preset", "veryfast", "-crf", "24", "-pix_fmt", "yuv420p"),
        *("-movflags", "+faststart"),
    ),
    ".gif": (
        "-filter_complex",
        "fps=12,scale='min(720,iw)':-1,split[a][b];"
        "[a]palettegen=max_colors=48:stats_mode=diff[p];[b][p]paletteuse=dither=none",
    ),
}
VIDEO_FORMATS = tuple(_OUTPUT)


def encode_video(out: Path, frames: Iterable[Picture], frames_per_second: int) -> None:
    """Encode frames [height, width, 3] as they come; the file is complete or not there."""
    remaining = iter(frames)
    first = next(remaining)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"video{out.suffix.lower()}"
        encoder = _encoder(path, first.shape, frames_per_second)
        # Once ffmpeg has ended, its exit code says more than the broken pipe.
        with suppress(BrokenPipeError), encoder:
            assert encoder.stdin is not None
            for frame in chain([first], remaining):
                encoder.stdin.write(np.ascontiguousarray(frame).data)
        if encoder.returncode != 0:
            raise HessError(
                f"the video could not be encoded: ffmpeg ended with code {encoder.returncode}"
            )
        write_atomic(out, path.read_bytes())


def _encoder(path: Path, shape: tuple[int, ...], frames_per_second: int) -> subprocess.Popen[Any]:
    """A plain Popen: imageio's own writer forks, which JAX's threads do not survive for sure."""
    height, width, _ = shape
    return subprocess.Popen(
        [
            imageio_ffmpeg.get_ffmpeg_exe(),
            *("-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24"),
            *("-s", f"{width}x{height}", "-r", str(frames_per_second), "-i", "-"),
            *(*_OUTPUT[path.suffix], str(path)),
        ],
        stdin=subprocess.PIPE,
    )
