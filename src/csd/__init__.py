"""Unsupervised skill discovery: `csd.train`, `csd.load`, and the skills they give."""

from typing import Any

import gymnasium

__all__ = [
    "Config",
    "SkillEnv",
    "Skills",
    "UserError",
    "control",
    "evaluate",
    "explore",
    "export",
    "load",
    "plot",
    "publish",
    "reproduce",
    "resume",
    "train",
    "video",
]

_WHERE = {
    "Config": "csd.config",
    "SkillEnv": "csd.hierarchy",
    "Skills": "csd.skills",
    "UserError": "csd.errors",
    "control": "csd.controller.run",
    "evaluate": "csd.api",
    "explore": "csd.api",
    "export": "csd.api",
    "load": "csd.skills",
    "plot": "csd.api",
    "publish": "csd.api",
    "reproduce": "csd.experiments.reproduce",
    "resume": "csd.api",
    "train": "csd.api",
    "video": "csd.api",
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

TASK_STEPS = {
    "ProbeGoal": 24,
    "FetchPushGoal": 50,
    "FetchSlideGoal": 50,
    "FetchPickAndPlaceGoal": 50,
    "KitchenTask": 50,
    "AntGoal": 200,
    "AntMultiGoals": 200,
    "HalfCheetahGoal": 200,
    "HalfCheetahHurdle": 200,
}
for _task, _steps in TASK_STEPS.items():
    gymnasium.register(
        f"csd/{_task}-v0",
        entry_point="csd.tasks.gym:TaskEnv",
        max_episode_steps=_steps,
        kwargs={"name": _task},
    )
