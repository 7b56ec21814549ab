"""The two learners of a controller behind one interface: SAC and PPO."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from csd.compilation import enable_cache, quick_jit
from csd.controller.config import ControlConfig
from csd.rl import normalizer, ppo, sac, transitions
from csd.rl.normalizer import Normalizer
from csd.rl.optimizer import adam
from csd.rl.transitions import Episodes, Transitions

Info = dict[str, Array]
Noise = tuple[np.ndarray, ...]  # each (episodes, decisions, ...)


class Agent(Protocol):
    """Pure functions of a configuration and the sizes of a task, compiled on first use."""

    def init(self, key: Array) -> Any:
        """Fresh parameters, optimisers and memory."""
        ...

    def draw(self, key: Array, episodes: np.ndarray) -> Noise:
        """The chance of each decision, a function of the key and the episode's number."""
        ...

    def snapshot(self, state: Any) -> Any:
        """A copy of what acting needs, on the host."""
        ...

    def act(self, policy: Any, obs: np.ndarray, noise: Noise | None) -> np.ndarray:
        """Actions; without noise the most likely ones."""
        ...

    def explore(self, noise: Noise) -> np.ndarray:
        """Uniformly random actions."""
        ...

    def learn(self, state: Any, episodes: Episodes, key: Array, warm: bool) -> tuple[Any, Info]:
        """Take in an epoch's episodes; no gradient steps while warm."""
        ...


class SACAgentState(NamedTuple):
    """All that training changes."""

    sac: sac.SACState
    normalizer: Normalizer
    memory: Transitions


class PPOAgentState(NamedTuple):
    """All that training changes."""

    ppo: ppo.PPOState
    normalizer: Normalizer


class ActingPolicy(NamedTuple):
    """What acting needs."""

    params: Any
    normalizer: Normalizer


def _annealed(config: ControlConfig) -> Any:
    epochs = max(config.episodes - config.warmup_episodes, 1) // config.num_envs
    return adam(config.algorithm.lr, max(epochs, 1) * config.updates, config.final_lr)


def _normalize(config: ControlConfig, state: Normalizer, obs: Any, xp: Any = jnp) -> Any:
    return normalizer.apply(state, obs, xp=xp) if config.normalizer == "running" else obs


def _count(state: Normalizer, episodes: Episodes) -> Normalizer:
    mask = transitions.real(episodes).reshape(-1).astype(jnp.float32)
    obs = episodes.obs[:, :-1]
    return normalizer.update(state, obs.reshape(len(mask), -1), mask)


def _per_episode(draw: Callable[[Array], Any]) -> Callable[[Array, Any], Any]:
    """Independent draws for every episode, compiled."""
    return quick_jit(lambda key, ids: jax.vmap(lambda e: draw(jax.random.fold_in(key, e)))(ids))


