"""Any other Gymnasium environment, whose units nobody knows."""

from typing import Any

from csd.presets.manipulation import FAST, METHOD_CHANGES, METRA_LOOP

UNKNOWN_UNITS: dict[str, Any] = {
    "normalizer": "preset",
    "method_states": "normalized",
    "obs_clip": 0.0,
    "reward_scale": 1.0,
}
"""The same methods elsewhere: the paper's states and scale for locomotion."""


def changes(env: str, method: str, name: str) -> dict[str, Any]:
    """What differs from the defaults of `Config`."""
    if name == "fast":
        changed = FAST | {"replay_episodes": 400}  # long episodes of wide states fit in memory
    else:
        changed = {key: UNKNOWN_UNITS[key] for key in ("normalizer", "method_states", "obs_clip")}
        if method == "metra":
            changed |= METRA_LOOP
    if method in METHOD_CHANGES:
        changed |= METHOD_CHANGES[method] | UNKNOWN_UNITS
    return changed
