"""Where one exploring episode has been, and where it wants to go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hess.agents.hess.exploration.selection import CandidatePool, Selection
from hess.arrays import Floats
from hess.config import ExplorationConfig

_WAYPOINT_SHARE = 0.5  # of an episode's segments that a waypoint may take
_SAME_DIRECTION = 0.8  # cosine: about 37 degrees to either side


class Aim(NamedTuple):
    """Where a segment begins and where it is to lead, in the directions that are explored."""

    start: Floats  # [k]
    selected: Floats  # [k]
    imagined: Floats  # [k]

    def progress(self, end: Floats) -> float:
        """How much nearer a segment that ended there came, in units of the way to g_t. [k]."""
        before, after = (np.linalg.norm(self.imagined - each) for each in (self.start, end))
        length = np.linalg.norm(self.selected - self.start)
        return float((before - after) / length) if length > 0 else 1.0


class Obstacle(NamedTuple):
    """A place at which the low level gets no farther in one direction."""

    place: Floats  # [k]
    direction: Floats  # [k] of length 1


def _direction(start: Floats, end: Floats) -> Floats:
    """Of length 1, or 0 where there is none. [k], [..., k] -> [..., k]."""
    difference = end - start
    length = np.linalg.norm(difference, axis=-1, keepdims=True)
    return np.asarray(difference / np.where(length > 0, length, 1.0))


class Excursion:
    """First to a waypoint, if the episode has one; then to what is newest, but not for ever.

    The graph says what leads where, and the pool's novelty what is new once places have worn out:
    the same for every way to measure it. Chains of cells know nothing of what they hide: a block
    that was pushed in the way, a door that opens to one side. Episodes that all take the shortest
    chain to the same frontier make the same mistake again and again, and stay where it leads; a
    random waypoint and places that wear out make them different (AntPush, low level as of 250 000
    steps, 16 episodes: the block is met from the left first in 6 instead of 0; AntFourRooms,
    300 000 steps, 10 episodes: 120 instead of 63 square metres seen).
    """

    def __init__(
        self,
        pool: CandidatePool,
        config: ExplorationConfig,
        segments: int,
        rng: np.random.Generator,
    ):
        assert pool.graph is not None
        assert pool.places is not None
        assert pool.wear is not None
        self._pool, self._config = pool, config
        self._graph, self._places, self._wear = pool.graph, pool.places, pool.wear
        self._segments = segments
        self._ends = np.zeros(len(self._graph.keys))  # of segments, in or next to each cell
        self._waypoint = self._draw_waypoint(rng)
        self._insists = bool(rng.random() < config.insistence)
        if self._insists:
            self._graph = self._graph.without_tolls()
        self._steps = self._graph.steps_to(-1 if self._waypoint is None else self._waypoint)
        self._cell = -1  # where the present segment begins; -1: in none of the graph's
        self._here: Floats = np.zeros(0)  # the same as a point
        self._aim: Aim | None = None  # of the present segment, if it was selected
        self._obstacles: list[Obstacle] = []

    def _draw_waypoint(self, rng: np.random.Generator) -> int | None:
        """Any cell that is known to be enterable, all alike."""
        entered = self._graph.entered()
        if rng.random() >= self._config.waypoints or len(entered) == 0:
            return None
        return int(rng.choice(entered))

    def arrive(self, segment: int, current: Floats) -> None:
        """A segment begins here, where the one before ended. [d]."""
        current = self._pool.project(current)
        cell = int(self._graph.locate(self._places.keys(current)))
        self._note_obstacle(current)
        self._cell, self._here = cell, current
        if segment > 0 and cell >= 0:
            self._ends[self._graph.surroundings(cell, self._places)] += 1
        late = segment >= _WAYPOINT_SHARE * self._segments
        astray = cell >= 0 and not np.isfinite(self._steps[cell])
        if self._waypoint is not None:
            there = self._places.reached(int(self._graph.keys[self._waypoint]), current)
            if late or astray or there:
                self._waypoint = None

    def _note_obstacle(self, end: Floats) -> None:
        """Where the segment that ends here got nowhere, something is in its way."""
        aim, self._aim = self._aim, None
        if aim is None or self._insists:
            return
        if aim.progress(end) < self._config.least_progress:
            self._obstacles.append(Obstacle(end, _direction(aim.start, aim.imagined)))

    def pursue(self, selection: Selection) -> None:
        """The segment that begins is to reach this."""
        selected, imagined = (self._pool.project(each) for each in selection)
        self._aim = Aim(self._here, selected, imagined)

    def straight(self) -> NDArray[np.bool_]:
        """Which pool states have nothing between them and here: the low level goes straight.

        What lies behind a wall is near in φ, but far along the chains that lead there. What lies
        behind a corner is not; there a segment that got nowhere shows where not to go again. -> [P]
        """
        return self._no_detour() & ~self._behind_obstacles()

    def _behind_obstacles(self) -> NDArray[np.bool_]:
        """Which pool states lie where this episode got stuck on its way from here. -> [P]."""
        behind = np.zeros(len(self._pool.embeddings), np.bool_)
        size = self._places.size
        near = [each for each in self._obstacles if np.linalg.norm(each.place - self._here) < size]
        if near:
            directions = _direction(self._here, self._pool.project(self._pool.embeddings))
            for each in near:
                behind |= directions @ each.direction > _SAME_DIRECTION
        return behind

    def _no_detour(self) -> NDArray[np.bool_]:
        cells = self._pool.cells
        if self._cell < 0 or self._config.detour == 0:
            return np.ones(len(cells), np.bool_)
        centres = self._places.centres(self._graph.keys)
        direct = np.linalg.norm(centres - centres[self._cell], axis=-1)
        lengths = self._graph.lengths_from(self._cell, centres)
        longest = self._config.detour * direct + self._places.slack
        return np.where(cells >= 0, (lengths <= longest)[cells], True)

    def novelty(self) -> Floats:
        """Of all pool states, for this episode, now. -> [P]."""
        cells = self._pool.cells
        if self._waypoint is not None:
            steps = np.where(cells >= 0, self._steps[cells], np.inf)
            return np.minimum(steps, len(self._graph.keys))  # finite: scores are differences
        cost = 0.0 if self._insists else self._config.revisit_cost
        values = self._wear(self._graph, cost * self._ends)
        return np.where(cells >= 0, values[cells], self._pool.novelty)
