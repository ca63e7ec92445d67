"""The subgoal space and how it is explored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MOST_DIMENSIONS = 8  # of φ, where nobody says how many


@dataclass(frozen=True)
class RepresentationConfig:
    """φ: the subgoal representation, learned from slow dynamics (§3.1)."""

    dim: int | None = None
    """d: dimension of the subgoal space; 2 in the paper. None: 8, or half of the observation's
    entries if that is less, as velocities are never slow. A robot that moves at random turns as
    slowly as it gets anywhere, so that two coordinates need more dimensions beside them; which of
    these lead nowhere shows later, and then they weigh less (`exploration.least_weight`)."""
    start: Literal["before", "slow"] = "slow"
    """Where an update begins: at φ as it was (the paper), or at the slowest linear directions of
    all that was observed, turned to where φ was."""
    hidden: tuple[int, ...] = (100,)
    """Hidden layers of φ."""
    learning_rate: float = 1e-4
    """Learning rate."""
    batch_size: int = 100
    """Triplets per minibatch."""
    distance: Literal["l2", "squared_mean"] = "squared_mean"
    """Triplet distance: L2 as written, or the mean of squares over dimensions."""
    margin: float = 0.25
    """δ, in units of `distance`; √2 in "l2" asks for the same spacing as 1 in "squared_mean"."""
    stability: Literal["binary", "continuous"] = "binary"
    """λ(s): λ₀ on the best fitted triplets only, or λ₀/√(1 + L_tri) on uniform samples."""
    stability_weight: float = 0.003
    """λ₀; 0 switches the stability term off. Measured in squares, L_tri is about a thirtieth of the
    paper's, and with its λ₀ = 0.1 a φ that once took heading for position never lets go of it."""
    stable_fraction: float = 0.3
    """k%: share of triplets, best fitted first, whose anchors are held."""
    priority: Literal["loss", "rank", "uniform"] = "rank"
    """Triplets are drawn ∝ L_tri, uniformly from the worse half, or uniformly from all."""
    interval: int = 100
    """I: episodes between updates."""
    growth: float = 1.5
    """While there are few episodes, an update comes as soon as there are this many times as many
    as at the last one: what a robot can do changes fastest then. 0: only every I episodes."""
    first_update: int = 30
    """Episodes before the first update; active exploration needs a φ."""
    minibatches: int = 20_000
    """m: minibatches per update."""
    refresh: int = 2_500
    """Minibatches after which priorities are computed anew within an update."""

    def dimensions(self, observation_dim: int) -> int:
        """d for observations of this size."""
        half = (observation_dim + 1) // 2
        return self.dim if self.dim is not None else min(MOST_DIMENSIONS, half)


