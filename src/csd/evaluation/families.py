"""What a family of environments has to say beyond coverage and movement."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from csd.collect import Rollout
from csd.envs.base import EnvSpec
from csd.envs.kitchen import TASKS, achieved


class Family(NamedTuple):
    """Figures of a family, and how they are told."""

    measure: Callable[[Rollout, EnvSpec], dict[str, Any]]
    rows: dict[str, str]
    """A label for each figure that the table of `csd evaluate` shows."""
    verdict: Callable[[dict[str, Any]], str] | None = None
    """A sentence of the family's own in place of the general one."""


def lifting(rollout: Rollout, spec: EnvSpec) -> dict[str, Any]:
    """How high the object was lifted."""
    height = rollout.obs[..., spec.groups[spec.target][2]].astype(np.float64)
    lift = (height - height[:, :1]).max(axis=1)
    return {"lifted": float(np.mean(lift > spec.moved)), "lift_max": float(lift.max())}


def task_success(rollout: Rollout, spec: EnvSpec) -> dict[str, Any]:
    """Which of the kitchen's tasks are done at any time of an episode, and by which skill."""
    done = achieved(rollout.obs).any(axis=1)  # (episodes, tasks)
    codes, owner = np.unique(rollout.skill, axis=0, return_inverse=True)
    result: dict[str, Any] = {
        "tasks": int(done.any(axis=0).sum()),
        "task_success": dict(zip(TASKS, done.mean(axis=0).tolist(), strict=True)),
    }
    if len(codes) < len(done):  # discrete skills, several rollouts of each
        rate = np.stack([done[owner == code].mean(axis=0) for code in range(len(codes))])
        result["skill_tasks"] = {
            str(np.argmax(code)): [task for task, r in zip(TASKS, row) if r >= 0.5]
            for code, row in zip(codes, rate)
        }
    return result


FAMILIES = {
    "manipulation": Family(
        lifting,
        {"lifted": "fraction of skills that lift it", "lift_max": "greatest lift"},
    ),
}
