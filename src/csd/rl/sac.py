"""Soft actor-critic in the two forms the paper's results were obtained with."""

from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array

from csd.config import SACConfig
from csd.rl.networks import LOG_SIGMA_MIN, Params, activate, dense, dense_init, mlp, mlp_init
from csd.rl.optimizer import descend
from csd.rl.replay import Batch

LOG_STD_MIN, LOG_STD_MAX = -5.0, 2.0
Info = dict[str, Array]


class SACState(NamedTuple):
    """Everything the policy learner carries from step to step."""

    actor: Params
    critic: list[Params]
    target_actor: Params
    target_critic: list[Params]
    log_alpha: Array
    opt: Any
    steps: Array


def init(
    key: Array,
    config: SACConfig,
    optimizer: optax.GradientTransformation,
    input_dim: int,
    action_dim: int,
) -> SACState:
    """Networks for inputs of `input_dim` (state and skill side by side)."""

    def networks(key: Array) -> tuple[Params, list[Params]]:
        actor_key, *critic_keys = jax.random.split(key, 1 + config.critics)
        critic_sizes = [input_dim + action_dim, *config.critic_hidden, 1]
        critic = [mlp_init(k, critic_sizes) for k in critic_keys]
        return _actor_init(actor_key, config, input_dim, action_dim), critic

    online_key, target_key = jax.random.split(key)
    actor, critic = networks(online_key)
    target_actor, target_critic = networks(online_key if config.target_copy else target_key)
    log_alpha = jnp.log(jnp.float32(max(config.alpha, 1e-8)))
    opt = optimizer.init((actor, critic, log_alpha))
    zero = jnp.zeros((), jnp.int32)
    return SACState(actor, critic, target_actor, target_critic, log_alpha, opt, zero)


def _actor_init(key: Array, config: SACConfig, input_dim: int, action_dim: int) -> Params:
    trunk_key, mean_key, std_key = jax.random.split(key, 3)
    projection = [config.actor_projection] if config.actor_projection else []
    sizes = [input_dim, *config.actor_hidden, *projection]
    mean = dense_init(mean_key, sizes[-1], action_dim, config.head_scale)
    std = dense_init(std_key, sizes[-1], action_dim, config.head_scale)
    heads = jax.tree.map(lambda a, b: jnp.concatenate([a, b], axis=-1), mean, std)
    return [*mlp_init(trunk_key, sizes), heads]


def policy(actor: Params, config: SACConfig, inputs: Any, xp: ModuleType = jnp) -> tuple[Any, Any]:
    """Mean and log standard deviation before squashing, each (batch, action_dim)."""
    x = inputs
    for index, layer in enumerate(actor[:-1]):
        x = dense(layer, x)
        if index < len(config.actor_hidden):
            x = activate(x, config.actor_activation, xp)
    mean, raw = xp.split(dense(actor[-1], x), 2, axis=-1)
    if config.log_std == "clamped":
        return mean, xp.clip(raw, LOG_SIGMA_MIN, LOG_STD_MAX)
    scale = 0.5 * (LOG_STD_MAX - LOG_STD_MIN)
    return mean, LOG_STD_MIN + scale * (xp.tanh(raw) + 1.0)


def sample_action(
    actor: Params, config: SACConfig, inputs: Array, key: Array
) -> tuple[Array, Array]:
    """A squashed Gaussian action and its log-density."""
    mean, log_std = policy(actor, config, inputs)
    noise = jax.random.normal(key, mean.shape)
    action = jnp.tanh(mean + jnp.exp(log_std) * noise)
    gaussian = -0.5 * noise**2 - log_std - 0.5 * jnp.log(2.0 * jnp.pi)
    log_prob = jnp.sum(gaussian - jnp.log(1.0 - action**2 + 1e-6), axis=-1)
    return action, log_prob


def q_values(critic: list[Params], inputs: Array, action: Array) -> Array:
    """The values of all critics, (critics, batch)."""
    x = jnp.concatenate([inputs, action], axis=-1)
    return jnp.stack([mlp(params, x)[:, 0] for params in critic])


