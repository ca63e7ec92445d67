"""The two levels of the hierarchy; a field without a text has that of `LevelConfig`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class LevelConfig:
    """One soft actor-critic learner: the high level, the low level, or the flat baseline."""

    hidden: tuple[int, ...] = (256, 256)
    """Hidden layers of actor and critics."""
    layer_norm: bool = False
    """Layer normalisation in the critics' hidden layers."""
    learning_rate: float = 2e-4
    """Learning rate of actor, critics and temperature."""
    weight_decay: float = 0.0
    """Share of the hidden weights, times the learning rate, that each update takes away (AdamW)."""
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
    target_entropy: float = -1.0
    """Entropy, per dimension of the action, to which the temperature is tuned; uniform is 0.69."""
    actor_interval: int = 1
    """Updates of the critics per update of actor and temperature."""


@dataclass(frozen=True)
class LowConfig(LevelConfig):
    """The low level: reaches subgoals."""

    layer_norm: bool = True
    learning_rate: float = 3e-4
    discount: float = 0.95
    updates_per_decision: float = 0.4
    """Gradient updates per environment step."""
    actor_interval: int = 2
    initial_temperature: float = 0.018
    reward: Literal["distance", "progress"] = "progress"
    """-‖g - φ(s')‖ (the paper), or the decrease of that distance in one step."""
    subgoal_input: Literal["absolute", "relative"] = "relative"
    """The networks see φ(s) and g (the paper), or g - φ(s)."""
    normalise: bool = True
    """The networks see observations normalised to mean 0 and variance 1 over all that was seen."""
    hide_explained: bool = True
    """The networks see less of an entry of the observation, the more of it φ tells and the more of
    its range came after the first, random episodes: a step here is then learned for everywhere."""
    hindsight: float = 0.3
    """Share of the batch whose subgoal is replaced by an embedding reached up to c steps later."""
    any_subgoal: float = 0.5
    """Share of the rest whose subgoal is replaced by a uniform draw from the box of r_g around
    φ(s): what a step was worth is known for every subgoal, not only for the one it was made for."""


@dataclass(frozen=True)
class HighConfig(LevelConfig):
    """The high level: sets subgoals."""

    layer_norm: bool = True
    reward_scale: float = 1.0
    """Factor on the summed reward of a segment."""
    learning_rate: float = 3e-4
    weight_decay: float = 0.3
    """Share of the hidden weights, times the learning rate, that each update takes away (AdamW).
    Without it they grow until a step of Adam hardly turns them any more, and a high level that has
    lost its way stays lost (AntFourRooms, docs/notebook.md)."""
    target_rate: float = 0.02
    """τ: how fast target critics follow the critics. Segments are few: at 0.005 values along the
    way still rise when the policy succeeds already (PointMaze, seed 0: 0.9 at 75,000 steps, at
    50,000 with 0.02)."""
    discount: float = 0.9
    """γ per subgoal; near 1, with about ten subgoals per episode, haste would not pay."""
    initial_temperature: float = 0.02
    """Entropy temperature at the start; at 1 the entropy bonus drowns a sparse reward for long."""
    target_entropy: float = 0.3
    """Entropy, per dimension of the action, to which the temperature is tuned; uniform is 0.69.
    With less, a policy that succeeds narrows to what it does and loses it at the next mistake."""
    updates_per_decision: float = 10.0
    """Gradient updates per subgoal."""
    subgoal_shape: Literal["ball", "box"] = "box"
    """Neighbourhood of φ(s) for subgoals: the L2 ball of radius r_g (the paper's Δ), or the box."""
    warmup: Literal["policy", "uniform"] = "uniform"
    """Who sets the non-active subgoals before the first success: the policy, or uniform draws."""
    normalise: bool = True
    """The networks see everything normalised to mean 0 and variance 1 over all that came so far; in
    `dads`, which controls skills, as it is."""
    observation_input: bool = False
    """The networks see s itself (the paper). From a few successes a critic learns by heart in which
    poses they began; φ(s) has what lasts, and with it they keep what they have found."""
    embedding_input: bool = True
    """The networks see φ(s), in which subgoals are set, besides the goal."""
    memory_input: bool = True
    """The networks see where the episode has been, the mean of φ over its segments so far: a block
    that was pushed in the way shows in no observation, but in how the robot came to be here."""
    choices: int = 64
    """Actions of the policy of which its critics choose the best where nothing is drawn, as in
    evaluations: the mode of a policy that is kept wide is not the best that it knows. 1: the mode;
    `dads`, which controls skills, always takes that."""
    hindsight: float = 0.5
    """Share of the batch whose subgoal is replaced by the embedding that its segment led to."""
    stop_at_success: bool = True
    """The task is solved when the goal is reached: later rewards do not count, nor a bootstrap."""
