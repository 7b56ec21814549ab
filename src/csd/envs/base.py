"""What the rest of the library knows of an environment."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np


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


class World(Protocol):
    """One environment: fast, minimal, actions in [-1, 1]."""

    spec: EnvSpec

    def reset(self, seed: int) -> np.ndarray:
        """Start an episode that depends on nothing but `seed`."""
        ...

    def step(self, action: np.ndarray) -> tuple[np.ndarray, bool]:
        """The next state and whether the episode truly ended."""
        ...

    def close(self) -> None:
        """Let go of what the world holds."""
        ...