def critic_loss(
    critic: list[Params],
    state: SACState,
    config: SACConfig,
    batch: Batch,
    entropy: Array,
    reward: Array,
    key: Array,
) -> tuple[Array, Info]:
    """Mean squared temporal-difference error of every critic."""
    next_actor = state.target_actor if config.target_actor else state.actor
    next_inputs = jnp.concatenate([batch.next_obs, batch.skill], axis=-1)
    next_action, next_log_prob = sample_action(next_actor, config, next_inputs, key)
    next_q = jnp.min(q_values(state.target_critic, next_inputs, next_action), axis=0)
    if config.entropy == "soft":
        next_q = next_q - jnp.exp(state.log_alpha) * next_log_prob
    target = reward + entropy + config.discount * (1.0 - batch.terminal) * next_q
    target = jax.lax.stop_gradient(target)
    q = q_values(critic, jnp.concatenate([batch.obs, batch.skill], axis=-1), batch.action)
    loss = jnp.sum(jnp.mean((q - target) ** 2, axis=-1))
    return loss, {"critic_loss": loss, "q": jnp.mean(q), "q_target": jnp.mean(target)}


def actor_loss(
    actor: Params,
    critic: list[Params],
    log_alpha: Array,
    config: SACConfig,
    inputs: Array,
    key: Array,
) -> tuple[Array, tuple[Array, Info]]:
    """-Q plus the action penalty and, for textbook SAC, the entropy term."""
    action, log_prob = sample_action(actor, config, inputs, key)
    q = jnp.min(q_values(critic, inputs, action), axis=0)
    loss = -jnp.mean(q) + config.action_penalty * jnp.mean(action**2)
    if config.entropy == "soft":
        loss = loss + jnp.mean(jnp.exp(jax.lax.stop_gradient(log_alpha)) * log_prob)
    info = {
        "actor_loss": loss,
        "entropy": -jnp.mean(log_prob),
        "action_square": jnp.mean(action**2),
    }
    return loss, (log_prob, info)


def update(
    state: SACState,
    config: SACConfig,
    optimizer: optax.GradientTransformation,
    batch: Batch,
    reward: Array,
    key: Array,
) -> tuple[SACState, Info]:
    """One step of critic, actor, temperature and (every `target_period`) targets."""
    actor_key, critic_key = jax.random.split(key)
    inputs = jnp.concatenate([batch.obs, batch.skill], axis=-1)
    (_, (log_prob, actor_info)), actor_grad = jax.value_and_grad(actor_loss, has_aux=True)(
        state.actor, state.critic, state.log_alpha, config, inputs, actor_key
    )
    entropy = jnp.zeros(())
    if config.entropy == "offset":
        # The published sum broadcasts (batch,) against (batch, 1): every row gets the batch mean.
        entropy = jnp.mean(0.2 * jnp.clip(-config.alpha * log_prob, -1.0, 0.0))
    (_, critic_info), critic_grad = jax.value_and_grad(critic_loss, has_aux=True)(
        state.critic, state, config, batch, entropy, reward, critic_key
    )
    alpha_grad = jnp.zeros(())
    if config.alpha_auto:
        target_entropy = -0.5 * batch.action.shape[-1]
        alpha_grad = -jnp.mean(log_prob + target_entropy)

    params = (state.actor, state.critic, state.log_alpha)
    grads = (actor_grad, critic_grad, alpha_grad)
    (actor, critic, log_alpha), opt = descend(optimizer, grads, state.opt, params)

    steps = state.steps + 1
    rate = jnp.where(steps % config.target_period == 0, config.target_rate, 0.0)

    def average(target: Array, online: Array) -> Array:
        return target + rate * (online - target)

    state = SACState(
        actor,
        critic,
        jax.tree.map(average, state.target_actor, actor),
        jax.tree.map(average, state.target_critic, critic),
        log_alpha,
        opt,
        steps,
    )
    info = {"alpha": jnp.exp(log_alpha), "reward": jnp.mean(reward), **actor_info, **critic_info}
    return state, info
