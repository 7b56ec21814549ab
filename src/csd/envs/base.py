"""What the rest of the library knows of an environment."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol

import numpy as np

from csd.errors import UserError, nearest


@dataclass(frozen=True)
class EnvSpec:
    """Sizes and names of an environment's state, and what counts as an achievement in it."""

    name: str
    obs_dim: int
    action_dim: int
    horizon: int
    names: tuple[str, ...]
    """A name for every state dimension."""
    groups: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Named groups of dimensions, e.g. `object`."""
    target: str = ""
    """The group whose movement is measured; empty if nobody named one."""
    body: str = ""
    """The group that the agent moves directly; empty if nobody named one."""
    bin_size: float = 0.1
    """Edge of a coverage bin along the target's dimensions."""
    moved: float = 0.05
    """Displacement from which the target counts as moved."""
    fixed_start: bool = False
    """Whether every episode starts in the same state, so that a skill needs but one rollout."""
    family: str = ""
    """What evaluation and plots add figures of their own for, e.g. `manipulation`."""
    one_way: bool = False
    """Whether the target can only travel along its first dimension; the second is its height."""
    step_seconds: float = 0.04
    """How long a step takes in the environment's own time; a video plays at this pace."""
    preset_mean: tuple[float, ...] = ()
    """Mean of every dimension under random actions, if it is known."""
    preset_std: tuple[float, ...] = ()
    """Its standard deviation."""


def focus_indices(focus: str, env: EnvSpec) -> tuple[int, ...]:
    """The state dimensions a method may see: all, a named group, or explicit indices."""
    if not focus:
        return tuple(range(env.obs_dim))
    if focus in env.groups:
        return env.groups[focus]
    try:
        indices = tuple(int(part) for part in focus.split(","))
    except ValueError:
        names = ", ".join(env.groups) or "none are named here"
        hint = nearest(focus, env.groups) if env.groups else "give indices such as 0,1"
        raise UserError(f"unknown focus {focus!r} (groups: {names}): {hint}") from None
    if not all(0 <= index < env.obs_dim for index in indices):
        raise UserError(f"focus {focus!r} must name dimensions from 0 to {env.obs_dim - 1}")
    return indices


class End(IntEnum):
    """How a step leaves its episode."""

    NOT_YET = 0
    TERMINATED = 1
    """Nothing comes after."""
    TRUNCATED = 2
    """Cut short by the environment."""


class World(Protocol):
    """One environment: fast, minimal, actions in [-1, 1]."""

    spec: EnvSpec

    def reset(self, seed: int) -> np.ndarray:
        """Start an episode that depends on nothing but `seed`."""
        ...

    def step(self, action: np.ndarray) -> tuple[np.ndarray, int]:
        """The next state and how the step leaves the episode, as an `End`."""
        ...

    def close(self) -> None:
        """Let go of what the world holds."""
        ...
