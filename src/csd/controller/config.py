"""The configuration of a controller; field docstrings are the `--help`."""

import dataclasses
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import tyro

from csd.config import SEEDS, PPOConfig, SACConfig, construct
from csd.errors import UserError, nearest, require
from csd.validation import at_least, plain, validate

LEARNERS: dict[str, type] = {"sac": SACConfig, "ppo": PPOConfig}


@dataclass(frozen=True)
class ControlConfig:
    """One training of a controller, complete: with the seed it determines every number of it."""

    skills: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="RUN")]
    """Run, or pretrained skills by name, to choose from; empty: the environment's own actions."""
    task: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="TASK")]
    """Task: a name of `csd list tasks`."""
    preset: str = "fast"
    """Where the defaults come from: fast (minutes on a laptop) or paper (the published run)."""
    seed: int = 0
    """Seed of the whole run."""
    learner: Literal["sac", "ppo"] = "sac"
    """sac for continuous skills and raw actions, ppo for discrete skills."""
    episodes: int = 64_000
    """Episodes to collect."""
    warmup_episodes: int = 0
    """Episodes of random choices at the start, before any gradient step."""
    num_envs: int = 16
    """Episodes collected side by side in each epoch."""
    every: int = 10
    """Environment steps between two choices."""
    updates: int = 4
    """Gradient steps per epoch."""
    batch_size: int = 256
    """Decisions per gradient step."""
    replay_size: int = 1_000_000
    """Decisions kept in replay (sac)."""
    normalizer: Literal["running", "skills", "none"] = "running"
    """Statistics of the inputs: of the run's data, those of the skills (states only), or none."""
    final_lr: float = 1.0
    """Share of the learning rate left at the end; it falls over the last quarter."""
    eval_every: int = 2_000
    """Episodes between evaluations."""
    eval_episodes: int = 100
    """Deterministic episodes in each evaluation during training."""
    log_every: int = 400
    """Episodes between rows of metrics."""
    checkpoint_every: int = 2_000
    """Episodes between checkpoints."""
    algorithm: Annotated[Any, tyro.conf.Suppress] = field(default_factory=SACConfig)

    def __post_init__(self) -> None:
        validate(self)
        at_least(
            self,
            1,
            "episodes num_envs every updates batch_size replay_size "
            "eval_every eval_episodes log_every checkpoint_every",
        )
        at_least(self, 0, "warmup_episodes seed")
        require(self.seed < SEEDS, f"seed must be below 2^32, not {self.seed}")
        require(0.0 < self.final_lr <= 1.0, f"final_lr must be in (0, 1], not {self.final_lr}")
        require(
            self.normalizer != "skills" or bool(self.skills),
            "normalizer 'skills' needs skills: choose running or none",
        )


def from_dict(values: dict[str, Any]) -> ControlConfig:
    """The inverse of `dataclasses.asdict`; unknown fields are the user's to mend."""
    learner = values.get("learner", "sac")
    if learner not in LEARNERS:
        raise UserError(f"unknown learner {learner!r}: {nearest(learner, LEARNERS)}")
    algorithm = construct(LEARNERS[learner], values.get("algorithm", {}))
    return construct(ControlConfig, {**values, "algorithm": algorithm})


def replace(config: ControlConfig, **changes: Any) -> ControlConfig:
    """`dataclasses.replace` by flat field names, wherever the field lives."""
    inner = {f.name for f in dataclasses.fields(config.algorithm)}
    outer = {f.name for f in dataclasses.fields(config)} - {"algorithm"}
    for key in changes:
        if key not in inner | outer:
            raise UserError(f"unknown option {key!r}: {nearest(key, sorted(inner | outer))}")
    algorithm = {key: value for key, value in changes.items() if key in inner}
    return dataclasses.replace(
        config,
        **plain(ControlConfig, {key: value for key, value in changes.items() if key in outer}),
        algorithm=dataclasses.replace(config.algorithm, **plain(type(config.algorithm), algorithm)),
    )
