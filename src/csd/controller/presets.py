"""(task, skills, preset) -> configuration; `docs/control.md` says what differs and why."""

from typing import Any

from csd import tasks
from csd.config import Config
from csd.controller.config import LEARNERS, ControlConfig, replace
from csd.envs.fetch import IDS as FETCH
from csd.envs.locomotion import BODIES as LOCOMOTION
from csd.errors import UserError, nearest
from csd.presets import PRESETS
from csd.presets.textbook import TEXTBOOK_SAC

SAC: dict[str, Any] = TEXTBOOK_SAC | {
    "reward_scale": 1.0,
    "discount": 0.95,
    "lr": 1e-3,
    "alpha": 0.1,
    "alpha_auto": True,
    "bootstrap_time_limit": False,
}

FAST_SAC: dict[str, Any] = SAC | {
    "episodes": 8_000,
    "warmup_episodes": 200,
    "num_envs": 20,
    "updates": 50,
    "batch_size": 256,
    "replay_size": 40_000,
    "eval_every": 1_000,
    "log_every": 200,
    "checkpoint_every": 1_000,
}

FAST_SCRATCH: dict[str, Any] = FAST_SAC | {
    "every": 1,
    "updates": 100,
    "discount": 0.98,
    "replay_size": 400_000,
}

FAST_PPO: dict[str, Any] = {
    "episodes": 8_000,
    "num_envs": 64,
    "updates": 40,
    "hidden": (128, 128),
    "lr": 1e-3,
    "normalizer": "skills",
    "eval_every": 1_024,
    "log_every": 256,
    "checkpoint_every": 1_024,
}

SMALL: dict[str, Any] = {
    "episodes": 2_000,
    "warmup_episodes": 100,
    "actor_hidden": (64, 64),
    "critic_hidden": (64, 64),
    "hidden": (64, 64),
    "batch_size": 128,
    "eval_every": 500,
    "checkpoint_every": 500,
    "every": 4,
}
"""ProbeGoal: seconds."""

PAPER_SAC: dict[str, Any] = {
    "reward_scale": 1.0,
    "action_penalty": 0.0,  # the skill policy's is small beside rewards of hundreds, not of one
    "target_period": 4,  # once an epoch
}
PAPER_KITCHEN: dict[str, Any] = {
    "episodes": 16_000,
    "num_envs": 2,
    "updates": 10,
    "target_period": 10,
}
PAPER_LOCOMOTION_SAC: dict[str, Any] = SAC | {
    "discount": 0.99,
    "num_envs": 8,
    "updates": 50,
    "lr": 1e-4,
    "actor_hidden": (512, 512),
    "critic_hidden": (512, 512),
    "normalizer": "skills",
}
PAPER_PPO: dict[str, Any] = {"num_envs": 64, "updates": 10, "normalizer": "skills"}
LOCOMOTION_EVERY = 25


def preset(
    task: str, skills: Config | None, skills_run: str, name: str = "fast", seed: int = 0
) -> ControlConfig:
    """The defaults for a task and skills; without skills those of SAC from scratch."""
    if name not in PRESETS:
        raise UserError(f"unknown preset {name!r}: {nearest(name, PRESETS)}")
    env = tasks.find(task).env
    learner = "ppo" if skills is not None and skills.skill_type == "discrete" else "sac"
    base = ControlConfig(
        skills_run, task, name, seed, learner=learner, algorithm=LEARNERS[learner]()
    )
    changes = _changes(env, learner, skills is None, name)
    known = {*ControlConfig.__dataclass_fields__, *type(base.algorithm).__dataclass_fields__}
    return replace(base, **{key: value for key, value in changes.items() if key in known})


def _changes(env: str, learner: str, scratch: bool, name: str) -> dict[str, Any]:
    every = {"every": LOCOMOTION_EVERY} if env in LOCOMOTION else {}
    if env == "Probe" or name == "fast":
        chosen = FAST_PPO if learner == "ppo" else FAST_SCRATCH if scratch else FAST_SAC
        changes = every | chosen | (SMALL if env == "Probe" else {})
    elif learner == "ppo":
        changes = PAPER_PPO | every
    elif env in LOCOMOTION:
        changes = PAPER_LOCOMOTION_SAC | every
    else:
        changes = PAPER_SAC | ({} if env in FETCH else PAPER_KITCHEN)
    if scratch:
        changes = changes | {"every": 1}
        if changes.get("normalizer") == "skills":
            changes["normalizer"] = "running"
    if learner == "ppo":  # it learns from its own choices only
        changes = changes | {"warmup_episodes": 0}
    return changes
