"""What the training loop knows of a method: pure functions on pytrees."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array

from csd.rl.replay import Batch

Info = dict[str, Array]
State = Any


class MethodSpec(NamedTuple):
    """The sizes a method is built for; `obs_dim` counts only what it may see."""

    obs_dim: int
    action_dim: int
    skill_dim: int
    discrete: bool
    unit_length: bool = False
    adam: Callable[[float], optax.GradientTransformation] = optax.adam
    """Makes the optimiser for a learning rate; the run may let the rate fall towards its end."""


class Method(NamedTuple):
    """A skill discovery method. `batch` holds the states as the method may see them."""

    init: Callable[[Array], State]
    """init(key) -> state"""
    update: Callable[[State, Batch, Array], tuple[State, Info]]
    """update(state, batch, key) -> (state, info)"""
    reward: Callable[[State, Batch, Array], Array]
    """reward(state, batch, key) -> (batch,)"""
    warmup: Callable[[State, Batch, Array], tuple[State, Info]] | None = None
    """The part of `update` that is run during the warm-up, if any."""
    embed: Callable[[State, Array], Array] | None = None
    """embed(state, obs) -> phi(obs), for methods that have one."""
    profile: Callable[[State, Array], Info] | None = None
    """profile(state, obs) -> what each dimension weighs at each state, each (batch, obs_dim)."""
    later: int = 1
    """How many steps ahead `batch.later_obs` is; one leaves it out."""


def draw_skill(spec: MethodSpec, key: Array) -> Array:
    """One skill of the prior, shape (skill_dim,)."""
    if spec.discrete:
        return jax.nn.one_hot(jax.random.randint(key, (), 0, spec.skill_dim), spec.skill_dim)
    z = jax.random.normal(key, (spec.skill_dim,))
    return z / jnp.linalg.norm(z) if spec.unit_length else z


class Distance(NamedTuple):
    """The plug of DSD: a non-negative function of two states, perhaps with a learned state."""

    init: Callable[[Array], State]
    """init(key) -> state"""
    measure: Callable[[State, Array, Array], tuple[Array, Info]]
    """measure(state, obs, next_obs) -> (distance (batch,), info)"""
    update: Callable[[State, Array, Array, Array], tuple[State, Info]] | None = None
    """update(state, obs, next_obs, key) -> (state, info), for distances that are trained"""
    profile: Callable[[State, Array], Info] | None = None
    """profile(state, obs) -> what each dimension weighs at each state, each (batch, obs_dim)"""


def fixed(function: Callable[[Array, Array], Array]) -> Distance:
    """A distance without parameters from a plain function of (obs, next_obs)."""
    return Distance(lambda key: (), lambda state, obs, next_obs: (function(obs, next_obs), {}))
