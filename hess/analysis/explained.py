"""What logged quantities mean, for figures, the report and the viewer (all: docs/metrics.md)."""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple


class Explanation(NamedTuple):
    """A quantity's name for people, its unit, and how to read it."""

    title: str
    unit: str
    sentence: str


EVALUATIONS = {
    "success_rate": Explanation(
        "success in evaluation",
        "share of episodes",
        "Deterministic episodes without active exploration; reaching the goal at any step counts.",
    ),
    "success_at_end": Explanation(
        "success at the last step",
        "share of episodes",
        "The same episodes, of which only those count that are successful when they end: lower "
        "than success at any step where the goal is reached and left again.",
    ),
    "train_success": Explanation(
        "success in training",
        "share of episodes",
        "The last training episodes; it leads evaluation while exploration still finds the goal "
        "by chance, and trails it once the policy is better than exploring.",
    ),
    "mean_return": Explanation(
        "return in evaluation", "reward", "Summed reward of an episode: steps spent at the goal."
    ),
}

DIAGNOSTICS = {
    "train/coverage": Explanation(
        "maze visited",
        "share of free squares",
        "Squares of 1 m that any training episode has touched; a plateau well below 1 means that "
        "exploration is stuck, usually at a corner.",
    ),
    "train/visited_squares": Explanation(
        "squares visited", "squares of 1 m", "The same as a count, for tasks without a floor plan."
    ),
    "exploration/visited_cells": Explanation(
        "cells of φ-space visited",
        "cells",
        "Grid cells with a count; growth without growth of the maze visited means that φ moves, "
        "not the robot.",
    ),
    "exploration/leading_directions": Explanation(
        "directions that lead somewhere",
        "summed weights",
        "Of φ's directions, each by its weight in the distance to a subgoal; 1 on a plane means "
        "that the robot gets along one of two coordinates only, d that poses count as places do.",
    ),
    "exploration/probability": Explanation(
        "probability of active selection",
        "p",
        "How often a subgoal is chosen by novelty and potential instead of by the high-level "
        "policy; it falls as the task gets solved.",
    ),
    "exploration/active_share": Explanation(
        "subgoals selected actively",
        "share of subgoals",
        "What came of that probability; it is lower where nothing visited was within reach.",
    ),
    "intrinsic/mean": Explanation(
        "intrinsic reward",
        "reward",
        "What the high level gets for exploring, mean over stored segments; only methods with a "
        "bonus have it.",
    ),
    "intrinsic/variance": Explanation(
        "variance of the intrinsic reward",
        "reward²",
        "How much it tells segments apart; near 0 it no longer says where to explore.",
    ),
    "low/subgoal_distance": Explanation(
        "distance to a new subgoal",
        "units of φ",
        "How far away subgoals are when they are set; far beyond the radius r_g nothing is "
        "reachable in one segment.",
    ),
    "low/progress_share": Explanation(
        "share of the way to a subgoal",
        "share",
        "How much of that distance the low level covers before the next subgoal; 1 is arriving, "
        "0 is standing still, below 0 is moving away.",
    ),
    "low/progress": Explanation(
        "progress towards subgoals",
        "units of φ",
        "The same in units of φ: near 0 for long means that the low level does not learn.",
    ),
    "low/move": Explanation(
        "distance moved per subgoal",
        "m",
        "From where a subgoal was set to where it was replaced, in the plane of the task.",
    ),
    "train/flipped_share": Explanation(
        "time upside down",
        "share of steps",
        "An ant on its back learns little; high values early in training are normal.",
    ),
    "representation/change": Explanation(
        "change of φ per update",
        "units of φ",
        "Mean shift of 1,000 fixed states; small against the span is what the stability term is "
        "for.",
    ),
    "representation/span": Explanation(
        "span of φ",
        "units of φ",
        "Largest extent of the same states; a span near 0 is a collapsed representation.",
    ),
    "representation/position_fit": Explanation(
        "x, y explained by φ",
        "R²",
        "The worse of both; near 0 a dimension of φ shows something else, such as the heading, and "
        "no subgoal can ask for that direction.",
    ),
    "representation/triplet_loss": Explanation(
        "triplet loss",
        "loss",
        "How badly neighbours in time are apart, or states c steps apart are close.",
    ),
    "representation/stability_loss": Explanation(
        "stability loss",
        "loss",
        "How far well fitted states have moved from where φ had them before the update.",
    ),
    "dads/reward": Explanation(
        "reward of skills",
        "log ratio",
        "How much better a step is predicted from the skill that made it than from others; 0 means "
        "that skills do not differ.",
    ),
    "dads/log_likelihood": Explanation(
        "fit of the skill dynamics",
        "log q",
        "Log-likelihood of steps in units of their standard deviation; it falls when skills "
        "change faster than their dynamics are learned.",
    ),
    "dads/controlling": Explanation(
        "skills controlled",
        "0 or 1",
        "0 while skills are learned without the task's reward, 1 once they are used to solve it.",
    ),
    "low/value": Explanation(
        "value, low level", "Q", "Mean Q of sampled states; growth without bound is divergence."
    ),
    "high/value": Explanation(
        "value, high level",
        "Q",
        "It stays near 0 until the first success and rises as success spreads backwards.",
    ),
    "high/cosine": Explanation(
        "agreement with goals",
        "cosine",
        "FeUdal Networks: between the manager's direction and where the latent state went in c "
        "steps; 0 is chance, 1 is obedience.",
    ),
    "low/intrinsic_reward": Explanation(
        "intrinsic reward",
        "mean cosine",
        "The same as the worker is paid for it: over the goals of the last c steps.",
    ),
    "low/deviation": Explanation(
        "standard deviation of actions",
        "before the tanh",
        "How much the worker tries out; it falls as actions get sure.",
    ),
    "low/weight_norm": Explanation(
        "weights, low level", "L2 norm", "Of the hidden layers; see that of the high level."
    ),
    "high/weight_norm": Explanation(
        "weights, high level",
        "L2 norm",
        "Of the hidden layers; what keeps growing learns ever more slowly, as a step of Adam turns "
        "large weights less.",
    ),
    "low/temperature": Explanation(
        "temperature, low level", "α", "Weight of the entropy bonus; it falls as actions get sure."
    ),
    "high/temperature": Explanation(
        "temperature, high level",
        "α",
        "Weight of the entropy bonus; large against the reward it drowns a sparse success.",
    ),
}


def shown_diagnostics(logged: Container[str]) -> dict[str, Explanation]:
    """The logged ones among them; the count of squares only where their share is unknown."""
    kept = {name: text for name, text in DIAGNOSTICS.items() if name in logged}
    if "train/coverage" in kept:
        kept.pop("train/visited_squares", None)
    return kept
