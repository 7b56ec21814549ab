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
    if env in FETCH:
        return FETCH_FAST if name == "fast" else {}
    return GYM if name == "fast" else {"normalizer": "preset", "method_states": "normalized"}
