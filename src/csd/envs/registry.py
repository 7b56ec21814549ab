"""Environments by name."""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from csd.envs import fetch, film, kitchen, locomotion, probe
from csd.envs.base import EnvSpec, World
from csd.envs.film import Film
from csd.envs.gym import GymWorld
from csd.envs.offscreen import Camera
from csd.envs.vector import ThreadedWorlds, VectorEnv
from csd.errors import require


class Known(NamedTuple):
    """An environment that the library describes itself."""

    summary: str
    spec: Callable[[], EnvSpec]
    make: Callable[[int, int], VectorEnv]
    """(number of environments, threads) -> all of them."""
    world: Callable[[], World]
    """One of them, with all there is to see of it."""
    camera: Camera
    """Where to look at it from."""


def threaded(world: Callable[[], World]) -> Callable[[int, int], VectorEnv]:
    """Worlds divided among threads."""
    return lambda num_envs, workers: ThreadedWorlds(world, num_envs, workers)


def _fetch(name: str, summary: str) -> Known:
    world = partial(fetch.FetchWorld, name)
    return Known(
        summary,
        partial(fetch.fetch_spec, name),
        threaded(world),
        world,
        fetch.CAMERA,
    )


def _locomotion(name: str, summary: str) -> Known:
    world = partial(locomotion.LocomotionWorld, name)
    return Known(
        summary,
        partial(locomotion.locomotion_spec, name),
        threaded(world),
        world,
        locomotion.CAMERA,
    )


ENVS = {
    "Probe": Known(
        "a point and a puck on a plane; learns in seconds",
        lambda: probe.SPEC,
        lambda num_envs, workers: probe.ProbeEnvs(num_envs),
        film.ProbeWorld,
        film.PROBE_CAMERA,
    ),
    "FetchPush": _fetch("FetchPush", "a robot arm with closed fingers and a cube on a table"),
    "FetchSlide": _fetch("FetchSlide", "a robot arm and a puck on a long slippery table"),
    "FetchPickAndPlace": _fetch(
        "FetchPickAndPlace", "a robot arm with working fingers and a cube on a table"
    ),
    "Ant": _locomotion("Ant", "a four-legged body that can walk in every direction"),
    "HalfCheetah": _locomotion("HalfCheetah", "a flat two-legged body that can run both ways"),
    "Humanoid": _locomotion("Humanoid", "a body on two legs; an episode ends when it falls"),
    "Kitchen": Known(
        "a robot arm among a kettle, a microwave, burners and cabinets",
        lambda: kitchen.SPEC,
        threaded(kitchen.KitchenWorld),
        partial(kitchen.KitchenWorld, visual=True),
        kitchen.CAMERA,
    ),
}


def make(name: str, num_envs: int, horizon: int = 0, workers: int = 0) -> VectorEnv:
    """`num_envs` environments stepped together; `workers` threads, 0 for one per core."""
    require(workers >= 0, f"workers must not be negative, not {workers}")
    if name not in ENVS:
        return ThreadedWorlds(partial(GymWorld, name, horizon), num_envs, workers)
    made = ENVS[name].make(num_envs, workers)
    if horizon:
        made.spec = dataclasses.replace(made.spec, horizon=horizon)
    return made


def make_film(name: str, num_envs: int, size: int, horizon: int = 0) -> Film:
    """`num_envs` environments with a camera on each, for pictures of `size` by `size` pixels."""
    if name not in ENVS:
        return film.of_gym(name, horizon, num_envs, size)
    known = ENVS[name]
    return film.of_worlds([known.world() for _ in range(num_envs)], known.camera, size)


def make_world(name: str, horizon: int = 0) -> tuple[World, Camera]:
    """One environment to look at from all sides, and where to look from first.

    It has MuJoCo's `model` and `data`, unless it is the probe world.
    """
    if name in ENVS:
        return ENVS[name].world(), ENVS[name].camera
    world = GymWorld(name, horizon)
    return world, world.camera()


def spec(name: str, horizon: int = 0) -> EnvSpec:
    """The layout of an environment's state."""
    if name in ENVS:
        known = ENVS[name].spec()
        return dataclasses.replace(known, horizon=horizon) if horizon else known
    world = GymWorld(name, horizon)
    try:
        world.try_out()
        return world.spec
    finally:
        world.close()
