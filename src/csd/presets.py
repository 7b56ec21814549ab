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
    gigabytes: float


MEASURED: dict[tuple[str, str], Measured] = {}

SKILL_DIMS = {"FetchPickAndPlace": 3}

FETCH_FAST: dict[str, Any] = {
    "episodes": 10_000,
    "warmup_episodes": 1_000,
    "num_envs": 20,
    "updates": 100,
    "method_updates": 100,
    "overlap": True,
    "lambda_init": 500.0,
    "eval_every": 1_000,
    "eval_skills": 64,
    "log_every": 200,
    "checkpoint_every": 2_000,
}

PROBE: dict[str, Any] = {
    "episodes": 2_000,
    "warmup_episodes": 200,
    "num_envs": 20,
    "updates": 40,
    "method_updates": 40,
    "batch_size": 128,
    "actor_hidden": (64, 64),
    "actor_projection": 0,
    "critic_hidden": (64, 64),
    "phi_hidden": (64, 64),
    "density_hidden": (64, 64),
    "lambda_init": 500.0,
    "eval_every": 500,
    "eval_skills": 100,
    "log_every": 100,
    "checkpoint_every": 1_000,
}

SMALL_NETWORKS: dict[str, Any] = {
    "discriminator_hidden": (64, 64),
    "dynamics_hidden": (64, 64),
    "model_hidden": (64, 64),
}
"""PROBE for the networks that only other methods have."""

METHOD_CHANGES: dict[str, dict[str, Any]] = {
    "lsd": {"reward_scale": 500.0},
    "lsd-preset": {
        "reward_scale": 500.0,
        "normalizer": "preset",
        "method_states": "normalized",
    },
    "lsd-norm": {"reward_scale": 500.0, "method_states": "raw"},
    "lsd-dual": {"reward_scale": 500.0},
    "metra": {
        "reward_scale": 1.0,
        "lambda_init": 30.0,
        "slack": 1e-3,
        "skill_unit_length": True,
        "method_states": "normalized",
    },
    "diayn": {"reward_scale": 1500.0},
    "dads": {"reward_scale": 50.0},
    "disagreement": {"reward_scale": 200.0},
}
"""What a method changes in every preset; the scales are the paper's for manipulation."""

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

GYM: dict[str, Any] = FETCH_FAST | {
    "normalizer": "preset",
    "method_states": "whitened",
}


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
    if method == "metra" and name == "paper" and env != "Probe":
        changes = changes | METRA_LOOP
    changes = changes | METHOD_CHANGES.get(method, {})
    measured = changes.get("normalizer") == "preset" or changes.get("method_states") == "whitened"
    # Random episodes at the start are for CSD's density, and for statistics that need them.
    return changes if method == "csd" or measured else changes | {"warmup_episodes": 0}


def _env_changes(env: str, name: str) -> dict[str, Any]:
    if env == "Probe":
        return PROBE | SMALL_NETWORKS
    if env in FETCH:
        return FETCH_FAST if name == "fast" else {}
    return GYM if name == "fast" else {"normalizer": "preset", "method_states": "normalized"}
