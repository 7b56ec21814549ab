"""The probe world: small networks, seconds."""

from typing import Any

from csd.presets.manipulation import FAST, METHOD_CHANGES

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


def changes(env: str, method: str, name: str) -> dict[str, Any]:
    """What differs from the defaults of `Config`; nobody published a run of this world."""
    return PROBE | SMALL_NETWORKS | METHOD_CHANGES.get(method, {})
