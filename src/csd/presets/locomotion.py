"""Ant, HalfCheetah and Humanoid: the published near-on-policy loop, and a replay loop of ours."""

from typing import Any

from csd.presets.textbook import TEXTBOOK_SAC

SAC: dict[str, Any] = TEXTBOOK_SAC | {
    "warmup_episodes": 0,
    "normalizer": "preset",
    "method_states": "normalized",
    "obs_clip": 0.0,
    "replay_overwrite": "oldest",
    "skill_type": "discrete",
    "skill_dim": 16,
    "discount": 0.99,
    "actor_activation": "tanh",
    "head_scale": 0.1,
    "log_std": "clamped",
    "density_loss": "gaussian",
    "reward_scale": 10.0,
}
"""Textbook SAC on states normalised by stored statistics: common to both presets."""


def sizes(width: int, lr: float) -> dict[str, Any]:
    """Every network of one width, every optimiser of one rate."""
    networks = "actor critic phi density discriminator dynamics model".split()
    rates = "lr phi_lr lambda_lr density_lr discriminator_lr dynamics_lr model_lr".split()
    return {f"{name}_hidden": (width, width) for name in networks} | dict.fromkeys(rates, lr)


PAPER: dict[str, Any] = SAC | {
    "episodes": 200_000,
    "num_envs": 10,
    "replay_episodes": 10,  # the epoch's own episodes and no others
    "updates": 64,
    "method_updates": 32,
    "batch_size": 1024,
    "bootstrap_time_limit": False,
    "store_end": False,
    "lambda_init": 3000.0,
    "slack": 1e-6,
    "eval_every": 10_000,
    "log_every": 1_000,
    "checkpoint_every": 10_000,
}
"""Each epoch: 2,000 fresh steps, 64 steps of the policy with last epoch's phi, 32 of the method."""

REPLAY: dict[str, dict[str, Any]] = {
    "Ant": {"replay_episodes": 5_000},
    "HalfCheetah": {"replay_episodes": 5_000},
    "Humanoid": {"replay_episodes": 1_000},
}
"""A million steps, counted in episodes of full length."""

PAPER_HUMANOID: dict[str, Any] = {"episodes": 100_000, "num_envs": 5, "start_steps": 10_000}

ALPHA = {
    "csd": {"Ant": 0.03, "HalfCheetah": 0.1, "Humanoid": 0.3},
    "lsd": {"Ant": 0.003, "HalfCheetah": 0.003, "Humanoid": 0.03},
}
"""The published temperatures; the ablations between CSD and LSD follow the one they resemble."""

METRA_LOOP: dict[str, Any] = {
    "num_envs": 8,
    "start_steps": 10_000,
    "updates": 50,
    "method_updates": 50,
    "method_first": True,
    "batch_size": 256,
}

FAST: dict[str, Any] = (
    SAC
    | sizes(128, 3e-4)
    | {
        "episodes": 9_600,
        "num_envs": 16,
        "updates": 200,
        "method_updates": 200,
        "method_first": True,
        "batch_size": 256,
        "replay_episodes": 5_000,
        "overlap": True,
        "alpha": 0.03,
        "lambda_init": 1.0,
        "slack": 1e-3,
        "eval_every": 1_600,
        "eval_skills": 64,
        "log_every": 200,
        "checkpoint_every": 1_600,
    }
)
"""The METRA loop with CSD's distance; `docs/locomotion.md` says what each number is worth."""

TWO_D: dict[str, Any] = {"skill_type": "continuous", "skill_dim": 2, "skill_unit_length": True}

FAST_CHANGES: dict[str, dict[str, Any]] = {
    "Ant": TWO_D | sizes(128, 1e-3) | {"episodes": 8_800, "final_lr": 0.2, "obs_clip": 5.0},
    "HalfCheetah": sizes(128, 1e-3) | {"episodes": 7_200, "batch_size": 128, "final_lr": 0.2},
    "Humanoid": TWO_D | {"horizon": 400, "replay_episodes": 2_500, "start_steps": 10_000},
}

AUTO: dict[str, Any] = {"reward_scale": 1.0, "alpha": 0.01, "alpha_auto": True}

METHOD_CHANGES: dict[str, dict[str, Any]] = {
    "lsd": {"reward_scale": 1.0},
    "lsd-preset": {"reward_scale": 1.0},
    "lsd-norm": {"reward_scale": 1.0},
    "metra": AUTO | {"lambda_init": 30.0, "slack": 1e-3},
    "diayn": AUTO,
    "dads": AUTO,
    "disagreement": AUTO,
}
"""Scales and temperatures of the methods that CSD is compared with, in every preset."""

FAST_METHOD_CHANGES: dict[str, dict[str, Any]] = {"dads": {"alternatives": 20}}


def changes(env: str, method: str, name: str) -> dict[str, Any]:
    """What differs from the defaults of `Config`."""
    like = "lsd" if method in ("lsd", "lsd-preset", "lsd-norm") else "csd"
    alpha = {"alpha": ALPHA[like][env]}
    humanoid = env == "Humanoid"
    if name == "fast":
        changed = FAST | FAST_CHANGES[env] | (alpha if like == "lsd" else {})
        changed |= FAST_METHOD_CHANGES.get(method, {})
    elif method == "metra":
        skills = {} if env == "HalfCheetah" else TWO_D
        changed = PAPER | METRA_LOOP | REPLAY[env] | sizes(1024, 1e-4) | skills
    else:
        lr = 3e-4 if humanoid and method in ("csd", "dsd") else 1e-4
        changed = PAPER | sizes(1024 if humanoid else 512, lr) | alpha
        changed |= PAPER_HUMANOID | REPLAY[env] if humanoid else {}
    return changed | METHOD_CHANGES.get(method, {})
