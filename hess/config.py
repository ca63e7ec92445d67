"""Everything that can be set, declared once: frozen, typed, documented per field.

Symbols in the comments are the paper's. Field docstrings become the command line's help.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hess.errors import unknown


@dataclass(frozen=True)
class LevelConfig:
    """One soft actor-critic learner: the high level, the low level, or the flat baseline."""

    hidden: tuple[int, ...] = (256, 256)
    """Hidden layers of actor and critics."""
    layer_norm: bool = False
    """Layer normalisation in the critics' hidden layers."""
    learning_rate: float = 2e-4
    """Adam step size of actor, critics and temperature."""
    batch_size: int = 128
    """Transitions per update."""
    discount: float = 0.99
    """γ of this level."""
    target_rate: float = 0.005
    """τ: how fast target critics follow the critics."""
    reward_scale: float = 1.0
    """Factor on this level's reward."""
    updates_per_decision: float = 1.0
    """Gradient updates per decision of this level: a step (low) or a subgoal (high)."""
    initial_temperature: float = 1.0
    """Entropy temperature at the start; it is tuned automatically from there."""


@dataclass(frozen=True)
class LowConfig(LevelConfig):
    """The low level: reaches subgoals."""

    layer_norm: bool = True
    """Layer normalisation in the critics' hidden layers."""
    learning_rate: float = 3e-4
    """Adam step size of actor, critics and temperature."""
    batch_size: int = 256
    """Transitions per update."""
    discount: float = 0.95
    """γ of this level."""
    updates_per_decision: float = 0.4
    """Gradient updates per environment step."""
    initial_temperature: float = 0.018
    """Entropy temperature at the start; it is tuned automatically from there."""
    reward: Literal["distance", "progress"] = "progress"
    """-‖g - φ(s')‖ (the paper), or the decrease of that distance in one step."""
    subgoal_input: Literal["absolute", "relative"] = "relative"
    """The networks see φ(s) and g (the paper), or g - φ(s)."""
    normalise: bool = True
    """The networks see observations scaled to mean 0 and deviation 1 over all that came so far."""
    hindsight: float = 0.3
    """Share of the batch whose subgoal is replaced by an embedding reached up to c steps later."""


@dataclass(frozen=True)
class HighConfig(LevelConfig):
    """The high level: sets subgoals."""

    reward_scale: float = 1.0
    """Factor on the summed reward of a segment."""
    learning_rate: float = 3e-4
    """Adam step size of actor, critics and temperature."""
    discount: float = 0.9
    """γ per subgoal; near 1, with about ten subgoals per episode, haste would not pay."""
    initial_temperature: float = 0.05
    """Entropy temperature at the start; at 1 the entropy bonus drowns a sparse reward for long."""
    updates_per_decision: float = 5.0
    """Gradient updates per subgoal."""
    subgoal_shape: Literal["ball", "box"] = "box"
    """Neighbourhood of φ(s) for subgoals: the L2 ball of radius r_g (the paper's Δ), or the box."""
    warmup: Literal["policy", "uniform"] = "uniform"
    """Who sets the non-active subgoals before the first success: the policy, or uniform draws."""
    stop_at_success: bool = True
    """The task is solved when the goal is reached: later rewards do not count, nor a bootstrap."""


@dataclass(frozen=True)
class RepresentationConfig:
    """φ: the subgoal representation, learned from slow dynamics (§3.1)."""

    dim: int = 2
    """d: dimension of the subgoal space."""
    hidden: tuple[int, ...] = (100,)
    """Hidden layers of φ."""
    learning_rate: float = 1e-4
    """Adam step size."""
    batch_size: int = 100
    """Triplets per minibatch."""
    distance: Literal["l2", "squared_mean"] = "squared_mean"
    """Triplet distance: L2 as written, or the mean of squares over dimensions."""
    margin: float = 0.25
    """δ, in units of `distance`; √2 in "l2" asks for the same spacing as 1 in "squared_mean"."""
    stability: Literal["binary", "continuous"] = "binary"
    """λ(s): λ₀ on the best fitted triplets only, or λ₀/√(1 + L_tri) on uniform samples."""
    stability_weight: float = 0.1
    """λ₀; 0 switches the stability term off."""
    stable_fraction: float = 0.3
    """k%: share of triplets, best fitted first, whose anchors are held."""
    priority: Literal["loss", "rank", "uniform"] = "rank"
    """Triplets are drawn ∝ L_tri, uniformly from the worse half, or uniformly from all."""
    interval: int = 100
    """I: episodes between updates."""
    first_update: int = 30
    """Episodes before the first update; active exploration needs a φ."""
    minibatches: int = 20_000
    """m: minibatches per update."""
    refresh: int = 2_500
    """Minibatches after which priorities are computed anew within an update."""


