"""Controllability-aware skill discovery: DSD with a distance learned from its own skills."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from csd import objectives
from csd.algorithms import CSDConfig
from csd.methods.base import Distance, Info, Method, MethodSpec
from csd.methods.dsd import dsd
from csd.rl.networks import Params, gaussian_mlp, mlp_init
from csd.rl.optimizer import descend


class DensityState(NamedTuple):
    """The model q(s'|s) of the state change, with separate networks for mean and spread."""

    mean: Params
    log_sigma: Params
    opt: Any


def controllability(config: CSDConfig, spec: MethodSpec) -> Distance:
    """The controllability-aware distance (equations 14 to 16) and the training of its density."""
    optimizer = spec.adam(config.density_lr)

    def init(key: Array) -> DensityState:
        sizes = [spec.obs_dim, *config.density_hidden, spec.obs_dim]
        mean, log_sigma = (mlp_init(k, sizes) for k in jax.random.split(key))
        return DensityState(mean, log_sigma, optimizer.init((mean, log_sigma)))

    def measure(state: DensityState, obs: Array, next_obs: Array) -> tuple[Array, Info]:
        mean, sigma = gaussian_mlp((state.mean, state.log_sigma), obs)
        residual = next_obs - obs - mean
        weights = objectives.controllability_weights(sigma)
        if config.constraint == "norm":
            length = objectives.mahalanobis_distance(residual, weights**-0.5)
        else:
            length = objectives.controllability_distance(residual, sigma)
        return length, {"sigma": jnp.mean(sigma, axis=0), "weight": jnp.mean(weights, axis=0)}

    def loss(params: tuple[Params, Params], obs: Array, change: Array) -> Array:
        mean, sigma = gaussian_mlp(params, obs)
        if config.density_loss == "published":
            return jnp.mean(objectives.published_density_loss(change, mean, sigma))
        return -jnp.mean(objectives.gaussian_log_density(change, mean, sigma))

    def update(
        state: DensityState, obs: Array, next_obs: Array, key: Array
    ) -> tuple[DensityState, Info]:
        params = (state.mean, state.log_sigma)
        change = next_obs - obs
        if config.density_noise:
            change = change + config.density_noise * jax.random.normal(key, change.shape)
        value, grad = jax.value_and_grad(loss)(params, obs, change)
        (mean, log_sigma), opt = descend(optimizer, grad, state.opt, params)
        return DensityState(mean, log_sigma, opt), {"density_loss": value}

    def profile(state: DensityState, obs: Array) -> Info:
        """v^T Sigma^-1(s) v for every one-hot v, as it is and as the distance weighs it."""
        _, sigma = gaussian_mlp((state.mean, state.log_sigma), obs)
        return {"precision": sigma**-2, "weight": objectives.controllability_weights(sigma)}

    return Distance(init, measure, update, profile)


def csd(config: CSDConfig, spec: MethodSpec) -> Method:
    """DSD with the controllability-aware distance."""
    return dsd(config, spec, controllability(config, spec))
