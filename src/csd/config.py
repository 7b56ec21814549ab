"""Frozen configurations, validated on construction; field docstrings are the `--help`."""

import dataclasses
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import tyro

from csd.algorithms import ALGORITHMS, CSDConfig
from csd.errors import UserError, nearest, require
from csd.validation import above_zero, at_least, plain, validate, within

SEEDS = 2**32  # beyond, the chance that JAX draws repeats


@dataclass(frozen=True)
class SACConfig:
    """The policy learner: SAC in both published regimes."""

    reward_scale: float = 500.0
    """Coefficient of the intrinsic reward in the critic's target."""
    discount: float = 0.98
    """Discount factor gamma."""
    critics: Literal[1, 2] = 1
    """One critic, or the smaller of two."""
    actor_hidden: tuple[int, ...] = (256, 256)
    """Hidden widths of the actor."""
    actor_projection: int = 256
    """Width of a linear layer between the actor's trunk and its heads; 0 leaves it out."""
    actor_activation: Literal["relu", "tanh"] = "relu"
    """Activation of the actor's hidden layers."""
    head_scale: float = 1.0
    """Factor on the starting weights of the actor's heads."""
    log_std: Literal["squashed", "clamped"] = "squashed"
    """squashed: log standard deviation by tanh in [-5, 2]; clamped: cut to [-13.8, 2]."""
    critic_hidden: tuple[int, ...] = (256, 256)
    """Hidden widths of each critic."""
    lr: float = 1e-3
    """Adam's learning rate for actor, critic and temperature."""
    alpha: float = 0.02
    """Entropy temperature (its starting value when automatic)."""
    alpha_auto: bool = False
    """Adjust the temperature towards a target entropy of -|A|/2."""
    entropy: Literal["soft", "offset", "none"] = "offset"
    """soft: textbook SAC; offset: the published clipped batch-mean term; none: no entropy term."""
    action_penalty: float = 1.0
    """Weight of the mean squared action in the actor's loss."""
    target_rate: float = 0.005
    """Weight of the new parameters in the target average (the paper's 1 - tau)."""
    target_period: int = 10
    """Gradient steps between target updates."""
    target_actor: bool = True
    """Take the next action of the critic's target from an averaged copy of the actor."""
    target_copy: bool = False
    """Start the targets as copies of the online networks (published: independent)."""
    bootstrap_time_limit: bool = True
    """Bootstrap through the time limit; False treats it as a termination."""
    store_end: bool = True
    """Store the state in which an episode terminates; False repeats the one before (published)."""
    action_noise: float = 0.2
    """Standard deviation of the noise added to the mean action while collecting."""
    random_action_prob: float = 0.3
    """Probability of a uniformly random action at each step while collecting."""
    sample_actions: bool = False
    """Collect with actions sampled from the Gaussian policy instead of the mean."""

    def __post_init__(self) -> None:
        validate(self)
        require(0.0 <= self.discount < 1.0, f"discount must be in [0, 1), not {self.discount}")
        at_least(self, 1, "target_period")
        at_least(self, 0, "reward_scale alpha action_penalty action_noise actor_projection")
        above_zero(self, "head_scale")
        within(self, "target_rate random_action_prob")


@dataclass(frozen=True)
class PPOConfig:
    """The learner that chooses among discrete skills."""

    hidden: tuple[int, ...] = (512, 512)
    """Hidden widths of policy and value."""
    lr: float = 3e-4
    """Adam's learning rate for policy and value."""
    discount: float = 0.99
    """Discount factor per decision."""
    trace: float = 0.95
    """Lambda of the generalised advantage estimate."""
    clip: float = 0.2
    """How far the probability ratio may move."""
    entropy_bonus: float = 0.01
    """Weight of the policy's entropy."""

    def __post_init__(self) -> None:
        validate(self)
        within(self, "discount trace")
        above_zero(self, "clip")
        at_least(self, 0, "entropy_bonus")


