"""LSD (Lipschitz-constrained skill discovery) and the variants the paper compares CSD with."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from csd import objectives
from csd.algorithms import DSDConfig, LSDConfig
from csd.methods.base import Distance, Info, Method, MethodSpec, fixed
from csd.methods.dsd import dsd, skill_code
from csd.rl import normalizer, spectral
from csd.rl.networks import Params, mlp, mlp_init
from csd.rl.normalizer import Normalizer
from csd.rl.optimizer import descend
from csd.rl.replay import Batch


class LSDState(NamedTuple):
    """phi, the vectors of its power iterations and, for LSD+norm, the moments of s' - s."""

    phi: Params
    vectors: list[Array]
    phi_opt: Any
    steps: Normalizer | None


def lsd(config: LSDConfig, spec: MethodSpec, by_step: bool = False) -> Method:
    """phi is kept 1-Lipschitz by spectral normalisation, after `by_step` relative to std(s' - s).

    The published code runs a power iteration in every pass through phi, those of the reward
    included. Here the reward starts its iteration from the vectors of the last update and keeps
    no result: it must not change the state.
    """
    optimizer = spec.adam(config.phi_lr)

    def init(key: Array) -> LSDState:
        phi_key, vector_key = jax.random.split(key)
        phi = mlp_init(phi_key, [spec.obs_dim, *config.phi_hidden, spec.skill_dim])
        steps = _unit_moments(spec.obs_dim) if by_step else None
        return LSDState(phi, spectral.init(vector_key, phi), optimizer.init(phi), steps)

    def displacement_reward(
        phi: Params, state: LSDState, batch: Batch
    ) -> tuple[Array, list[Array]]:
        layers, vectors = spectral.normalize(phi, state.vectors)
        obs = _rescale(state.steps, jnp.concatenate([batch.obs, batch.next_obs]))
        here, there = jnp.split(mlp(layers, obs), 2)
        return objectives.dsd_reward(here, there, skill_code(spec, batch.skill)), vectors

    def loss(phi: Params, state: LSDState, batch: Batch) -> tuple[Array, list[Array]]:
        value, vectors = displacement_reward(phi, state, batch)
        return -jnp.mean(value), vectors

    def update(state: LSDState, batch: Batch, key: Array) -> tuple[LSDState, Info]:
        info: Info = {}
        if state.steps is not None:
            change = batch.next_obs - batch.obs
            steps = normalizer.update(state.steps, change, jnp.ones(len(change)))
            state = state._replace(steps=steps)
            info["step_std"] = _step_std(steps)
        (value, vectors), grad = jax.value_and_grad(loss, has_aux=True)(state.phi, state, batch)
        phi, opt = descend(optimizer, grad, state.phi_opt, state.phi)
        return LSDState(phi, vectors, opt, state.steps), info | {"phi_objective": -value}

    def reward(state: LSDState, batch: Batch, key: Array) -> Array:
        return displacement_reward(state.phi, state, batch)[0]

    def embed(state: LSDState, obs: Array) -> Array:
        return mlp(spectral.normalize(state.phi, state.vectors)[0], _rescale(state.steps, obs))

    return Method(init, update, reward, embed=embed)


def lsd_norm(config: LSDConfig, spec: MethodSpec) -> Method:
    """LSD+norm: LSD in units of the typical state change, estimated from all batches so far."""
    return lsd(config, spec, by_step=True)


def euclidean(config: DSDConfig, spec: MethodSpec) -> Distance:
    """The Euclidean distance in the form of the constraint: averaged over dimensions, or whole."""
    if config.constraint == "norm":
        return fixed(lambda obs, next_obs: objectives.safe_norm(next_obs - obs))
    return fixed(objectives.euclidean_distance)


def lsd_dual(config: DSDConfig, spec: MethodSpec) -> Method:
    """LSD+dual: the Euclidean constraint kept by dual gradient descent."""
    return dsd(config, spec, euclidean(config, spec))


def _unit_moments(obs_dim: int) -> Normalizer:
    """Moments of almost no data with a standard deviation of one."""
    return Normalizer(jnp.float32(1e-5), jnp.zeros(obs_dim), jnp.ones(obs_dim))


def _step_std(steps: Normalizer) -> Array:
    variance = steps.mean_square - steps.mean**2
    return jnp.sqrt(jnp.maximum(normalizer.STEP_FLOOR**2, variance))


def _rescale(steps: Normalizer | None, obs: Array) -> Array:
    return obs if steps is None else obs / _step_std(steps)
