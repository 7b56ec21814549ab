"""Kitchen: the published run is Fetch's with half the episodes and 16 discrete skills."""

from typing import Any

from csd.presets.manipulation import METHOD_CHANGES, METRA_LOOP

SKILLS: dict[str, Any] = {"skill_type": "discrete", "skill_dim": 16}

PAPER: dict[str, Any] = SKILLS | {"episodes": 40_000, "eval_skills": 50}

FAST: dict[str, Any] = PAPER | {
    "episodes": 4_500,
    "warmup_episodes": 600,
    "num_envs": 20,
    "updates": 200,
    "method_updates": 200,
    "overlap": True,
    "final_lr": 0.1,
    "final_noise": 0.1,
    "keep": "widest",
    "random_action_prob": 0.1,
    "lambda_init": 1000.0,
    "eval_every": 100,
    "checkpoint_every": 1_000,
}
"""The published learner in another loop; `docs/kitchen.md` says what each change is worth."""


def changes(env: str, method: str, name: str) -> dict[str, Any]:
    """What differs from the defaults of `Config`."""
    changed = FAST if name == "fast" else PAPER
    if name == "paper" and method == "metra":
        changed = changed | METRA_LOOP
    changed = changed | METHOD_CHANGES.get(method, {})
    return changed | ({"reward_scale": 50.0} if method == "disagreement" else {})
