"""What a family of environments has to say beyond coverage and movement."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from csd.collect import Rollout
from csd.envs.base import EnvSpec
from csd.envs.kitchen import TASKS, achieved
from csd.evaluation.measures import bins_covered


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


SECTORS, FAR = 8, 5.0  # compass sectors, and metres from which one of them counts as reached


def travelling(rollout: Rollout, spec: EnvSpec) -> dict[str, Any]:
    """How far and in how many directions the body went, and where each skill ends on average."""
    path = rollout.obs[..., list(spec.groups[spec.target])].astype(np.float64)
    change = path - path[:, :1]
    result: dict[str, Any] = {
        "furthest": float(np.linalg.norm(change, axis=-1).max()),
        "x_span": float(np.ptp(path[..., 0])),
    }
    if not spec.one_way:
        result["sectors"] = sectors_reached(change.reshape(-1, 2))
    skills, which = np.unique(rollout.skill, axis=0, return_inverse=True)
    ends = [change[which.ravel() == index, -1].mean(axis=0) for index in range(len(skills))]
    result["destinations"] = bins_covered(np.array(ends) + FAR / 2.0, FAR)  # one about the start
    result["ends"] = np.round(ends, 2).tolist()
    return result


def sectors_reached(points: np.ndarray) -> int:
    """How many of the compass sectors hold one of the points (n, 2) beyond `FAR`."""
    far = points[np.linalg.norm(points, axis=-1) > FAR]
    angle = np.arctan2(far[:, 1], far[:, 0]) % (2.0 * np.pi)
    return len(np.unique((angle * SECTORS / (2.0 * np.pi)).astype(int) % SECTORS))


def travel_verdict(result: dict[str, Any]) -> str:
    """Did it learn to travel?"""
    own, chance = result["skills"], result["random"]
    facts = (
        f"{own['moved']:.0%} of the skills end more than {FAR:g} m away "
        f"(random actions: {chance['moved']:.0%}), spanning {own['x_span']:.0f} m of x "
        f"(random: {chance['x_span']:.0f}) and {own['coverage']} bins "
        f"(random: {chance['coverage']})"
    )
    if "sectors" in own:
        facts += f", with {own['sectors']} of {SECTORS} directions reached beyond {FAR:g} m"
    if own["moved"] >= 0.25 and own["coverage"] >= 3 * chance["coverage"]:
        return f"It learned to travel: {facts}."
    if own["moved"] > chance["moved"] + 0.05 or own["coverage"] > 1.5 * chance["coverage"]:
        return f"It is beginning to travel: {facts}; train longer."
    return f"It has not learned to travel: {facts}."


def success_by_skill(obs: np.ndarray, skill: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Different skills (n, skill_dim) and how often each does each kitchen task (n, tasks)."""
    done = np.any(achieved(obs), axis=1)
    codes, owner = np.unique(skill[:, ::-1], axis=0, return_inverse=True)
    rates = [done[owner == index].mean(axis=0) for index in range(len(codes))]
    return codes[:, ::-1], np.stack(rates)


def is_one_hot(skill: np.ndarray) -> bool:
    """Whether skills (n, skill_dim) are discrete ones."""
    return bool(np.isin(skill, (0.0, 1.0)).all() and (skill.sum(axis=-1) == 1.0).all())


def task_success(rollout: Rollout, spec: EnvSpec) -> dict[str, Any]:
    """Which kitchen tasks are done at any time of an episode; of discrete skills, by which."""
    done = np.any(achieved(rollout.obs), axis=1)  # (episodes, tasks)
    result: dict[str, Any] = {
        "tasks": int(done.any(axis=0).sum()),
        "task_success": dict(zip(TASKS, done.mean(axis=0).tolist(), strict=True)),
    }
    codes, rates = success_by_skill(rollout.obs, rollout.skill)
    if len(codes) < len(done):
        result["reliable_tasks"] = int((rates >= 0.5).any(axis=0).sum())
    if is_one_hot(codes):
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
    "locomotion": Family(
        travelling,
        {
            "furthest": "greatest distance from the start",
            "x_span": "extent of x over all rollouts",
            "sectors": "of 8 directions reached beyond 5 m",
            "destinations": "5 m bins in which skills end",
        },
        travel_verdict,
    ),
    "kitchen": Family(
        task_success,
        {
            "tasks": "tasks done by some skill",
            "reliable_tasks": "tasks that some skill does half of the time",
        },
        kitchen_verdict,
    ),
}
