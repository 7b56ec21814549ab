"""Distance-maximising skill discovery (equations 6 to 13) for any distance."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from csd import objectives
from csd.algorithms import DSDConfig
from csd.methods.base import Distance, Info, Method, MethodSpec
from csd.rl.networks import Params, mlp, mlp_init
from csd.rl.optimizer import descend
from csd.rl.replay import Batch


class DSDState(NamedTuple):
    """phi, the multiplier and the distance's own state."""

    phi: Params
    log_lambda: Array
    phi_opt: Any
    lambda_opt: Any
    distance: Any


def skill_code(spec: MethodSpec, skill: Array) -> Array:
    """The skill as the objective sees it: zero-centred if discrete."""
    return objectives.zero_centred(skill) if spec.discrete else skill


def second(batch: Batch) -> Array:
    """The other state of each pair whose distance counts: the next one, or the k-th after."""
    return batch.next_obs if batch.later_obs is None else batch.later_obs


def dsd(config: DSDConfig, spec: MethodSpec, distance: Distance) -> Method:
    """The dual objectives of the paper with `distance` in the constraint."""
    phi_optimizer, lambda_optimizer = spec.adam(config.phi_lr), spec.adam(config.lambda_lr)

    def init(key: Array) -> DSDState:
        phi_key, distance_key = jax.random.split(key)
        phi = mlp_init(phi_key, [spec.obs_dim, *config.phi_hidden, spec.skill_dim])
        log_lambda = jnp.log(jnp.float32(config.lambda_init))
        return DSDState(
            phi,
            log_lambda,
            phi_optimizer.init(phi),
            lambda_optimizer.init(log_lambda),
            distance.init(distance_key),
        )

    def phi_loss(
        phi: Params, length: Array, log_lambda: Array, batch: Batch
    ) -> tuple[Array, tuple[Array, Info]]:
        states = [batch.obs, batch.next_obs]
        states += [] if batch.later_obs is None else [batch.later_obs]
        here, there, *rest = jnp.split(mlp(phi, jnp.concatenate(states)), len(states))
        skill = skill_code(spec, batch.skill)
        reward = objectives.dsd_reward(here, there, skill)
        gap = objectives.constraint_gap(
            length,
            here,
            rest[0] if rest else there,
            config.constraint == "squared",
            skill if config.one_sided else None,
        )
        slack = objectives.clipped_slack(gap, config.slack)
        objective = objectives.dsd_phi_objective(reward, slack, jnp.exp(log_lambda))
        info = {
            "phi_objective": objective,
            "phi_reward": jnp.mean(reward),
            "slack": jnp.mean(slack),
            "violated": jnp.mean(gap < 0.0),
            "distance": jnp.mean(length),
        }
        return -objective, (slack, info)

    def update(state: DSDState, batch: Batch, key: Array) -> tuple[DSDState, Info]:
        length, distance_info = distance.measure(state.distance, batch.obs, second(batch))
        length = jax.lax.stop_gradient(length)
        (_, (slack, info)), grad = jax.value_and_grad(phi_loss, has_aux=True)(
            state.phi, length, state.log_lambda, batch
        )
        phi, phi_opt = descend(phi_optimizer, grad, state.phi_opt, state.phi)
        # Descent on log(lambda) * slack, as published: equation 13 without its factor lambda.
        log_lambda, lambda_opt = descend(
            lambda_optimizer, jnp.mean(slack), state.lambda_opt, state.log_lambda
        )
        state = DSDState(phi, log_lambda, phi_opt, lambda_opt, state.distance)
        if distance.update is not None:
            state, learned_info = warmup(state, batch, key)
            info |= learned_info
        return state, info | distance_info | {"lambda": jnp.exp(log_lambda)}

    def warmup(state: DSDState, batch: Batch, key: Array) -> tuple[DSDState, Info]:
        assert distance.update is not None
        learned, info = distance.update(state.distance, batch.obs, second(batch), key)
        return state._replace(distance=learned), info

    def reward(state: DSDState, batch: Batch, key: Array) -> Array:
        here, there = jnp.split(mlp(state.phi, jnp.concatenate([batch.obs, batch.next_obs])), 2)
        return objectives.dsd_reward(here, there, skill_code(spec, batch.skill))

    profile = distance.profile
    return Method(
        init,
        update,
        reward,
        warmup if distance.update is not None else None,
        lambda state, obs: mlp(state.phi, obs),
        profile and (lambda state, obs: profile(state.distance, obs)),
        config.k_step,
    )
