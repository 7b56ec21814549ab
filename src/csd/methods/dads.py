"""DADS: skills whose next step can be foretold, and differs from that of other skills."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from csd import objectives
from csd.algorithms import DADSConfig
from csd.methods.base import Info, Method, MethodSpec, draw_skill
from csd.rl.networks import Params, mlp, mlp_init
from csd.rl.optimizer import descend
from csd.rl.replay import Batch

MOMENTUM = 0.01  # weight of a batch in the running statistics
EPSILON = 1e-5


class BatchNorm(NamedTuple):
    """Running moments of a batch normalisation without scale and offset."""

    mean: Array
    variance: Array


class DADSState(NamedTuple):
    """The skill dynamics q(s' - s | s, z), of fixed unit spread in normalised coordinates."""

    dynamics: Params
    opt: Any
    obs_norm: BatchNorm
    change_norm: BatchNorm


def dads(config: DADSConfig, spec: MethodSpec) -> Method:
    """The reward compares the taken skill with `alternatives` skills of the prior."""
    optimizer = spec.adam(config.dynamics_lr)

    def init(key: Array) -> DADSState:
        sizes = [spec.obs_dim + spec.skill_dim, *config.dynamics_hidden, spec.obs_dim]
        dynamics = mlp_init(key, sizes)
        norm = BatchNorm(jnp.zeros(spec.obs_dim), jnp.ones(spec.obs_dim))
        return DADSState(dynamics, optimizer.init(dynamics), norm, norm)

    def log_density(dynamics: Params, obs: Array, change: Array, skill: Array) -> Array:
        mean = mlp(dynamics, jnp.concatenate([obs, skill], axis=-1))
        return objectives.gaussian_log_density(change, mean, jnp.ones_like(mean))

    def update(state: DADSState, batch: Batch, key: Array) -> tuple[DADSState, Info]:
        obs, obs_norm = _train_norm(state.obs_norm, batch.obs)
        change, change_norm = _train_norm(state.change_norm, batch.next_obs - batch.obs)

        def loss(dynamics: Params) -> Array:
            return -jnp.mean(log_density(dynamics, obs, change, batch.skill))

        value, grad = jax.value_and_grad(loss)(state.dynamics)
        dynamics, opt = descend(optimizer, grad, state.opt, state.dynamics)
        return DADSState(dynamics, opt, obs_norm, change_norm), {"dynamics_loss": value}

    def reward(state: DADSState, batch: Batch, key: Array) -> Array:
        obs = _apply_norm(state.obs_norm, batch.obs)
        change = _apply_norm(state.change_norm, batch.next_obs - batch.obs)

        def density(skill: Array) -> Array:
            return log_density(state.dynamics, obs, change, skill)

        def others(keys: Array) -> Array:
            return density(jax.vmap(lambda k: draw_skill(spec, k))(keys))

        def each(skill: Array) -> Array:
            return density(jnp.broadcast_to(skill, batch.skill.shape))

        keys = jax.random.split(key, (config.alternatives, len(obs)))
        # `lax.map` takes one skill at a time, which stays in the processor's cache
        if spec.discrete and spec.skill_dim < config.alternatives:  # fewer skills than draws
            drawn = jax.vmap(jax.vmap(lambda k: jnp.argmax(draw_skill(spec, k))))(keys)
            every = jax.lax.map(each, jnp.eye(spec.skill_dim))
            compared = jnp.take_along_axis(every, drawn, axis=0)
        else:
            compared = jax.lax.map(others, keys)
        return objectives.dads_reward(density(batch.skill), compared)

    return Method(init, update, reward)


def _apply_norm(norm: BatchNorm, x: Array) -> Array:
    return (x - norm.mean) / jnp.sqrt(norm.variance + EPSILON)


def _train_norm(norm: BatchNorm, x: Array) -> tuple[Array, BatchNorm]:
    """Normalise by the batch's own moments and move the running ones towards them."""
    batch = BatchNorm(jnp.mean(x, axis=0), jnp.var(x, axis=0))
    unbiased = batch._replace(variance=jnp.var(x, axis=0, ddof=1))
    moved = jax.tree.map(lambda old, new: old + MOMENTUM * (new - old), norm, unbiased)
    return _apply_norm(batch, x), moved
