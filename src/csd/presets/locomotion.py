"""Ant, HalfCheetah and Humanoid: the published near-on-policy loop, and a replay loop of ours."""

from typing import Any

SAC: dict[str, Any] = {
    "warmup_episodes": 0,
    "normalizer": "preset",
    "method_states": "normalized",
    "obs_clip": 0.0,
    "replay_overwrite": "oldest",
    "skill_type": "discrete",
    "skill_dim": 16,
    "discount": 0.99,
    "critics": 2,
    "actor_projection": 0,
    "actor_activation": "tanh",
    "head_scale": 0.1,
    "log_std": "clamped",
    "entropy": "soft",
    "action_penalty": 0.0,
    "target_period": 1,
    "target_actor": False,
    "target_copy": True,
    "action_noise": 0.0,
    "random_action_prob": 0.0,
    "sample_actions": True,
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
    "lambda_init": 3000.0,
    "slack": 1e-6,
    "store_end": False,
    "eval_every": 10_000,
    "log_every": 1_000,
    "checkpoint_every": 10_000,
}

PAPER_HUMANOID: dict[str, Any] = {
    "episodes": 100_000,
    "num_envs": 5,
    "replay_episodes": 1_000,
    "start_steps": 10_000,
}
"""A replay of a million steps, counted in episodes of 1,000."""

PAPER_ALPHA = {
    ("csd", "Ant"): 0.03,
    ("csd", "HalfCheetah"): 0.1,
    ("csd", "Humanoid"): 0.3,
    ("lsd", "Ant"): 0.003,
    ("lsd", "HalfCheetah"): 0.003,
    ("lsd", "Humanoid"): 0.03,
}

FAST: dict[str, Any] = (
    SAC
    | sizes(256, 3e-4)
    | {
        "episodes": 8_000,
        "num_envs": 8,
        "updates": 50,
        "method_updates": 50,
        "method_first": True,
        "batch_size": 256,
        "replay_episodes": 5_000,
        "overlap": True,
        "alpha": 0.03,
        "lambda_init": 5.0,
        "slack": 1e-3,
        "eval_every": 800,
        "eval_skills": 64,
        "log_every": 200,
        "checkpoint_every": 1_600,
    }
)


def changes(env: str, method: str, name: str) -> dict[str, Any]:
    """What differs from the defaults of `Config`."""
    return dict(FAST)
