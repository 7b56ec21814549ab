"""Environments by name."""

import dataclasses
from functools import partial

from csd.envs import fetch, probe
from csd.envs.base import EnvSpec
from csd.envs.gym import GymWorld, gym_spec, make_gym
from csd.envs.vector import ThreadedWorlds, VectorEnv

ENVS = {
    "Probe": "a point and a puck on a plane; learns in seconds",
    "FetchPush": "a robot arm with closed fingers and a cube on a table",
    "FetchSlide": "a robot arm and a puck on a long slippery table",
    "FetchPickAndPlace": "a robot arm with working fingers and a cube on a table",
}


def make(name: str, num_envs: int, horizon: int = 0, workers: int = 0) -> VectorEnv:
    """`num_envs` environments stepped together; `workers` threads, 0 for one per core."""
    if name == "Probe":
        envs: VectorEnv = probe.ProbeEnvs(num_envs)
    elif name in fetch.IDS:
        envs = ThreadedWorlds(partial(fetch.FetchWorld, name), num_envs, workers)
    else:
        return ThreadedWorlds(partial(GymWorld, name, horizon), num_envs, workers)
    if horizon:
        envs.spec = dataclasses.replace(envs.spec, horizon=horizon)
    return envs


def spec(name: str, horizon: int = 0) -> EnvSpec:
    """The layout of an environment's state."""
    if name == "Probe":
        known = probe.SPEC
    elif name in fetch.IDS:
        known = fetch.fetch_spec(name)
    else:
        env = make_gym(name)
        try:
            return gym_spec(name, env, horizon)
        finally:
            env.close()
    return dataclasses.replace(known, horizon=horizon) if horizon else known
