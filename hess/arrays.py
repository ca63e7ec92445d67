"""What arrays are called in annotations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Picture = NDArray[np.uint8]  # [height, width, 3]
Arrays = dict[str, NDArray[Any]]
"""Named arrays: the form in which checkpoints and snapshots hold them."""