@dataclass(frozen=True)
class Config:
    """One training run, complete: with the seed it determines every number of it."""

    env: tyro.conf.Positional[str]
    """Environment: a name of `csd list envs` or any Gymnasium id."""
    method: str = "csd"
    """Skill discovery method: a name of `csd list methods`."""
    preset: str = "fast"
    """Where the defaults come from: fast (minutes on a laptop) or paper (the published run)."""
    seed: int = 0
    """Seed of the whole run."""
    episodes: int = 80_000
    """Episodes to collect."""
    warmup_episodes: int = 4_000
    """Episodes of random actions at the start, on which only the distance is trained."""
    num_envs: int = 2
    """Environments stepped side by side: the episodes of one epoch."""
    updates: int = 10
    """Gradient steps of the policy per epoch."""
    start_steps: int = 0
    """Environment steps to collect before the first gradient step."""
    method_updates: int = 10
    """Gradient steps of the method per epoch; if not equal to updates, they come after them."""
    method_first: bool = False
    """In each iteration train the method before the policy, on one shared batch."""
    batch_size: int = 256
    """Transitions per gradient step."""
    final_lr: float = 1.0
    """Share of every learning rate left at the end; it falls over the last quarter."""
    final_noise: float = 1.0
    """Share of the exploration left at the end; it falls over the last quarter."""
    keep: Literal["last", "widest"] = "last"
    """Skills a run ends with: the last ones, or each as the last quarter saw it reach furthest."""
    replay_episodes: int = 2_000
    """Episodes kept in replay."""
    replay_overwrite: Literal["random", "oldest"] = "random"
    """Which episode a full replay gives up."""
    skill_type: Literal["continuous", "discrete"] = "continuous"
    """Gaussian vectors or one-hot codes."""
    skill_dim: int = 2
    """Dimensions of a continuous skill or number of discrete skills."""
    skill_unit_length: bool = False
    """Scale continuous skills to length one."""
    normalizer: Literal["running", "preset", "none"] = "running"
    """Observation statistics: of all data, of random actions (stored or warm-up), or none."""
    obs_clip: float = 5.0
    """Clip of the normalised states that policy and critic see; 0 leaves them as they are."""
    method_states: Literal["raw", "normalized", "whitened"] = "raw"
    """What the method sees: raw, normalised, or in units of one random step (of the warm-up)."""
    focus: str = ""
    """What the method sees of the state: a group (`object`) or indices (`3,4,5`); empty: all."""
    horizon: int = 0
    """Steps per episode; 0 takes the environment's own limit."""
    overlap: bool = False
    """Collect the next epoch while learning from this one (the policy is one epoch older)."""
    eval_every: int = 2_000
    """Episodes between evaluations."""
    eval_skills: int = 200
    """Skills rolled out in each evaluation during training."""
    log_every: int = 200
    """Episodes between rows of metrics."""
    checkpoint_every: int = 2_000
    """Episodes between checkpoints."""
    sac: Annotated[SACConfig, tyro.conf.Suppress] = field(default_factory=SACConfig)
    algorithm: Annotated[Any, tyro.conf.Suppress] = field(default_factory=CSDConfig)

    def __post_init__(self) -> None:
        validate(self)
        if self.method not in ALGORITHMS:
            raise UserError(f"unknown method {self.method!r}: {nearest(self.method, ALGORITHMS)}")
        needed = ALGORITHMS[self.method]
        require(
            type(self.algorithm) is needed,
            f"method {self.method!r} takes {needed.__name__} as its algorithm, "
            f"not {type(self.algorithm).__name__}",
        )
        require(self.seed < SEEDS, f"seed must be below 2^32, not {self.seed}")
        at_least(
            self,
            1,
            "episodes num_envs updates method_updates batch_size replay_episodes skill_dim "
            "eval_every eval_skills log_every checkpoint_every",
        )
        at_least(self, 0, "warmup_episodes start_steps obs_clip horizon seed")
        require(
            self.num_envs <= self.replay_episodes,
            f"num_envs ({self.num_envs}) must not exceed replay_episodes ({self.replay_episodes})",
        )
        require(
            self.warmup_episodes < self.episodes,
            f"episodes ({self.episodes}) must exceed warmup_episodes ({self.warmup_episodes}), "
            "in which no skill is learned",
        )
        require(
            not self.method_first or self.updates == self.method_updates,
            f"method_first shares batches: updates ({self.updates}) must equal method_updates "
            f"({self.method_updates})",
        )
        require(0.0 < self.final_lr <= 1.0, f"final_lr must be in (0, 1], not {self.final_lr}")
        require(
            0.0 < self.final_noise <= 1.0, f"final_noise must be in (0, 1], not {self.final_noise}"
        )
        require(
            self.skill_type != "discrete" or self.skill_dim >= 2,
            "discrete skills need skill_dim of at least 2",
        )
        require(
            self.warmup_episodes > 0 or self.method_states != "whitened",
            "method_states 'whitened' is measured in the warm-up: set warmup_episodes above 0",
        )
        require(
            self.method_states != "normalized" or self.normalizer != "none",
            "method_states 'normalized' needs a normalizer other than 'none'",
        )


