"""Observation statistics and their use; the statistics are part of the learner's state."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array

CLIP = 5.0
STD_FLOOR = 0.01
STEP_FLOOR = 1e-3
WHITENED_STEPS = 10.0


class Normalizer(NamedTuple):
    """Cumulative first and second moments of `count` samples."""

    count: Array
    mean: Array
    mean_square: Array


def init(obs_dim: int, zeros: float = 1.0) -> Normalizer:
    """Statistics of a single zero observation, as running ones are published, or of none."""
    return Normalizer(jnp.float32(zeros), jnp.zeros(obs_dim), jnp.zeros(obs_dim))


def known(mean: Sequence[float], std: Sequence[float]) -> Normalizer:
    """Statistics measured beforehand."""
    first, spread = jnp.asarray(mean), jnp.asarray(std)
    return Normalizer(jnp.ones(()), first, first**2 + spread**2)


def update(state: Normalizer, obs: Array, mask: Array, squared: Array | None = None) -> Normalizer:
    """Add the rows of `obs` (n, obs_dim) for which `mask` (n,) is one.

    The second moment is that of `squared` if given, else of the observations.
    """
    squared = obs if squared is None else squared
    added = jnp.sum(mask)
    count = state.count + added
    weight = added / jnp.maximum(count, 1.0)
    mean = jnp.sum(obs * mask[:, None], axis=0) / jnp.maximum(added, 1.0)
    mean_square = jnp.sum(squared**2 * mask[:, None], axis=0) / jnp.maximum(added, 1.0)
    return Normalizer(
        count,
        state.mean + weight * (mean - state.mean),
        state.mean_square + weight * (mean_square - state.mean_square),
    )


def whiten(scale: Normalizer, obs: Any) -> Any:
    """Observations in units of ten typical steps; `scale.mean_square` holds that of s' - s."""
    step = jnp.sqrt(jnp.maximum(STEP_FLOOR**2, scale.mean_square))
    return (obs - scale.mean) / (WHITENED_STEPS * step)


def apply(state: Normalizer, obs: Any, clip: float = CLIP, xp: ModuleType = jnp) -> Any:
    """Whitened observations, clipped unless `clip` is 0, with the published floor of the spread."""
    std = xp.sqrt(xp.maximum(STD_FLOOR**2, state.mean_square - state.mean**2))
    whitened = (obs - state.mean) / std
    return xp.clip(whitened, -clip, clip) if clip else whitened
