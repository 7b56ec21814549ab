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


def success_by_skill(obs: np.ndarray, skill: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Different skills (n, skill_dim) and how often each does each kitchen task (n, tasks)."""
    done = np.any(achieved(obs), axis=1)
    codes, owner = np.unique(skill[:, ::-1], axis=0, return_inverse=True)
    rates = [done[owner == index].mean(axis=0) for index in range(len(codes))]
    return codes[:, ::-1], np.stack(rates)


def task_success(rollout: Rollout, spec: EnvSpec) -> dict[str, Any]:
    """Which kitchen tasks are done at any time of an episode; of discrete skills, by which."""
    done = np.any(achieved(rollout.obs), axis=1)  # (episodes, tasks)
    result: dict[str, Any] = {
        "tasks": int(done.any(axis=0).sum()),
        "task_success": dict(zip(TASKS, done.mean(axis=0).tolist(), strict=True)),
    }
    codes, rates = success_by_skill(rollout.obs, rollout.skill)
    if len(codes) < len(done):
        result["skill_tasks"] = {
            str(int(np.argmax(code))): [task for task, rate in zip(TASKS, row, strict=True) if rate]
            for code, row in zip(codes, rates, strict=True)
        }
    return result


def kitchen_verdict(result: dict[str, Any]) -> str:
    """How many tasks, and which."""
    own, chance = result["skills"], result["random"]
    done = [name for name, rate in own["task_success"].items() if rate]
    facts = f"{own['tasks']} of {len(TASKS)} tasks (random actions: {chance['tasks']})"
    if own["tasks"] <= chance["tasks"]:
        return f"It has not learned to do anything in the kitchen yet: {facts}."
    return f"It learned {facts}: {', '.join(done)}."


FAMILIES = {
    "manipulation": Family(
        lifting,
        {"lifted": "fraction of skills that lift it", "lift_max": "greatest lift"},
    ),
    "kitchen": Family(task_success, {"tasks": "tasks done by some skill"}, kitchen_verdict),
}
