"""SAC and a method joined into one learner whose epoch is a single compiled call."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from csd.compilation import enable_cache
from csd.config import Config, gradient_steps
from csd.envs.base import EnvSpec
from csd.errors import UserError, nearest, require
from csd.methods import METHODS, MethodSpec, draw_skill
from csd.rl import normalizer, replay, sac
from csd.rl.normalizer import Normalizer
from csd.rl.optimizer import adam
from csd.rl.replay import Batch, Replay

Info = dict[str, Array]
Memory = tuple[Replay, Array]  # the replay and where its episodes end


class LearnerState(NamedTuple):
    """All that training changes, except the replay."""

    sac: sac.SACState
    method: Any
    normalizer: Normalizer
    whitening: Normalizer


class Policy(NamedTuple):
    """What is needed to act, and nothing more."""

    actor: Any
    normalizer: Normalizer


def focus_indices(focus: str, env: EnvSpec) -> tuple[int, ...]:
    """The state dimensions a method may see: all, a named group, or explicit indices."""
    if not focus:
        return tuple(range(env.obs_dim))
    if focus in env.groups:
        return env.groups[focus]
    try:
        indices = tuple(int(part) for part in focus.split(","))
    except ValueError:
        names = ", ".join(env.groups) or "none are named here"
        hint = nearest(focus, env.groups) if env.groups else "give indices such as 0,1"
        raise UserError(f"unknown focus {focus!r} (groups: {names}): {hint}") from None
    if not all(0 <= index < env.obs_dim for index in indices):
        raise UserError(f"focus {focus!r} must name dimensions from 0 to {env.obs_dim - 1}")
    return indices


class Learner:
    """Pure functions of a configuration and an environment's layout, compiled on first use."""

    def __init__(self, config: Config, env: EnvSpec) -> None:
        enable_cache()
        self.config, self.env = config, env
        self.focus = focus_indices(config.focus, env)
        self._measured_before = config.normalizer == "preset" and bool(env.preset_mean)
        require(
            config.warmup_episodes > 0 or config.normalizer != "preset" or self._measured_before,
            f"normalizer 'preset' is measured in the warm-up of {env.name}: "
            "set warmup_episodes above 0",
        )
        annealed = partial(adam, steps=gradient_steps(config), final=config.final_lr)
        self._optimizer = annealed(config.sac.lr)
        self.spec = MethodSpec(
            len(self.focus),
            env.action_dim,
            config.skill_dim,
            config.skill_type == "discrete",
            config.skill_unit_length,
            annealed,
        )
        self.method = METHODS[config.method](config.algorithm, self.spec)
        self.train = jax.jit(partial(self._epoch, warmup=False), donate_argnums=0)
        self.warm = jax.jit(partial(self._epoch, warmup=True), donate_argnums=0)
        self.store = jax.jit(self._store, donate_argnums=(0, 1))
        self.profile = jax.jit(self._profile)
        self.draw_skills = jax.jit(self._draw_skills)
        self.draw_noise = jax.jit(self._draw_noise)

    # ---- construction

    def init(self, key: Array) -> LearnerState:
        """Fresh parameters and optimisers."""
        sac_key, method_key = jax.random.split(key)
        inputs = self.env.obs_dim + self.config.skill_dim
        return LearnerState(
            sac.init(sac_key, self.config.sac, self._optimizer, inputs, self.env.action_dim),
            # Copied, because a buffer that a method uses twice could not be donated.
            jax.tree.map(jnp.copy, self.method.init(method_key)),
            self._first_statistics(),
            normalizer.init(self.env.obs_dim),
        )

    def _first_statistics(self) -> Normalizer:
        if self._measured_before:
            return normalizer.known(self.env.preset_mean, self.env.preset_std)
        return normalizer.init(self.env.obs_dim)

    def init_replay(self) -> Replay:
        """An empty replay of the configured capacity."""
        config, env = self.config, self.env
        return replay.init(
            config.replay_episodes, env.horizon, env.obs_dim, env.action_dim, config.skill_dim
        )

    # ---- learning

    def _store(
        self, state: LearnerState, memory: Replay, episodes: Replay, key: Array, warmup: Array
    ) -> tuple[LearnerState, Replay]:
        """Put new episodes into the replay and the normaliser's statistics."""
        overwrite = self.config.replay_overwrite == "random"
        memory = replay.insert(memory, episodes, key, overwrite)
        obs = episodes.obs[:, :-1].reshape(-1, self.env.obs_dim)
        change = episodes.obs[:, 1:].reshape(obs.shape) - obs
        real = jnp.arange(self.env.horizon)[None] < episodes.length[:, None]
        mask = real.reshape(-1).astype(jnp.float32)
        seen = mask * warmup if self.config.normalizer == "preset" else mask
        seen = jnp.zeros_like(mask) if self._measured_before else seen
        state = state._replace(
            normalizer=normalizer.update(state.normalizer, obs, seen),
            whitening=normalizer.update(state.whitening, obs, mask * warmup, change),
        )
        return state, memory

    def _epoch(
        self, state: LearnerState, memory: Replay, key: Array, warmup: bool
    ) -> tuple[LearnerState, Info]:
        """All gradient steps of an epoch; metrics are averaged over them."""
        config = self.config
        if warmup:
            stages = [(self._warmup_step, config.method_updates)]
        elif config.updates == config.method_updates:
            joint = self._shared_step if config.method_first else self._alternating_step
            stages = [(joint, config.updates)]
        else:
            stages = [
                (self._policy_step, config.updates),
                (self._method_step, config.method_updates),
            ]
        source = (memory, replay.ends(memory))
        info: Info = {}
        for index, (step, count) in enumerate(stages):
            keys = jax.random.split(jax.random.fold_in(key, index), count)
            state, infos = jax.lax.scan(lambda s, k, f=step: f(s, source, k), state, keys)
            info |= jax.tree.map(lambda x: jnp.mean(x, axis=0), infos)
        return state, info

    def _policy_step(self, state: LearnerState, memory: Memory, key: Array) -> Any:
        batch_key, rest = jax.random.split(key)
        return self._update_policy(state, self._batch(memory, batch_key), rest)

    def _method_step(self, state: LearnerState, memory: Memory, key: Array) -> Any:
        batch_key, rest = jax.random.split(key)
        return self._update_method(state, self._batch(memory, batch_key), rest)

    def _alternating_step(self, state: LearnerState, memory: Memory, key: Array) -> Any:
        """Policy, then method, each on a batch of its own: the published manipulation order."""
        policy_key, method_key = jax.random.split(key)
        state, policy_info = self._policy_step(state, memory, policy_key)
        state, method_info = self._method_step(state, memory, method_key)
        return state, policy_info | method_info

    def _shared_step(self, state: LearnerState, memory: Memory, key: Array) -> Any:
        """Method, then policy, on one batch: the METRA order."""
        batch_key, method_key, policy_key = jax.random.split(key, 3)
        batch = self._batch(memory, batch_key)
        state, method_info = self._update_method(state, batch, method_key)
        state, policy_info = self._update_policy(state, batch, policy_key)
        return state, policy_info | method_info

    def _warmup_step(self, state: LearnerState, memory: Memory, key: Array) -> Any:
        assert self.method.warmup is not None
        batch = self._method_view(state, self._batch(memory, key))
        method, info = self.method.warmup(state.method, batch, key)
        return state._replace(method=method), info

    def _update_policy(self, state: LearnerState, batch: Batch, key: Array) -> Any:
        reward_key, sac_key = jax.random.split(key)
        reward = self.method.reward(state.method, self._method_view(state, batch), reward_key)
        reward = self.config.sac.reward_scale * jax.lax.stop_gradient(reward)
        seen = batch._replace(
            obs=self._normalize(state.normalizer, batch.obs, self.config.obs_clip),
            next_obs=self._normalize(state.normalizer, batch.next_obs, self.config.obs_clip),
        )
        learned, info = sac.update(
            state.sac, self.config.sac, self._optimizer, seen, reward, sac_key
        )
        return state._replace(sac=learned), info

    def _update_method(self, state: LearnerState, batch: Batch, key: Array) -> Any:
        method, info = self.method.update(state.method, self._method_view(state, batch), key)
        return state._replace(method=method), info

    def _batch(self, memory: Memory, key: Array) -> Batch:
        later = getattr(self.config.algorithm, "k_step", 1)
        return replay.sample(*memory, key, self.config.batch_size, later)

    def _method_view(self, state: LearnerState, batch: Batch) -> Batch:
        later = batch.later_obs
        return batch._replace(
            obs=self.method_obs(state, batch.obs),
            next_obs=self.method_obs(state, batch.next_obs),
            later_obs=None if later is None else self.method_obs(state, later),
        )

    def method_obs(self, state: LearnerState, obs: Array) -> Array:
        """States as the method sees them: raw or rescaled, perhaps only some dimensions."""
        if self.config.method_states == "normalized":
            obs = self._normalize(state.normalizer, obs, clip=0.0)
        elif self.config.method_states == "whitened":
            obs = normalizer.whiten(state.whitening, obs)
        if len(self.focus) < self.env.obs_dim:
            obs = obs[:, jnp.asarray(self.focus)]
        return obs

    def _profile(self, state: LearnerState, obs: Array) -> Info:
        """What each dimension weighs in the method's distance at raw states (n, obs_dim)."""
        assert self.method.profile is not None
        return self.method.profile(state.method, self.method_obs(state, obs))

    def _normalize(self, state: Normalizer, obs: Array, clip: float) -> Array:
        if self.config.normalizer == "none":
            return obs
        return normalizer.apply(state, obs, clip)

    # ---- acting

    def policy(self, policy: Policy, obs: np.ndarray, skill: np.ndarray) -> tuple[np.ndarray, ...]:
        """Mean and standard deviation before squashing.

        In NumPy: a compiled call would wait for the gradient steps that run beside it.
        """
        inputs = np.concatenate([self.normalize(policy, obs), skill], axis=-1)
        mean, log_std = sac.policy(policy.actor, self.config.sac, inputs, xp=np)
        return mean, np.exp(log_std)

    def normalize(self, policy: Policy, obs: np.ndarray) -> np.ndarray:
        """States as the policy sees them."""
        if self.config.normalizer == "none":
            return obs
        return normalizer.apply(policy.normalizer, obs, self.config.obs_clip, xp=np)

    def snapshot(self, state: LearnerState) -> Policy:
        """A copy of what acting needs, on the host."""
        return jax.tree.map(np.array, Policy(state.sac.actor, state.normalizer))

    def _draw_skills(self, key: Array, episodes: Array) -> Array:
        """The skill of each episode, a function of the key and the episode's number."""
        return jax.vmap(lambda e: draw_skill(self.spec, jax.random.fold_in(key, e)))(episodes)

    def _draw_noise(self, key: Array, episodes: Array) -> tuple[Array, Array, Array]:
        """Per step of each episode: Gaussian noise, a uniform action, a uniform number."""
        shape = (self.env.horizon, self.env.action_dim)

        def one(episode: Array) -> tuple[Array, Array, Array]:
            a, b, c = jax.random.split(jax.random.fold_in(key, episode), 3)
            return (
                jax.random.normal(a, shape),
                jax.random.uniform(b, shape, minval=-1.0, maxval=1.0),
                jax.random.uniform(c, shape[:1]),
            )

        return jax.vmap(one)(episodes)
