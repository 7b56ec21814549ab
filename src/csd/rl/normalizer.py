"""Observation statistics and their use; the statistics are part of the learner's state."""

from types import ModuleType
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

CLIP = 5.0
STD_FLOOR = 0.01


class Normalizer(NamedTuple):
    """Cumulative first and second moments; `count` starts at one zero sample as published."""

    count: Array
    mean: Array
    mean_square: Array


def init(obs_dim: int) -> Normalizer:
    """Statistics of a single zero observation."""
    return Normalizer(jnp.ones(()), jnp.zeros(obs_dim), jnp.zeros(obs_dim))


def preset(mean: np.ndarray, std: np.ndarray) -> Normalizer:
    """Fixed statistics."""
    mean, std = jnp.asarray(mean, jnp.float32), jnp.asarray(std, jnp.float32)
    return Normalizer(jnp.ones(()), mean, mean**2 + std**2)


def update(state: Normalizer, obs: Array, mask: Array) -> Normalizer:
    """Add the observations `obs` (n, obs_dim) for which `mask` (n,) is one."""
    added = jnp.sum(mask)
    count = state.count + added
    weight = added / count
    mean = jnp.sum(obs * mask[:, None], axis=0) / jnp.maximum(added, 1.0)
    mean_square = jnp.sum(obs**2 * mask[:, None], axis=0) / jnp.maximum(added, 1.0)
    return Normalizer(
        count,
        state.mean + weight * (mean - state.mean),
        state.mean_square + weight * (mean_square - state.mean_square),
    )


def apply(state: Normalizer, obs: Any, clip: float = CLIP, xp: ModuleType = jnp) -> Any:
    """Whitened and clipped observations, with the published floor of the standard deviation."""
    std = xp.sqrt(xp.maximum(STD_FLOOR**2, state.mean_square - state.mean**2))
    return xp.clip((obs - state.mean) / std, -clip, clip)
