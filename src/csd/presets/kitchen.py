"""Kitchen: the published run is Fetch's with half the episodes and 16 discrete skills."""

from typing import Any

from csd.presets import manipulation
from csd.presets.manipulation import METHOD_CHANGES, METRA_LOOP

SKILLS: dict[str, Any] = {"skill_type": "discrete", "skill_dim": 16}

PAPER: dict[str, Any] = SKILLS | {"episodes": 40_000, "eval_skills": 50}

FAST: dict[str, Any] = (
    manipulation.FAST
    | SKILLS
    | {
        "episodes": 6_000,
        "replay_episodes": 6_000,
        "method_states": "raw",
        "reward_scale": 100.0,
        "lambda_init": 700.0,
        "slack": 1e-6,
        "density_noise": 1e-3,
    }
)
"""Fetch's `fast` on raw states, and nothing is forgotten; `docs/kitchen.md` says what led here."""


def changes(env: str, method: str, name: str) -> dict[str, Any]:
    """What differs from the defaults of `Config`."""
    changed = FAST if name == "fast" else PAPER
    if name == "paper" and method == "metra":
        changed = changed | METRA_LOOP
    changed = changed | METHOD_CHANGES.get(method, {})
    return changed | ({"reward_scale": 50.0} if method == "disagreement" else {})