@dataclass(frozen=True)
class ExplorationConfig:
    """Measures of subgoals and the active strategy (§3.2, §3.3)."""

    probability: float = 0.8
    """p at the start: how often a subgoal is selected actively; 0 switches selection off."""
    schedule: Literal["linear", "success"] = "success"
    """p falls linearly to 0, or stays at p₀·(1 - recent training success)."""
    success_window: int = 20
    """Training episodes that count as recent for the "success" schedule."""
    anneal_fraction: float = 0.5
    """Share of training after which a linear p is 0."""
    candidates: int = 1_000
    """M: visited states compared in one selection."""
    reach: float = 0.6
    """Candidates lie within this share of r_g around φ(s_t); in the paper all of it, 1."""
    units: Literal["fixed", "span"] = "span"
    """r_g, d_e and cell size as given, or times the explored span of φ over `reference_span`."""
    reference_span: float = 30.0
    """The extent of φ over all visited states for which r_g, d_e and cell size are meant."""
    pool: int = 20_000
    """States drawn from the replay once per episode, from which candidates in reach are taken."""
    extension: float = 5.0
    """d_e: how far the imagined subgoal lies beyond the selected one; 0 switches it off."""
    potential_weight: float = 0.1
    """α: weight of potential against novelty."""
    balance: Literal["weighted", "normalised"] = "normalised"
    """Ñ - αU as written, or both scaled to [0, 1] over the candidates first."""
    novelty: Literal["reachable", "cumulative", "immediate", "importance"] = "reachable"
    """The least visited cell that is known to be reachable, with the way there; the paper's N with
    age discount; the plain visit count n; or N with importance weights."""
    segment_cost: float = 0.2
    """What each segment on the way adds to a "reachable" cell's log count."""
    count_discount: float = 0.99
    """γ of the cumulative counts, per segment."""
    cell_size: float = 3.0
    """Edge of a grid cell, in units of φ."""
    age_discount: float = 0.995
    """Weight of a rollout per episode of its age."""
    attempts: Literal["active", "all"] = "active"
    """Segments that U is averaged over: those of actively selected subgoals, or all of them."""
    recount: bool = False
    """Count all stored states anew after each φ update, instead of keeping the old counts."""
    novelty_interval: int = 2
    """Episodes between two computations of N."""


@dataclass(frozen=True)
class IntrinsicConfig:
    """A reward for exploring that baselines add to the high level's; HESS itself has none."""

    kind: Literal["none", "reactive", "prediction", "successor"] = "none"
    """None; novelty and potential (§5.4); error of a model of φ's dynamics; 1/‖ψ‖₁ (§5.2)."""
    weight: float = 1.0
    """Factor on the prediction error, or on 1/‖ψ‖₁."""
    novelty_weight: float = 1_000.0
    """η₁ of "reactive": the factor on 1/√N."""
    potential_weight: float = 10.0
    """η₂ of "reactive": the factor on 1/√-U."""
    hidden: tuple[int, ...] = (256, 256)
    """Hidden layers of the model of φ's dynamics, or of the successor representation ψ."""
    learning_rate: float = 3e-4
    """Adam step size of either; it is updated once per update of the high level."""
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
    """Adam step size."""
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
    """Adam step size of the skill dynamics."""
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


@dataclass(frozen=True)
class EvaluationConfig:
    """Evaluation with deterministic policies and without active exploration."""

    interval: int = 25_000
    """Environment steps between evaluations."""
    episodes: int = 10
    """Episodes per evaluation."""


@dataclass(frozen=True)
class RecordConfig:
    """What is written while training."""

    checkpoint_interval: int = 50_000
    """Environment steps between checkpoints."""
    snapshot_interval: int = 20_000
    """Environment steps between snapshots for figures and the viewer."""
    tensorboard: bool = True
    """Write TensorBoard events beside metrics.jsonl."""


@dataclass(frozen=True)
class Config:
    """A complete description of one run."""

    task: str = "PointMaze"
    """Task: a name from `hess envs`, a Gymnasium id, or module:Env-v0."""
    method: str = "hess"
    """Method: a name from `hess methods`."""
    seed: int = 0
    """Seed of everything random in the run."""
    steps: int = 1_000_000
    """Environment steps to train for."""
    num_envs: int = 1
    """Environments collected side by side, each in its thread."""
    pipeline: bool = True
    """Collect the next episodes while learning from the last; the lag is always one round."""
    capacity: int = 1_000_000
    """Environment steps that the replay holds, for both levels."""
    subgoal_interval: int = 50
    """c: steps per subgoal."""
    subgoal_radius: float = 20.0
    """r_g: radius of the neighbourhood for subgoals, in units of φ."""
    high: HighConfig = field(default_factory=HighConfig)
    low: LowConfig = field(default_factory=LowConfig)
    representation: RepresentationConfig = field(default_factory=RepresentationConfig)
    exploration: ExplorationConfig = field(default_factory=ExplorationConfig)
    intrinsic: IntrinsicConfig = field(default_factory=IntrinsicConfig)
    fun: FunConfig = field(default_factory=FunConfig)
    dads: DadsConfig = field(default_factory=DadsConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    record: RecordConfig = field(default_factory=RecordConfig)


def override(config: Any, values: dict[str, Any]) -> Any:
    """A copy of a (nested) config with dotted fields replaced: {"low.hindsight": 0.3}."""
    for name, value in values.items():
        head, _, rest = name.partition(".")
        inner = override(getattr(config, head), {rest: value}) if rest else value
        config = dataclasses.replace(config, **{head: inner})
    return config


def flat_fields(config: Any, prefix: str = "") -> dict[str, Any]:
    """All fields under dotted names."""
    fields: dict[str, Any] = {}
    for each in dataclasses.fields(config):
        value = getattr(config, each.name)
        if dataclasses.is_dataclass(value):
            fields |= flat_fields(value, f"{prefix}{each.name}.")
        else:
            fields[prefix + each.name] = value
    return fields


def fill(config: Config, values: Mapping[str, Any]) -> Config:
    """`override` that refuses names which are no fields."""
    known = flat_fields(config)
    for name in values:
        if name not in known:
            raise unknown("field", name, known)
    filled: Config = override(config, dict(values))
    return filled