def needs_warmup(normalizer: str, method_states: str) -> bool:
    """Whether statistics of the states are measured on random episodes at the start."""
    return normalizer == "preset" or method_states == "whitened"


def gradient_steps(config: Config, an_epoch: int) -> int:
    """Gradient steps after the warm-up, so many an epoch, in the whole run."""
    return max(config.episodes - config.warmup_episodes, 1) * an_epoch // config.num_envs


FALLING = 0.25
"""The last part of a run, over which learning rates and exploration may fall."""


def fallen(config: Config, episode: int) -> float:
    """How far into the last part of a run an episode is, from 0 to 1."""
    done = (episode - config.warmup_episodes) / max(config.episodes - config.warmup_episodes, 1)
    return min(max((done - (1.0 - FALLING)) / FALLING, 0.0), 1.0)


def exploration(config: Config, episode: int) -> float:
    """The share of its exploration that an episode keeps."""
    return 1.0 - (1.0 - config.final_noise) * fallen(config, episode)


def from_dict(values: dict[str, Any]) -> Config:
    """The inverse of `dataclasses.asdict`; unknown or missing fields are the user's to mend."""
    method = values.get("method", "csd")
    if not isinstance(method, str) or method not in ALGORITHMS:
        raise UserError(f"unknown method {method!r}: {nearest(str(method), ALGORITHMS)}")
    parts = {"sac": SACConfig, "algorithm": ALGORITHMS[method]}
    values = {
        key: construct(parts[key], value) if key in parts else value
        for key, value in values.items()
    }
    return construct(Config, values)


def replace(config: Config, **changes: Any) -> Config:
    """`dataclasses.replace` by flat field names, wherever the field lives."""
    names = {f.name for f in dataclasses.fields(Config)} - {"sac", "algorithm"}
    top, sac, algorithm = {}, {}, {}
    for key, value in changes.items():
        for owner, known in (
            (top, names),
            (sac, {f.name for f in dataclasses.fields(SACConfig)}),
            (algorithm, {f.name for f in dataclasses.fields(config.algorithm)}),
        ):
            if key in known:
                owner[key] = value
                break
        else:
            every = [*names, *_fields(SACConfig), *_fields(type(config.algorithm))]
            raise UserError(f"unknown option {key!r}: {nearest(key, sorted(every))}")
    return dataclasses.replace(
        config,
        **plain(Config, top),
        sac=dataclasses.replace(config.sac, **plain(SACConfig, sac)),
        algorithm=dataclasses.replace(config.algorithm, **plain(type(config.algorithm), algorithm)),
    )


def _fields(cls: type) -> list[str]:
    return [f.name for f in dataclasses.fields(cls)]


def construct(cls: type, values: Any) -> Any:
    """A dataclass from JSON values; unknown fields are the user's to mend."""
    if not isinstance(values, dict):
        raise UserError(f"{cls.__name__} must be an object of fields, not {values!r}")
    known = _fields(cls)
    for key in values:
        if key not in known:
            raise UserError(f"unknown option {key!r}: {nearest(key, known)}")
    return cls(**plain(cls, values))
