"""Proximal policy optimisation for a choice among a few actions."""

from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array

from csd.config import PPOConfig
from csd.rl.networks import Params, activate, dense, mlp, mlp_init
from csd.rl.optimizer import descend
from csd.rl.transitions import Episodes, real

Info = dict[str, Array]


class PPOState(NamedTuple):
    """Policy, value and their optimisers."""

    policy: Params
    value: Params
    opt: Any


class Sample(NamedTuple):
    """Decisions with what is known of them once their episodes have ended."""

    obs: Array  # (n, obs_dim)
    action: Array  # (n, choices): one-hot
    log_prob: Array  # (n,): when it was taken
    advantage: Array  # (n,)
    target: Array  # (n,): discounted return


def init(
    key: Array,
    config: PPOConfig,
    optimizer: optax.GradientTransformation,
    obs_dim: int,
    choices: int,
) -> PPOState:
    """Networks for states of `obs_dim` and a number of choices."""
    policy_key, value_key = jax.random.split(key)
    policy = mlp_init(policy_key, [obs_dim, *config.hidden, choices])
    value = mlp_init(value_key, [obs_dim, *config.hidden, 1])
    return PPOState(policy, value, optimizer.init((policy, value)))


def logits(policy: Params, obs: Any, xp: ModuleType = jnp) -> Any:
    """The unnormalised log-probability of every choice, (batch, choices)."""
    x = obs
    for layer in policy[:-1]:
        x = activate(dense(layer, x), "tanh", xp)
    return dense(policy[-1], x)


def log_prob(policy: Params, obs: Array, action: Array) -> Array:
    """The log-probability of one-hot actions, (batch,)."""
    return jnp.sum(jax.nn.log_softmax(logits(policy, obs)) * action, axis=-1)


def discounted(values: Array, rate: float) -> Array:
    """Sums of all later values, each discounted by its delay; (episodes, steps)."""

    def back(later: Array, now: Array) -> tuple[Array, Array]:
        total = now + rate * later
        return total, total

    _, sums = jax.lax.scan(back, jnp.zeros(values.shape[0]), values.T, reverse=True)
    return sums.T


def advantages(value: Array, reward: Array, mask: Array, discount: float, trace: float) -> Array:
    """Generalised advantage estimates; nothing is expected after an episode's end."""
    value = value * mask
    following = jnp.concatenate([value[:, 1:], jnp.zeros_like(value[:, :1])], axis=1)
    return discounted((reward + discount * following - value) * mask, discount * trace)


def loss(params: tuple[Params, Params], config: PPOConfig, batch: Sample) -> tuple[Array, Info]:
    """The clipped surrogate, the entropy bonus, and the value's squared error."""
    policy, value = params
    spread = jnp.std(batch.advantage) + 1e-8
    advantage = (batch.advantage - jnp.mean(batch.advantage)) / spread
    log_probs = jax.nn.log_softmax(logits(policy, batch.obs))
    ratio = jnp.exp(jnp.sum(log_probs * batch.action, axis=-1) - batch.log_prob)
    clipped = jnp.clip(ratio, 1.0 - config.clip, 1.0 + config.clip)
    surrogate = jnp.mean(jnp.minimum(ratio * advantage, clipped * advantage))
    entropy = -jnp.mean(jnp.sum(jnp.exp(log_probs) * log_probs, axis=-1))
    error = jnp.mean((mlp(value, batch.obs)[:, 0] - batch.target) ** 2)
    total = -surrogate - config.entropy_bonus * entropy + error
    info = {"policy_loss": -surrogate, "entropy": entropy, "value_loss": error}
    return total, info


def learn(
    state: PPOState,
    config: PPOConfig,
    optimizer: optax.GradientTransformation,
    episodes: Episodes,
    key: Array,
    updates: int,
    batch_size: int,
) -> tuple[PPOState, Info]:
    """All gradient steps on fresh episodes; minibatches are drawn with replacement."""
    obs, mask = episodes.obs[:, :-1], real(episodes)
    value = mlp(state.value, obs)[..., 0]
    flat = Sample(
        obs,
        episodes.action,
        log_prob(state.policy, obs, episodes.action),
        advantages(value, episodes.reward, mask, config.discount, config.trace),
        discounted(episodes.reward * mask, config.discount),
    )
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), flat)
    ends = jnp.cumsum(mask.reshape(-1))

    def step(state: PPOState, key: Array) -> tuple[PPOState, Info]:
        position = jax.random.randint(key, (batch_size,), 0, ends[-1])
        index = jnp.searchsorted(ends, position, side="right")
        batch = jax.tree.map(lambda x: x[index], flat)
        params = (state.policy, state.value)
        (_, info), grads = jax.value_and_grad(loss, has_aux=True)(params, config, batch)
        params, opt = descend(optimizer, grads, state.opt, params)
        return PPOState(*params, opt), info

    state, infos = jax.lax.scan(step, state, jax.random.split(key, updates))
    return state, jax.tree.map(jnp.mean, infos)
