"""(environment, method, preset) -> configuration; `docs/csd.md` says what differs and why."""

from typing import Any, NamedTuple

from csd import config as configs
from csd.config import ALGORITHMS, Config
from csd.envs.fetch import IDS as FETCH
from csd.errors import UserError, nearest

PRESETS = {
    "fast": "minutes on a laptop CPU",
    "paper": "the published loop and numbers",
}


class Measured(NamedTuple):
    """What one run of a preset took on two cores without a GPU."""

    minutes: float
    gigabytes: float | None


MEASURED = {
    ("Probe", "fast"): Measured(0.4, 0.52),
    ("FetchPush", "fast"): Measured(11.1, 0.96),
    ("FetchPickAndPlace", "fast"): Measured(22.7, None),
}

SKILL_DIMS = {"FetchPickAndPlace": 3}

FAST: dict[str, Any] = {
    "episodes": 9_000,
    "warmup_episodes": 400,
    "num_envs": 20,
    "updates": 200,
    "method_updates": 200,
    "batch_size": 128,
    "replay_episodes": 1_000,
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
    "actor_projection": 0,
    "target_period": 1,
    "random_action_prob": 0.2,
    # the method
    "lambda_init": 50.0,
    "slack": 1e-4,
    "density_loss": "gaussian",
    "density_noise": 0.02,
}
"""Tuned on FetchPush for two cores; `docs/csd.md` says why each number differs from `paper`."""

PROBE: dict[str, Any] = FAST | {
    "episodes": 2_000,
    "warmup_episodes": 200,
    "updates": 100,
    "method_updates": 100,
    "replay_episodes": 300,
    "overlap": False,
    "actor_hidden": (64, 64),
    "critic_hidden": (64, 64),
    "phi_hidden": (64, 64),
    "density_hidden": (64, 64),
    "random_action_prob": 0.3,
    "action_penalty": 1.0,
    "eval_every": 500,
    "log_every": 100,
    "checkpoint_every": 500,
}

SMALL_NETWORKS: dict[str, Any] = {
    "discriminator_hidden": (64, 64),
    "dynamics_hidden": (64, 64),
    "model_hidden": (64, 64),
}
"""PROBE for the networks that only other methods have."""

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

UNKNOWN_UNITS: dict[str, Any] = {
    "normalizer": "preset",
    "method_states": "normalized",
    "reward_scale": 1.0,
}
"""The same methods elsewhere: the paper's states and scale for locomotion."""

METRA_LOOP: dict[str, Any] = {
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
    "critics": 2,
    "actor_hidden": (1024, 1024),
    "actor_projection": 0,
    "actor_activation": "tanh",
    "critic_hidden": (1024, 1024),
    "lr": 1e-4,
    "alpha": 0.01,
    "alpha_auto": True,
    "entropy": "soft",
    "action_penalty": 0.0,
    "target_period": 1,
    "target_actor": False,
    "target_copy": True,
    "bootstrap_time_limit": False,
    "action_noise": 0.0,
    "random_action_prob": 0.0,
    "sample_actions": True,
}
"""METRA's own loop, for `paper`; its replay of a million steps counted in episodes of 50."""


def preset(env: str, method: str = "csd", name: str = "fast", seed: int = 0) -> Config:
    """The defaults for an environment and a method."""
    if name not in PRESETS:
        raise UserError(f"unknown preset {name!r}: {nearest(name, PRESETS)}")
    if method not in ALGORITHMS:
        raise UserError(f"unknown method {method!r}: {nearest(method, ALGORITHMS)}")
    base = Config(
        env, method, name, seed, skill_dim=SKILL_DIMS.get(env, 2), algorithm=ALGORITHMS[method]()
    )
    changes = _changes(env, method, name)
    known = {
        *configs._fields(type(base.algorithm)),
        *configs._fields(Config),
        *configs._fields(type(base.sac)),
    }
    return configs.replace(base, **{k: v for k, v in changes.items() if k in known})


def _changes(env: str, method: str, name: str) -> dict[str, Any]:
    changes = _env_changes(env, name)
    if method in METHOD_CHANGES:
        if method == "metra" and name == "paper" and env != "Probe":
            changes = changes | METRA_LOOP
        changes = changes | METHOD_CHANGES[method]
        if env not in FETCH and env != "Probe":
            changes = changes | UNKNOWN_UNITS
    measured = changes.get("normalizer") == "preset" or changes.get("method_states") == "whitened"
    # Random episodes at the start are for CSD's density, and for statistics that need them.
    return changes if method == "csd" or measured else changes | {"warmup_episodes": 0}


def _env_changes(env: str, name: str) -> dict[str, Any]:
    if env == "Probe":
        return PROBE | SMALL_NETWORKS
    if name == "fast" and env not in FETCH:
        return FAST | {"replay_episodes": 400}  # long episodes of wide states must fit in memory
    if name == "fast":
        return FAST | ({"episodes": EPISODES[env]} if env in EPISODES else {})
    # The published code sees raw states; nobody knows the units of other environments.
    return {} if env in FETCH else {"normalizer": "preset", "method_states": "normalized"}
