"""φ-space on paper: as it is with two dimensions, by principal components with more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hess.agents.agent import Floats


@dataclass(frozen=True)
class Projection:
    """A linear map from φ-space to the plane."""

    middle: Floats  # [d]
    directions: Floats  # [d, 2]
    labels: tuple[str, str]

    @classmethod
    def of(cls, embeddings: Floats) -> Projection:
        """The identity for d = 2; otherwise the two directions that vary most. [n, d]."""
        size = embeddings.shape[1]
        if size <= 2:
            return cls(np.zeros(size), np.eye(size, 2), ("φ₁", "φ₂"))
        middle = embeddings.mean(0)
        _, _, rows = np.linalg.svd(embeddings - middle, full_matrices=False)
        # A component's sign is arbitrary; fixed here, so that pictures do not flip over time.
        signs = np.sign(rows[:2, np.abs(rows[:2]).argmax(1)].diagonal())
        directions = (rows[:2] * signs[:, None]).T
        return cls(middle, directions, ("φ, 1st component", "φ, 2nd component"))

    def __call__(self, embeddings: Floats) -> Floats:
        """[..., d] -> [..., 2]."""
        return (embeddings - self.middle) @ self.directions
