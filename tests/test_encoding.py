"""A video is complete, or there is a sentence that says why not."""

from __future__ import annotations

import shutil
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest

from hess.encoding import encode_video
from hess.errors import HessError


@pytest.mark.parametrize("side", [16, 2_000])
def test_a_failing_encoder_is_an_error_also_where_it_stops_reading(
    side: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = shutil.which("false")
    assert failing is not None
    monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", lambda: failing)
    frames = [np.zeros((side, side, 3), np.uint8)] * 3
    with pytest.raises(HessError, match="could not be encoded: ffmpeg ended with code 1"):
        encode_video(tmp_path / "film.mp4", frames, 10)
    assert not list(tmp_path.iterdir())
