"""Rolling out a policy in many environments at once."""

from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from csd.acting import Policy, PolicySet, act
from csd.config import Config, SACConfig
from csd.envs.base import End
from csd.envs.vector import VectorEnv, diverged
from csd.rl.replay import Replay


class Rollout(NamedTuple):
    """Episodes side by side, padded to the horizon with the last real state."""

    obs: np.ndarray  # (episodes, horizon + 1, obs_dim)
    action: np.ndarray  # (episodes, horizon, action_dim)
    skill: np.ndarray  # (episodes, skill_dim)
    length: np.ndarray  # (episodes,)
    terminal: np.ndarray  # (episodes,)
    diverged: int


def episode_seeds(seed: int, episodes: np.ndarray) -> list[int]:
    """The reset seed of each episode, a function of the run's seed and the episode's number."""
    return [int(np.random.SeedSequence([seed, int(k)]).generate_state(1)[0]) for k in episodes]


# BLAS threads that spin between these small products would starve the simulators.
@threadpool_limits.wrap(limits=1, user_api="blas")
def collect(
    envs: VectorEnv,
    config: Config,
    policy: Policy | PolicySet | None,
    seeds: list[int],
    skills: np.ndarray,
    noise: tuple[np.ndarray, ...] | None,
    disturbance: np.ndarray | None = None,
) -> Rollout:
    """One episode per seed. Without a policy actions are random, without noise deterministic.

    `disturbance` is added to actions on their way to the environment.
    """
    horizon = envs.spec.horizon
    count = len(seeds)
    obs = np.zeros((count, horizon + 1, envs.spec.obs_dim), np.float32)
    action = np.zeros((count, horizon, envs.spec.action_dim), np.float32)
    active = np.ones(count, bool)
    length = np.full(count, horizon, np.int32)
    terminal = np.zeros(count, np.float32)
    blown_up = 0
    obs[:, 0] = envs.reset(seeds)
    for t in range(horizon):
        if policy is None:
            assert noise is not None
            a = noise[1][:, t]
        else:
            a = act(
                config,
                policy,
                obs[:, t],
                skills,
                None if noise is None else [n[:, t] for n in noise],
            )
        if disturbance is not None:
            a = np.clip(a + disturbance[:, t], -1.0, 1.0)
        action[:, t] = a
        next_obs, end = envs.step(a, active)
        broken = active & diverged(next_obs)
        if broken.any():  # the simulator blew up: the episode ends before the bad state
            blown_up += int(broken.sum())
            next_obs[broken] = obs[broken, t]
            length[broken] = np.maximum(t, 1)
            active &= ~broken
        finished = active & (end != End.NOT_YET)
        length[finished] = t + 1
        terminal[active & (end == End.TERMINATED)] = 1.0
        obs[:, t + 1] = np.where(active[:, None], next_obs, obs[:, t])
        active &= ~finished
        if not active.any():
            obs[:, t + 1 :] = obs[:, t + 1 : t + 2]
            break
    return Rollout(obs, action, skills, length, terminal, blown_up)


def as_episodes(rollout: Rollout, config: SACConfig) -> Replay:
    """The rollout in the replay's layout, its ends as the learner is to see them."""
    if not config.store_end:
        obs, last = rollout.obs.copy(), rollout.length - 1
        for episode in np.flatnonzero(rollout.terminal):
            obs[episode, last[episode] + 1 :] = obs[episode, last[episode]]
        rollout = rollout._replace(obs=obs)
    if not config.bootstrap_time_limit:
        rollout = rollout._replace(terminal=np.ones_like(rollout.terminal))
    arrays: list[Any] = [*rollout[:-1], np.int32(len(rollout.length))]
    return Replay(*arrays)
