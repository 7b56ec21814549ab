"""Unsupervised skill discovery: `csd.train`, `csd.load`, and the skills they give."""

from typing import Any

import gymnasium

__all__ = ["Config", "Skills", "UserError", "evaluate", "load", "plot", "resume", "train"]

_WHERE = {
    "Config": "csd.config",
    "Skills": "csd.skills",
    "UserError": "csd.errors",
    "evaluate": "csd.evaluation.report",
    "load": "csd.skills",
    "plot": "csd.viz.plots",
    "resume": "csd.api",
    "train": "csd.api",
}


def __getattr__(name: str) -> Any:
    """Import on first use, so that `csd --help` is instant."""
    if name not in _WHERE:
        raise AttributeError(f"module 'csd' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_WHERE[name]), name)


gymnasium.register(
    "csd/Kitchen-v0", entry_point="csd.envs.kitchen_gym:KitchenEnv", max_episode_steps=50
)
