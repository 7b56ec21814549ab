"""Disagreement: curiosity for what an ensemble of forward models cannot agree on."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from csd import objectives
from csd.algorithms import DisagreementConfig
from csd.methods.base import Info, Method, MethodSpec
from csd.rl.networks import Params, mlp, mlp_init
from csd.rl.optimizer import descend
from csd.rl.replay import Batch


class DisagreementState(NamedTuple):
    """Forward models of s' - s, stacked along the first axis of every array."""

    models: Params
    opt: Any


def disagreement(config: DisagreementConfig, spec: MethodSpec) -> Method:
    """Models differ only by their initial values; the skill plays no part in model and reward."""
    optimizer = spec.adam(config.model_lr)

    def init(key: Array) -> DisagreementState:
        sizes = [spec.obs_dim + spec.action_dim, *config.model_hidden, spec.obs_dim]
        models = jax.vmap(lambda k: mlp_init(k, sizes))(jax.random.split(key, config.members))
        return DisagreementState(models, optimizer.init(models))

    def predict(models: Params, batch: Batch) -> Array:
        """Predicted state changes, shape (members, batch, obs_dim)."""
        inputs = jnp.concatenate([batch.obs, batch.action], axis=-1)
        return jax.vmap(mlp, (0, None))(models, inputs)

    def update(
        state: DisagreementState, batch: Batch, key: Array
    ) -> tuple[DisagreementState, Info]:
        def loss(models: Params) -> Array:
            error = predict(models, batch) - (batch.next_obs - batch.obs)
            # Summed over members: each one's gradient is that of its own mean squared error.
            return jnp.sum(jnp.mean(error**2, axis=(1, 2)))

        value, grad = jax.value_and_grad(loss)(state.models)
        models, opt = descend(optimizer, grad, state.opt, state.models)
        return DisagreementState(models, opt), {"model_loss": value / config.members}

    def reward(state: DisagreementState, batch: Batch, key: Array) -> Array:
        return objectives.ensemble_disagreement(predict(state.models, batch))

    return Method(init, update, reward)
