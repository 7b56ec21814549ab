"""SAC as its authors describe it, which several presets start from."""

from typing import Any

TEXTBOOK_SAC: dict[str, Any] = {
    "critics": 2,
    "actor_projection": 0,
    "entropy": "soft",
    "action_penalty": 0.0,
    "target_period": 1,
    "target_actor": False,
    "target_copy": True,
    "action_noise": 0.0,
    "random_action_prob": 0.0,
    "sample_actions": True,
}
