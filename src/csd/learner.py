"""SAC and a method joined into one learner; in an epoch the method runs ahead of the policy."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from csd.acting import Policy, draw_noise
from csd.compilation import enable_cache, quick_jit
from csd.config import Config, gradient_steps
from csd.envs.base import EnvSpec, focus_indices
from csd.errors import require
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


class Keys(NamedTuple):
    """The randomness of an epoch's gradient steps, shape (pieces, steps of a piece) each."""

    policy: Array
    method: Array


def pieces(steps: int, most: int = 8) -> int:
    """In how many equal pieces an epoch's steps are done, so that two threads can share them."""
    return max(count for count in range(1, most + 1) if steps % count == 0)


def averages(infos: list[Info]) -> dict[str, np.ndarray]:
    """Each figure's mean over the pieces that have it."""
    names = dict.fromkeys(name for info in infos for name in info)
    return {n: np.mean([info[n] for info in infos if n in info], axis=0) for n in names}


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
        steps, method_steps = (
            gradient_steps(config, number) for number in (config.updates, config.method_updates)
        )
        self._optimizer = adam(config.sac.lr, steps, config.final_lr)
        self.spec = MethodSpec(
            len(self.focus),
            env.action_dim,
            config.skill_dim,
            config.skill_type == "discrete",
            config.skill_unit_length,
            partial(adam, steps=method_steps, final=config.final_lr),
        )
        self.method = METHODS[config.method](config.algorithm, self.spec)
        self._thread = ThreadPoolExecutor(1)
        self._prepare = jax.jit(self._prepare_epoch)
        self._run_method = jax.jit(self._method_piece, donate_argnums=0, static_argnames="part")
        self._run_policy = jax.jit(self._policy_piece, donate_argnums=0)
        self.warm = jax.jit(self._warm, donate_argnums=0)
        self.store = jax.jit(self._store, donate_argnums=(0, 1))
        self.profile = jax.jit(self._profile)
        self.draw_skills = quick_jit(self._draw_skills)
        self.draw_noise = quick_jit(
            partial(draw_noise, horizon=env.horizon, action_dim=env.action_dim)
        )

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
        # Measured in the warm-up and then kept: a zero among the samples would stay in them.
        return normalizer.init(self.env.obs_dim, float(self.config.normalizer != "preset"))

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

    def train(
        self, state: LearnerState, memory: Replay, key: Array
    ) -> tuple[LearnerState, dict[str, np.ndarray]]:
        """All gradient steps of an epoch; metrics are averaged over them. `state` is used up.

        The policy needs the method's rewards, the method nothing of the policy. So the method runs
        ahead on a thread of its own and hands over the rewards of some steps at a time.
        """
        ends, keys = self._prepare(memory, key)
        source = (memory, ends)
        scales = state._replace(sac=None, method=None)
        policy, method = state.sac, state.method
        infos: list[Info] = []

        def ahead(part: str, index: int) -> tuple[Array | None, Info]:
            nonlocal method
            method, (reward, info) = self._run_method(method, scales, source, keys, index, part)
            return reward, info

        handed = [self._thread.submit(ahead, *piece) for piece in self._pieces()]
        for index, piece in enumerate(handed):
            reward, info = piece.result()
            infos.append(info)
            if reward is not None:
                policy, info = self._run_policy(policy, scales, source, keys, index, reward)
                infos.append(info)
        return state._replace(sac=policy, method=method), averages(infos)

    def _pieces(self) -> list[tuple[str, int]]:
        """What the method does of an epoch, in order: which part of a step, which piece."""
        policy, method = pieces(self.config.updates), pieces(self.config.method_updates)
        if self.config.updates == self.config.method_updates:
            return [("both", index) for index in range(policy)]
        rewards = [("reward", index) for index in range(policy)]
        return rewards + [("update", index) for index in range(method)]

    def _prepare_epoch(self, memory: Replay, key: Array) -> tuple[Array, Keys]:
        """Where the replay's episodes end, and the keys of all steps, piece by piece."""

        def split(index: int, steps: int) -> Array:
            keys = jax.random.split(jax.random.fold_in(key, index), steps)
            return keys.reshape(pieces(steps), -1)

        keys = Keys(split(0, self.config.updates), split(1, self.config.method_updates))
        return replay.ends(memory), keys

    def _method_piece(
        self, method: Any, scales: LearnerState, memory: Memory, keys: Keys, index: Array, part: str
    ) -> tuple[Any, tuple[Array | None, Info]]:
        """Some gradient steps of the method and the rewards of as many of the policy.

        On one batch and the method first (METRA's order), or each on a batch of its own and the
        policy first (the published one). `part` may also be "reward" or "update" alone.
        """
        first = self.config.method_first and part == "both"

        def view(key: Array) -> Batch:
            return self._method_view(scales, self._batch(memory, key))

        def step(method: Any, keys: dict[str, Array]) -> tuple[Any, tuple[Array | None, Info]]:
            reward, info = None, {}
            if part != "update":
                batch_key, reward_key, _ = jax.random.split(keys["policy"], 3)
                if not first:
                    reward = self.method.reward(method, view(batch_key), reward_key)
            if part != "reward":
                own_key, update_key = jax.random.split(keys["method"])
                batch = view(batch_key if first else own_key)
                method, info = self.method.update(method, batch, update_key)
            if first:
                reward = self.method.reward(method, view(batch_key), reward_key)
            return method, (reward, info)

        unused = {"update": "policy", "reward": "method"}.get(part)
        needed = {name: key[index] for name, key in keys._asdict().items() if name != unused}
        method, (reward, info) = jax.lax.scan(step, method, needed)
        return method, (reward, jax.tree.map(lambda x: jnp.mean(x, axis=0), info))

    def _policy_piece(
        self,
        policy: sac.SACState,
        scales: LearnerState,
        memory: Memory,
        keys: Keys,
        index: Array,
        rewards: Array,
    ) -> tuple[sac.SACState, Info]:
        """Some gradient steps of the policy on rewards that the method has worked out."""

        def step(policy: sac.SACState, given: tuple[Array, Array]) -> tuple[sac.SACState, Info]:
            batch_key, _, sac_key = jax.random.split(given[0], 3)
            batch = self._batch(memory, batch_key)
            batch = batch._replace(
                obs=self._normalize(scales.normalizer, batch.obs, self.config.obs_clip),
                next_obs=self._normalize(scales.normalizer, batch.next_obs, self.config.obs_clip),
            )
            reward = self.config.sac.reward_scale * given[1]
            return sac.update(policy, self.config.sac, self._optimizer, batch, reward, sac_key)

        policy, infos = jax.lax.scan(step, policy, (keys.policy[index], rewards))
        return policy, jax.tree.map(lambda x: jnp.mean(x, axis=0), infos)

    def _warm(self, state: LearnerState, memory: Replay, key: Array) -> tuple[LearnerState, Info]:
        """An epoch of the warm-up: only what the method learns from random behaviour."""
        source = (memory, replay.ends(memory))
        keys = jax.random.split(key, self.config.method_updates)

        def step(method: Any, key: Array) -> tuple[Any, Info]:
            assert self.method.warmup is not None
            batch = self._method_view(state, self._batch(source, key))
            return self.method.warmup(method, batch, key)

        method, infos = jax.lax.scan(step, state.method, keys)
        info = jax.tree.map(lambda x: jnp.mean(x, axis=0), infos)
        return state._replace(method=method), info

    def _batch(self, memory: Memory, key: Array) -> Batch:
        return replay.sample(*memory, key, self.config.batch_size, self.method.later)

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

    def snapshot(self, state: LearnerState) -> Policy:
        """A copy of what acting needs, on the host."""
        return jax.tree.map(np.array, Policy(state.sac.actor, state.normalizer))

    def _draw_skills(self, key: Array, episodes: Array) -> Array:
        """The skill of each episode, a function of the key and the episode's number."""
        return jax.vmap(lambda e: draw_skill(self.spec, jax.random.fold_in(key, e)))(episodes)
