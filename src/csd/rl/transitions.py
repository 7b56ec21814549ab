"""A ring of single transitions with rewards; every function is pure and can be compiled."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from csd.rl.replay import Batch


class Episodes(NamedTuple):
    """Episodes side by side, padded to a common length."""

    obs: Array  # (episodes, steps + 1, obs_dim)
    action: Array  # (episodes, steps, action_dim)
    reward: Array  # (episodes, steps)
    length: Array  # (episodes,)
    terminal: Array  # (episodes,): did the episode end in a true termination


class Transitions(NamedTuple):
    """The newest transitions; `added` counts all there ever were."""

    obs: Array  # (capacity, obs_dim)
    action: Array  # (capacity, action_dim)
    reward: Array  # (capacity,)
    next_obs: Array  # (capacity, obs_dim)
    terminal: Array  # (capacity,)
    added: Array  # ()


def init(capacity: int, obs_dim: int, action_dim: int) -> Transitions:
    """An empty ring."""
    return Transitions(
        jnp.zeros((capacity, obs_dim), jnp.float32),
        jnp.zeros((capacity, action_dim), jnp.float32),
        jnp.zeros(capacity, jnp.float32),
        jnp.zeros((capacity, obs_dim), jnp.float32),
        jnp.zeros(capacity, jnp.float32),
        jnp.zeros((), jnp.int32),
    )


def real(episodes: Episodes) -> Array:
    """Which steps are not padding, (episodes, steps)."""
    return jnp.arange(episodes.reward.shape[1])[None] < episodes.length[:, None]


def insert(ring: Transitions, episodes: Episodes) -> Transitions:
    """Add the real steps of the episodes, over the oldest ones if there is no room."""
    capacity = ring.reward.shape[0]
    mask = real(episodes)
    last = jnp.arange(mask.shape[1])[None] == episodes.length[:, None] - 1
    rows = (
        episodes.obs[:, :-1],
        episodes.action,
        episodes.reward,
        episodes.obs[:, 1:],
        last * episodes.terminal[:, None],
    )
    chosen = mask.reshape(-1)
    order = ring.added + jnp.cumsum(chosen) - 1
    slots = jnp.where(chosen, order % capacity, capacity)  # padding falls outside
    stored = [
        old.at[slots].set(new.reshape(-1, *old.shape[1:]), mode="drop")
        for old, new in zip(ring[:-1], rows, strict=True)
    ]
    return Transitions(*stored, added=ring.added + jnp.sum(chosen))


def sample(ring: Transitions, key: Array, batch_size: int) -> tuple[Batch, Array]:
    """Transitions drawn uniformly with replacement, without skills, and their rewards."""
    stored = jnp.clip(ring.added, 1, ring.reward.shape[0])
    index = jax.random.randint(key, (batch_size,), 0, stored)
    batch = Batch(
        ring.obs[index],
        ring.action[index],
        ring.next_obs[index],
        jnp.zeros((batch_size, 0), jnp.float32),
        ring.terminal[index],
    )
    return batch, ring.reward[index]
