"""Whole-episode replay on the device; every function is pure and can be compiled."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from csd.compilation import zeros


class Replay(NamedTuple):
    """Episodes of at most `horizon` steps; `length` says how many of them are real."""

    obs: Array  # (capacity, horizon + 1, obs_dim)
    action: Array  # (capacity, horizon, action_dim)
    skill: Array  # (capacity, skill_dim)
    length: Array  # (capacity,)
    terminal: Array  # (capacity,): did the episode end in a true termination
    added: Array  # (): episodes ever stored


class Batch(NamedTuple):
    """Transitions; `terminal` is one where the state after it has no future."""

    obs: Array
    action: Array
    next_obs: Array
    skill: Array
    terminal: Array
    later_obs: Array | None = None  # the state `later` steps on, if asked for


def init(capacity: int, horizon: int, obs_dim: int, action_dim: int, skill_dim: int) -> Replay:
    """An empty replay."""
    return Replay(
        zeros((capacity, horizon + 1, obs_dim)),
        zeros((capacity, horizon, action_dim)),
        zeros((capacity, skill_dim)),
        zeros(capacity, np.int32),
        zeros(capacity),
        zeros((), np.int32),
    )


def insert(replay: Replay, episodes: Replay, key: Array, random_overwrite: bool) -> Replay:
    """Store a batch of episodes; when full, overwrite the oldest or random distinct slots."""
    capacity, count = replay.length.shape[0], episodes.length.shape[0]
    slots = (replay.added + jnp.arange(count)) % capacity
    if random_overwrite:
        chosen = jax.random.choice(key, capacity, (count,), replace=False)
        slots = jnp.where(replay.added + count > capacity, chosen, slots)
    stored = [old.at[slots].set(new) for old, new in zip(replay[:-1], episodes[:-1], strict=True)]
    return Replay(*stored, added=replay.added + count)


def ends(replay: Replay) -> Array:
    """Where each episode's transitions end if all are laid out in a row; compute once per epoch."""
    return jnp.cumsum(replay.length)


def sample(replay: Replay, ends: Array, key: Array, batch_size: int, later: int = 1) -> Batch:
    """Transitions drawn uniformly with replacement, with the state `later` steps on if not 1."""
    position = jax.random.randint(key, (batch_size,), 0, jnp.maximum(ends[-1], 1))
    episode = jnp.searchsorted(ends, position, side="right")
    length = replay.length[episode]
    step = position - (ends[episode] - length)
    return Batch(
        replay.obs[episode, step],
        replay.action[episode, step],
        replay.obs[episode, step + 1],
        replay.skill[episode],
        replay.terminal[episode] * (step == length - 1),
        None if later == 1 else replay.obs[episode, jnp.minimum(step + later, length)],
    )