@dataclass(frozen=True)
class ExplorationConfig:
    """Measures of subgoals and the active strategy (§3.2, §3.3)."""

    probability: float = 0.8
    """p at the start: how often a subgoal is selected actively; 0 switches selection off."""
    schedule: Literal["linear", "success"] = "success"
    """p falls linearly to 0, or stays at p₀·(1 - recent training success)."""
    decided: Literal["segment", "episode"] = "episode"
    """p decides for each subgoal who sets it (the paper), or for an episode whether p₀ of its
    subgoals are selected actively or none; "success" is then judged by episodes with none."""
    episode_share: float = 0.5
    """p at the start where it decides for episodes; before the first success, all explore."""
    greedy_share: float = 0.5
    """Share of the episodes without active selection that act as in evaluation, where nothing is
    drawn: what gets stuck there, nothing else would show. Where subgoals are never selected
    actively, and with 0, all of them sample."""
    success_window: int = 20
    """Training episodes that count as recent for the "success" schedule."""
    anneal_fraction: float = 0.5
    """Share of training after which a linear p is 0."""
    candidates: int = 5_000
    """M: visited states compared in one selection."""
    reach: float = 0.6
    """Candidates lie within this share of r_g around φ(s_t); in the paper all of it, 1."""
    units: Literal["fixed", "span", "segment"] = "segment"
    """r_g, d_e and cell size as given, times the explored span of φ over `reference_span`, or at
    most times the length of a good segment over `reference_segment`."""
    reference_span: float = 30.0
    """The extent of φ over all visited states for which r_g, d_e and cell size are meant."""
    reference_segment: float = 10.0
    """The distance in φ, exceeded by a tenth of the segments, for which they are meant."""
    directions: int = 3
    """Directions of φ that cells divide and subgoals are selected in: two, and further ones as far
    as visited states extend beyond those of the first, random episodes in them; 0: all d."""
    least_weight: float = 0.3
    """Weight of a direction of φ in the low level's distance to its subgoal and in how far subgoals
    lie along it, while visited states extend no farther in it than those of the first, random
    episodes and less far than in others; 1: all directions alike."""
    pool: int = 20_000
    """States drawn from the replay once per episode, from which candidates in reach are taken."""
    extension: float = 5.0
    """d_e: how far the imagined subgoal lies beyond the selected one; 0 switches it off."""
    potential_weight: float = 0.1
    """α: weight of potential against novelty."""
    balance: Literal["weighted", "normalised"] = "normalised"
    """Ñ - αU as written, or both scaled to [0, 1] over the candidates first."""
    novelty: str = "reachable"
    """"reachable": the least visited cell that is known to be reachable, with the way there;
    "cumulative": the paper's N with age discount; "immediate": the plain visit count n;
    "importance": N with importance weights; or one of your own, see docs/extending.md."""
    potential: str = "distance"
    """"distance": the mean of -‖φ(s_{t+c}) - g_e‖ per cell; or one of your own."""
    counts: Literal["grid", "hashed", "neighbours"] = "grid"
    """How visits are counted: in the cells of a grid, exactly, in up to five directions; in a
    hashed grid of constant memory; or by the nearest of up to 1,000 landmarks, visited states."""
    segment_cost: float = 0.2
    """What each segment on the way adds to a "reachable" cell's log count."""
    attempt_cost: float = 0.2
    """What each segment that a place on the way has cost in vain, per time that it was reached,
    adds to that; 0: nothing."""
    way_share: float = 0.03
    """Edges that are rarer among those that leave a cell lead nowhere, unless most visits of the
    next cell came by them; 0 takes all."""
    waypoints: float = 0.5
    """Share of exploring episodes that go to a random visited cell first."""
    detour: float = 1.25
    """Candidates lie behind something, and are left out, if the way there is longer than this many
    times the straight line; 0: all count."""
    least_progress: float = 0.25
    """A segment that makes less than this share of the way to its selected subgoal has met an
    obstacle: for the rest of the episode nothing in that direction is selected from there. 0:
    whatever happened."""
    revisit_cost: float = 2.0
    """What each segment of an episode that ended in or next to a cell adds to the log of the cell's
    visits, or of what the novelty takes for them, for the rest of the episode."""
    insistence: float = 0.25
    """Share of exploring episodes that go on where they are, whatever came of it so far: no place
    wears out, no attempt costs anything, and nothing is an obstacle. What a robot has yet to learn,
    such as to climb, and what it never can look alike at first."""
    count_discount: float = 0.99
    """γ of the cumulative counts, per segment."""
    cell_size: float = 3.0
    """Edge of a grid cell, in units of φ."""
    least_cells: int = 100
    """Where fewer cells have been visited, they become smaller, up to a third of their edge: the
    frontier must not share a cell, or the next one, with what is well known. 0: never."""
    age_discount: float = 0.995
    """Weight of a rollout per episode of its age."""
    attempts: Literal["active", "all"] = "active"
    """Segments that U is averaged over: those of actively selected subgoals, or all of them."""
    recount: bool = False
    """Count all stored states anew after each φ update also where all of φ is explored, instead of
    keeping the old counts; where some directions are, they have turned, and it is done anyway."""
    novelty_interval: int = 2
    """Episodes between two computations of N."""
