"""What a family of environments has to say beyond coverage and movement."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from csd.collect import Rollout
from csd.envs.base import EnvSpec
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
    if spec.names[spec.groups[spec.target][1]] == "y":
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
    if own["moved"] >= 0.5 and own["coverage"] >= 3 * chance["coverage"]:
        return f"It learned to travel: {facts}."
    if own["moved"] > chance["moved"] + 0.05 or own["coverage"] > 1.5 * chance["coverage"]:
        return f"It is beginning to travel: {facts}; train longer."
    return f"It has not learned to travel: {facts}."


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
}
