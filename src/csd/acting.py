"""What a frozen policy does: actions from states and skills, and the chance of an episode."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array

from csd.config import Config
from csd.rl import normalizer, sac
from csd.rl.normalizer import Normalizer


class Policy(NamedTuple):
    """What is needed to act, and nothing more, on the host."""

    actor: Any
    normalizer: Normalizer


class PolicySet(NamedTuple):
    """A policy for each discrete skill, or one for all; those that skills share are held once."""

    distinct: Policy  # arrays with an axis before, one row a policy
    index: np.ndarray  # (skills,), whose row is whose

    @classmethod
    def of(cls, policy: Policy, count: int) -> "PolicySet":
        """The same policy for `count` skills."""
        return cls(jax.tree.map(lambda leaf: np.asarray(leaf)[None], policy), np.zeros(count, int))

    def member(self, skill: int) -> Policy:
        """The policy of one skill."""
        return jax.tree.map(lambda leaf: leaf[self.index[skill]], self.distinct)

    def replace(self, chosen: np.ndarray, policy: Policy) -> "PolicySet":
        """The same with another policy for some skills, given by (skills,) booleans."""
        index = np.where(chosen, len(self.distinct.normalizer.count), self.index)
        used, index = np.unique(index, return_inverse=True)
        distinct = jax.tree.map(
            lambda old, new: np.concatenate([old, np.asarray(new)[None]])[used],
            self.distinct,
            policy,
        )
        return PolicySet(distinct, index)


def owners(skill: np.ndarray, count: int) -> np.ndarray:
    """Which of `count` policies each skill belongs to."""
    return np.argmax(skill, axis=-1) if count > 1 else np.zeros(len(skill), int)


def act(
    config: Config,
    policy: Policy | PolicySet,
    obs: np.ndarray,
    skill: np.ndarray,
    noise: Sequence[np.ndarray] | None,
) -> np.ndarray:
    """Actions in [-1, 1]; without noise the policy's mean.

    In NumPy: a compiled call would wait for the gradient steps that run beside it.
    """
    if isinstance(policy, PolicySet):
        # Skill by skill, also where they share a policy: sums over other rows round differently.
        owner = owners(skill, len(policy.index))
        action = np.empty((len(obs), policy.distinct.actor[-1]["b"].shape[-1] // 2), np.float32)
        for index in np.unique(owner):
            rows = owner == index
            own_noise = noise and [part[rows] for part in noise]
            action[rows] = act(config, policy.member(index), obs[rows], skill[rows], own_noise)
        return action
    inputs = np.concatenate([normalize(config, policy, obs), skill], axis=-1)
    mean, log_std = sac.policy(policy.actor, config.sac, inputs, xp=np)
    return sac.explore(config.sac, mean, np.exp(log_std), noise)


def normalize(config: Config, policy: Policy, obs: np.ndarray, clip: bool = True) -> np.ndarray:
    """States as the policy sees them, or without its clip at a number of deviations."""
    if config.normalizer == "none":
        return obs
    return normalizer.apply(policy.normalizer, obs, config.obs_clip if clip else 0.0, xp=np)


def draw_noise(
    key: Array, episodes: Array, horizon: int, action_dim: int
) -> tuple[Array, Array, Array]:
    """Per step of each episode: Gaussian noise, a uniform action, a uniform number."""
    shape = (horizon, action_dim)

    def one(episode: Array) -> tuple[Array, Array, Array]:
        a, b, c = jax.random.split(jax.random.fold_in(key, episode), 3)
        return (
            jax.random.normal(a, shape),
            jax.random.uniform(b, shape, minval=-1.0, maxval=1.0),
            jax.random.uniform(c, shape[:1]),
        )

    return jax.vmap(one)(episodes)
