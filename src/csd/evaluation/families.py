"""What a family of environments has to say beyond coverage and movement."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from csd.collect import Rollout
from csd.envs.base import EnvSpec


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


FAMILIES = {
    "manipulation": Family(
        lifting,
        {"lifted": "fraction of skills that lift it", "lift_max": "greatest lift"},
    ),
}
