"""Named sets of config values. The default is what has been measured to work best."""

from __future__ import annotations

from typing import Any

from hess.config import Config, override
from hess.errors import unknown

PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    # The paper's numbers, literally: Table 1, Section 5.5 and Appendix B. What the paper leaves
    # open (margin, early first update) is as docs/differences.md says.
    "paper": {
        "subgoal_interval": 50,
        "subgoal_radius": 20.0,
        "capacity": 1_000_000,
        "low.hidden": (256, 256),
        "low.layer_norm": False,
        "low.learning_rate": 2e-4,
        "low.weight_decay": 0.0,
        "low.batch_size": 128,
        "low.discount": 0.99,
        "low.target_rate": 0.005,
        "low.reward_scale": 1.0,
        "low.updates_per_decision": 1.0,
        "low.initial_temperature": 1.0,
        "low.actor_interval": 1,
        "low.reward": "distance",
        "low.subgoal_input": "absolute",
        "low.normalise": False,
        "low.hide_explained": False,
        "low.hindsight": 0.0,
        "low.any_subgoal": 0.0,
        "high.hidden": (256, 256),
        "high.layer_norm": False,
        "high.learning_rate": 2e-4,
        "high.weight_decay": 0.0,
        "high.batch_size": 128,
        "high.discount": 0.99,
        "high.target_rate": 0.005,
        "high.reward_scale": 0.1,
        "high.updates_per_decision": 1.0,
        "high.initial_temperature": 1.0,
        "high.target_entropy": -1.0,
        "high.subgoal_shape": "ball",
        "high.warmup": "policy",
        "high.normalise": False,
        "high.observation_input": True,
        "high.embedding_input": False,
        "high.memory_input": False,
        "high.hindsight": 0.0,
        "high.choices": 1,
        "high.stop_at_success": False,
        "representation.dim": 2,
        "representation.start": "before",
        "representation.hidden": (100,),
        "representation.learning_rate": 1e-4,
        "representation.batch_size": 100,
        "representation.distance": "l2",
        "representation.margin": 2.0**0.5,
        "representation.stability": "binary",
        "representation.stability_weight": 0.1,
        "representation.stable_fraction": 0.3,
        "representation.priority": "loss",
        "representation.interval": 100,
        "representation.growth": 0.0,
        "representation.minibatches": 50_000,
        "exploration.probability": 0.7,
        "exploration.schedule": "linear",
        "exploration.decided": "segment",
        "exploration.greedy_share": 0.0,
        "exploration.anneal_fraction": 0.5,
        "exploration.candidates": 1_000,
        "exploration.reach": 1.0,
        "exploration.units": "fixed",
        "exploration.extension": 5.0,
        "exploration.potential_weight": 0.03,
        "exploration.balance": "weighted",
        "exploration.novelty": "cumulative",
        "exploration.potential": "distance",
        "exploration.counts": "grid",
        "exploration.waypoints": 0.0,
        "exploration.detour": 0.0,
        "exploration.least_progress": 0.0,
        "exploration.revisit_cost": 0.0,
        "exploration.insistence": 0.0,
        "exploration.attempt_cost": 0.0,
        "exploration.count_discount": 0.99,
        "exploration.cell_size": 3.0,
        "exploration.least_cells": 0,
        "exploration.least_weight": 1.0,
        "exploration.age_discount": 0.995,
        "exploration.recount": False,
        "evaluation.interval": 25_000,
        "evaluation.episodes": 10,
    },
}


def preset(name: str) -> Config:
    """The config of that name."""
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    return override(Config(), PRESETS[name])
