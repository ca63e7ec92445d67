"""φ-space on paper: as it is with two dimensions, along the two explored ones with more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hess.agents.hess.exploration.selection import widest_directions
from hess.arrays import Floats
from hess.runs.snapshots import Snapshot


@dataclass(frozen=True)
class Projection:
    """A linear map from φ-space to the plane."""

    directions: Floats  # [d, 2]
    title: str
    labels: tuple[str, str]

    @classmethod
    def of(cls, snapshot: Snapshot) -> Projection:
        """The identity for d = 2; otherwise the plane that is explored, or else the widest."""
        embeddings, explored = snapshot.states.embeddings, snapshot.cells.plane
        if embeddings.shape[1] <= 2:
            return cls(np.eye(embeddings.shape[1], 2), "φ-space", ("φ₁", "φ₂"))
        given = explored.shape[1] == 2
        directions = explored if given else widest_directions(embeddings, 2)
        # A direction's sign is arbitrary; fixed here, so that pictures do not flip over time.
        signs = np.sign(directions[np.abs(directions).argmax(0), (0, 1)])
        which = "explored" if given else "widest"
        labels = (f"φ, 1st {which} direction", f"φ, 2nd {which} direction")
        return cls(directions * signs, f"φ along its two {which} directions", labels)

    def __call__(self, embeddings: Floats) -> Floats:
        """[..., d] -> [..., 2]."""
        return embeddings @ self.directions
