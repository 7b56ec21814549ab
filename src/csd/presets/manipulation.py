"""The Fetch environments: the published loop is `Config`'s own defaults, `fast` is ours."""

from typing import Any

from csd.presets.textbook import TEXTBOOK_SAC

SKILL_DIMS = {"FetchPickAndPlace": 3}

FAST: dict[str, Any] = {
    "episodes": 7_000,
    "warmup_episodes": 400,
    "skill_unit_length": True,
    "num_envs": 20,
    "updates": 200,
    "method_updates": 200,
    "batch_size": 128,
    "replay_episodes": 500,
    "replay_overwrite": "oldest",
    "overlap": True,
    "method_states": "whitened",
    "eval_every": 1_000,
    "eval_skills": 64,
    "log_every": 200,
    "checkpoint_every": 1_000,
    "final_lr": 0.2,
    # the policy
    "action_penalty": 0.3,
    "reward_scale": 20.0,
    "critics": 2,
    "actor_hidden": (128, 128),
    "actor_projection": 0,
    "critic_hidden": (128, 128),
    "target_period": 1,
    "random_action_prob": 0.2,
    # the method
    "lambda_init": 50.0,
    "slack": 1e-4,
    "density_loss": "gaussian",
    "density_noise": 0.01,
}
"""Tuned on FetchPush for two cores; `docs/csd.md` says why each number differs from `paper`."""

EPISODES = {"FetchSlide": 14_000, "FetchPickAndPlace": 14_000}
"""`fast` runs that need longer than FetchPush."""

DUAL: dict[str, Any] = {"lambda_init": 3000.0, "slack": 1e-6}

METHOD_CHANGES: dict[str, dict[str, Any]] = {
    "lsd": {"method_states": "raw", "reward_scale": 500.0},
    "lsd-preset": {
        "normalizer": "preset",
        "method_states": "normalized",
        "reward_scale": 500.0,
    },
    "lsd-norm": {"method_states": "raw", "reward_scale": 500.0},
    "lsd-dual": {"method_states": "raw", "reward_scale": 500.0, **DUAL},
    "metra": {
        "method_states": "normalized",
        "reward_scale": 1.0,
        "lambda_init": 30.0,
        "slack": 1e-3,
        "skill_unit_length": True,
    },
    "diayn": {"method_states": "raw", "reward_scale": 1500.0},
    "dads": {"method_states": "raw", "reward_scale": 50.0},
    "disagreement": {"method_states": "raw", "reward_scale": 200.0},
}
"""What the paper compares CSD with: its states and scales for manipulation, in every preset."""

METRA_LOOP: dict[str, Any] = TEXTBOOK_SAC | {
    "num_envs": 8,
    "updates": 50,
    "method_updates": 50,
    "method_first": True,
    "replay_episodes": 20_000,
    "replay_overwrite": "oldest",
    "phi_hidden": (1024, 1024),
    "phi_lr": 1e-4,
    "lambda_lr": 1e-4,
    "discount": 0.99,
    "actor_hidden": (1024, 1024),
    "actor_activation": "tanh",
    "critic_hidden": (1024, 1024),
    "lr": 1e-4,
    "alpha": 0.01,
    "alpha_auto": True,
    "bootstrap_time_limit": False,
}
"""METRA's own loop, for `paper`; its replay of a million steps counted in episodes of 50."""


def changes(env: str, method: str, name: str) -> dict[str, Any]:
    """What differs from the defaults of `Config`."""
    changed: dict[str, Any] = {"skill_dim": SKILL_DIMS.get(env, 2)}
    if name == "fast":
        changed |= FAST | ({"episodes": EPISODES[env]} if env in EPISODES else {})
    elif method == "metra":
        changed |= METRA_LOOP
    return changed | METHOD_CHANGES.get(method, {})
