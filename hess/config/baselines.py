"""What only the baselines use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NO_BONUS = "none"


@dataclass(frozen=True)
class IntrinsicConfig:
    """A reward for exploring that baselines add to the high level's; HESS itself has none."""

    kind: str = NO_BONUS
    """"none"; "reactive": novelty and potential (§5.4); "prediction": the error of a model of φ's
    dynamics; "successor": 1/‖ψ‖₁ (§5.2); or one of your own, see docs/extending.md."""
    weight: float = 1.0
    """Factor on the prediction error, or on 1/‖ψ‖₁."""
    novelty_weight: float = 1_000.0
    """η₁ of "reactive": the factor on 1/√N."""
    potential_weight: float = 10.0
    """η₂ of "reactive": the factor on 1/√-U."""
    hidden: tuple[int, ...] = (256, 256)
    """Hidden layers of the model of φ's dynamics, or of the successor representation ψ."""
    learning_rate: float = 3e-4
    """Learning rate of either; it is updated once per update of the high level."""
    discount: float = 0.9
    """γ of ψ, per subgoal."""
    target_rate: float = 0.005
    """How fast the target of ψ follows it."""


@dataclass(frozen=True)
class FunConfig:
    """FeUdal Networks, the baseline `fun`; c and the dimension of the latent space are above."""

    perception: tuple[int, ...] = (128, 128)
    """Layers of the perception that manager and worker share."""
    worker_units: int = 128
    """Units of the worker's LSTM; the manager's has as many as the latent space dimensions."""
    goal_embedding: int = 16
    """k: dimension in which the pooled goals modulate the worker."""
    random_goals: float = 0.05
    """ε: share of segments of c steps whose goals are one random direction."""
    intrinsic_weight: float = 0.5
    """α: weight of the worker's intrinsic reward against the task's."""
    manager_discount: float = 0.99
    """γ of the manager, per step."""
    worker_discount: float = 0.95
    """γ of the worker, per step."""
    trace: float = 0.95
    """λ of the advantages of both: 0 trusts the critics, 1 the returns."""
    learning_rate: float = 5e-4
    """Learning rate."""
    epochs: int = 2
    """Gradient steps per round; 1 is the plain policy gradient."""
    clip: float = 0.2
    """How far the probability of an action may move in a round before its gradient stops."""
    value_weight: float = 0.5
    """Weight of the critics' losses."""
    entropy_weight: float = 1e-3
    """Weight of the bonus on the policy's entropy."""
    gradient_norm: float = 0.5
    """Longer gradients are cut to this length."""
    initial_deviation: float = 0.6
    """Standard deviation of the policy at the start, before the tanh."""


@dataclass(frozen=True)
class DadsConfig:
    """The baseline dads: skills learned by predictable dynamics, then controlled.

    A skill lies in [-1, 1]^d, d = `representation.dim`, and is held for `subgoal_interval` steps.
    """

    space: Literal["observation", "positions"] = "observation"
    """What the skill dynamics predict: the whole observation, or only x, y (the x-y prior)."""
    share: float = 0.5
    """Share of the run's steps in which skills are learned, before they are controlled."""
    frozen: bool = True
    """Skills and dynamics stay as they are once control begins; otherwise they learn on."""
    resample: float = 0.2
    """While skills are learned: probability of another skill after every c steps."""
    other_skills: int = 16
    """L: skills against which the reward compares the one that made a transition."""
    experts: int = 4
    """Gaussians in the mixture of the skill dynamics."""
    hidden: tuple[int, ...] = (128, 128)
    """Hidden layers of the skill dynamics."""
    learning_rate: float = 3e-4
    """Learning rate of the skill dynamics."""
    batch_size: int = 256
    """Transitions per update of the skill dynamics."""
    updates_per_step: float = 0.2
    """Updates of the skill dynamics per environment step."""
    window: int = 50
    """Newest episodes that the skill dynamics learn from: q has to follow the skills."""
    control: Literal["policy", "planning"] = "policy"
    """Who chooses skills: a high-level policy, or a planner (needs space "positions")."""
    plan_length: int = 2
    """Skills in a plan, each held for c steps."""
    plan_candidates: int = 64
    """Plans compared in a refinement."""
    plan_refinements: int = 5
    """Times that a plan is refined."""
    plan_sharpness: float = 10.0
    """Weight of a plan: the exponential of this times its return, in units of their spread."""
