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

FAST: dict[str, Any] = {
    "episodes": 9_000,
    "warmup_episodes": 400,
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
    "reward_scale": 20.0,
    "critics": 2,
    "actor_projection": 0,
    "target_period": 1,
    "random_action_prob": 0.2,
    # the method
    "lambda_init": 50.0,
    "slack": 1e-4,
    "density_loss": "gaussian",
    "density_noise": 0.01,
}
"""Tuned on FetchPush for two cores; `docs/csd.md` says why each number differs from `paper`."""

PROBE: dict[str, Any] = FAST | {
    "episodes": 1_500,
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
    "eval_every": 500,
    "log_every": 100,
    "checkpoint_every": 500,
}

EPISODES = {"FetchSlide": 14_000, "FetchPickAndPlace": 14_000}
"""`fast` runs that need longer than FetchPush."""


def preset(env: str, method: str = "csd", name: str = "fast", seed: int = 0) -> Config:
    """The defaults for an environment and a method."""
    if name not in PRESETS:
        raise UserError(f"unknown preset {name!r}: {nearest(name, PRESETS)}")
    if method not in ALGORITHMS:
        raise UserError(f"unknown method {method!r}: {nearest(method, ALGORITHMS)}")
    base = Config(
        env, method, name, seed, skill_dim=SKILL_DIMS.get(env, 2), algorithm=ALGORITHMS[method]()
    )
    changes = _changes(env, name)
    known = {
        *configs._fields(type(base.algorithm)),
        *configs._fields(Config),
        *configs._fields(type(base.sac)),
    }
    return configs.replace(base, **{k: v for k, v in changes.items() if k in known})


def _changes(env: str, name: str) -> dict[str, Any]:
    if env == "Probe":
        return PROBE
    if name == "fast":
        return FAST | ({"episodes": EPISODES[env]} if env in EPISODES else {})
    # The published code sees raw states; nobody knows the units of other environments.
    return {} if env in FETCH else {"normalizer": "preset", "method_states": "normalized"}