class SACAgent:
    """Actions in [-1, 1]^action_dim."""

    def __init__(self, config: ControlConfig, obs_dim: int, action_dim: int, decisions: int):
        enable_cache()
        self.config, self.obs_dim, self.action_dim = config, obs_dim, action_dim
        self._optimizer = _annealed(config)
        self._draw = _per_episode(partial(self._draw_one, decisions))
        self._store = jax.jit(self._insert, donate_argnums=0)
        self._train = jax.jit(self._epoch, donate_argnums=0)

    def init(self, key: Array) -> SACAgentState:
        config = self.config
        return SACAgentState(
            sac.init(key, config.algorithm, self._optimizer, self.obs_dim, self.action_dim),
            normalizer.init(self.obs_dim),
            transitions.init(config.replay_size, self.obs_dim, self.action_dim),
        )

    def _draw_one(self, decisions: int, key: Array) -> tuple[Array, ...]:
        shape = (decisions, self.action_dim)
        a, b, c = jax.random.split(key, 3)
        return (
            jax.random.normal(a, shape),
            jax.random.uniform(b, shape, minval=-1.0, maxval=1.0),
            jax.random.uniform(c, shape[:1]),
        )

    def draw(self, key: Array, episodes: np.ndarray) -> Noise:
        return tuple(np.asarray(x) for x in self._draw(key, episodes))

    def snapshot(self, state: SACAgentState) -> ActingPolicy:
        return jax.tree.map(np.array, ActingPolicy(state.sac.actor, state.normalizer))

    def act(self, policy: ActingPolicy, obs: np.ndarray, noise: Noise | None) -> np.ndarray:
        seen = _normalize(self.config, policy.normalizer, obs, np)
        mean, log_std = sac.policy(policy.params, self.config.algorithm, seen, xp=np)
        return sac.explore(self.config.algorithm, mean, np.exp(log_std), noise)

    def explore(self, noise: Noise) -> np.ndarray:
        return noise[1]

    def learn(
        self, state: SACAgentState, episodes: Episodes, key: Array, warm: bool
    ) -> tuple[SACAgentState, Info]:
        state = self._store(state, episodes)
        return (state, {}) if warm else self._train(state, key)

    def _insert(self, state: SACAgentState, episodes: Episodes) -> SACAgentState:
        if not self.config.algorithm.bootstrap_time_limit:
            episodes = episodes._replace(terminal=jnp.ones_like(episodes.terminal))
        return state._replace(
            normalizer=_count(state.normalizer, episodes),
            memory=transitions.insert(state.memory, episodes),
        )

    def _epoch(self, state: SACAgentState, key: Array) -> tuple[SACAgentState, Info]:
        config = self.config

        def step(learner: sac.SACState, key: Array) -> tuple[sac.SACState, Info]:
            batch_key, sac_key = jax.random.split(key)
            batch, reward = transitions.sample(state.memory, batch_key, config.batch_size)
            seen = batch._replace(
                obs=_normalize(config, state.normalizer, batch.obs),
                next_obs=_normalize(config, state.normalizer, batch.next_obs),
            )
            scaled = config.algorithm.reward_scale * reward
            return sac.update(learner, config.algorithm, self._optimizer, seen, scaled, sac_key)

        learned, infos = jax.lax.scan(step, state.sac, jax.random.split(key, config.updates))
        return state._replace(sac=learned), jax.tree.map(jnp.mean, infos)


class PPOAgent:
    """One-hot actions."""

    def __init__(self, config: ControlConfig, obs_dim: int, action_dim: int, decisions: int):
        enable_cache()
        self.config, self.obs_dim, self.action_dim = config, obs_dim, action_dim
        self._optimizer = _annealed(config)
        shape = (decisions, action_dim)
        self._draw = _per_episode(lambda key: jax.random.gumbel(key, shape))
        self._train = jax.jit(self._epoch, donate_argnums=0)

    def init(self, key: Array) -> PPOAgentState:
        learner = ppo.init(
            key, self.config.algorithm, self._optimizer, self.obs_dim, self.action_dim
        )
        return PPOAgentState(learner, normalizer.init(self.obs_dim))

    def draw(self, key: Array, episodes: np.ndarray) -> Noise:
        return (np.asarray(self._draw(key, episodes)),)

    def snapshot(self, state: PPOAgentState) -> ActingPolicy:
        return jax.tree.map(np.array, ActingPolicy(state.ppo.policy, state.normalizer))

    def act(self, policy: ActingPolicy, obs: np.ndarray, noise: Noise | None) -> np.ndarray:
        seen = _normalize(self.config, policy.normalizer, obs, np)
        scores = ppo.logits(policy.params, seen, xp=np)
        return self._best(scores if noise is None else scores + noise[0])

    def explore(self, noise: Noise) -> np.ndarray:
        return self._best(noise[0])

    def _best(self, scores: np.ndarray) -> np.ndarray:
        return np.eye(self.action_dim, dtype=np.float32)[np.argmax(scores, axis=-1)]

    def learn(
        self, state: PPOAgentState, episodes: Episodes, key: Array, warm: bool
    ) -> tuple[PPOAgentState, Info]:
        if warm:
            return PPOAgentState(state.ppo, _count(state.normalizer, episodes)), {}
        return self._train(state, episodes, key)

    def _epoch(
        self, state: PPOAgentState, episodes: Episodes, key: Array
    ) -> tuple[PPOAgentState, Info]:
        config = self.config
        seen = episodes._replace(obs=_normalize(config, state.normalizer, episodes.obs))
        learned, info = ppo.learn(
            state.ppo,
            config.algorithm,
            self._optimizer,
            seen,
            key,
            config.updates,
            config.batch_size,
        )
        return PPOAgentState(learned, _count(state.normalizer, episodes)), info


AGENTS: dict[str, type[SACAgent] | type[PPOAgent]] = {"sac": SACAgent, "ppo": PPOAgent}
