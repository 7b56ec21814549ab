"""DIAYN: skills that can be told apart by the states they lead to."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from csd import objectives
from csd.algorithms import DIAYNConfig
from csd.methods.base import Info, Method, MethodSpec
from csd.rl.networks import Params, gaussian_mlp, mlp, mlp_init
from csd.rl.optimizer import descend
from csd.rl.replay import Batch

Networks = list[Params]  # logits, or mean and log standard deviation


class DIAYNState(NamedTuple):
    """The discriminator q(z|s') and its optimiser."""

    discriminator: Networks
    opt: Any


def diayn(config: DIAYNConfig, spec: MethodSpec) -> Method:
    """A softmax over discrete skills or a diagonal Gaussian over continuous ones.

    The constant -log p(z) of the original reward is left out, as in the published code.
    """
    optimizer = spec.adam(config.discriminator_lr)

    def init(key: Array) -> DIAYNState:
        sizes = [spec.obs_dim, *config.discriminator_hidden, spec.skill_dim]
        count = 1 if spec.discrete else 2
        networks = [mlp_init(k, sizes) for k in jax.random.split(key, count)]
        return DIAYNState(networks, optimizer.init(networks))

    def log_density(networks: Networks, batch: Batch) -> Array:
        if spec.discrete:
            logits = mlp(networks[0], batch.next_obs)
            return objectives.categorical_log_density(batch.skill, logits)
        mean, sigma = gaussian_mlp((networks[0], networks[1]), batch.next_obs)
        return objectives.gaussian_log_density(batch.skill, mean, sigma)

    def update(state: DIAYNState, batch: Batch, key: Array) -> tuple[DIAYNState, Info]:
        def loss(networks: Networks) -> Array:
            return -jnp.mean(log_density(networks, batch))

        value, grad = jax.value_and_grad(loss)(state.discriminator)
        networks, opt = descend(optimizer, grad, state.opt, state.discriminator)
        return DIAYNState(networks, opt), {"discriminator_loss": value}

    def reward(state: DIAYNState, batch: Batch, key: Array) -> Array:
        return log_density(state.discriminator, batch)

    return Method(init, update, reward)
