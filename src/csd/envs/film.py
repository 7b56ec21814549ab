"""Environments with a camera on each: what a video shows."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from csd.envs import probe
from csd.envs.base import World
from csd.envs.gym import GymWorld
from csd.envs.offscreen import Camera, Offscreen
from csd.errors import UserError

POINT, PUCK, PLANE = (40, 90, 200), (220, 120, 30), (245, 245, 245)
PROBE_CAMERA = Camera((0.0, 0.0, 0.0), distance=2.0, azimuth=90.0, elevation=-60.0)


class Film(NamedTuple):
    """Worlds side by side and a way to look at each."""

    worlds: list[Any]
    look: Callable[[Any], np.ndarray]
    """A square picture of one of the worlds, (size, size, 3) bytes."""
    close: Callable[[], None]


def of_mujoco(world: Callable[[], Any], camera: Camera, count: int, size: int) -> Film:
    """Simulations of one model share a camera; looking at them does not change their motion."""
    worlds = [world() for _ in range(count)]
    view = Offscreen(worlds[0].model, (size, size), camera)
    return Film(worlds, lambda world: view.picture(world.data), view.close)


def of_gym(name: str, horizon: int, count: int, size: int) -> Film:
    """Gymnasium environments draw themselves, in whatever size they like."""
    worlds = [GymWorld(name, horizon, render_mode="rgb_array") for _ in range(count)]

    def look(world: GymWorld) -> np.ndarray:
        frame = world.render()
        if not isinstance(frame, np.ndarray) or frame.ndim != 3:
            raise UserError(
                f"{name} cannot be filmed: its render mode 'rgb_array' gives no picture"
            )
        return np.asarray(Image.fromarray(frame).convert("RGB").resize((size, size)))

    def close() -> None:
        for world in worlds:
            world.close()

    return Film(worlds, look, close)


class ProbeWorld:
    """One probe world, and what it looks like from above."""

    spec = probe.SPEC

    def __init__(self) -> None:
        self._envs = probe.ProbeEnvs(1)
        self._state = np.zeros(4)

    def reset(self, seed: int) -> np.ndarray:
        """The start that `ProbeEnvs` gives for this seed."""
        self._state = self._envs.reset([seed])[0]
        return self._state

    def step(self, action: np.ndarray) -> tuple[np.ndarray, bool]:
        """One step of `ProbeEnvs`."""
        self._state = self._envs.step(action[None], np.ones(1, bool))[0][0]
        return self._state, False

    def picture(self, size: int) -> np.ndarray:
        """The point blue, the puck orange; y points up."""
        edge = probe.ARENA + probe.RADIUS
        line = np.linspace(-edge, edge, size)
        x, y = np.meshgrid(line, -line)
        frame = np.full((size, size, 3), PLANE, np.uint8)
        for centre, radius, color in (
            (self._state[2:], probe.RADIUS * 0.75, PUCK),
            (self._state[:2], probe.RADIUS * 0.25, POINT),
        ):
            frame[(x - centre[0]) ** 2 + (y - centre[1]) ** 2 < radius**2] = color
        return frame

    def close(self) -> None:
        """Nothing to let go of."""


def of_probe(count: int, size: int) -> Film:
    """Probe worlds are drawn here."""
    worlds: list[World] = [ProbeWorld() for _ in range(count)]
    return Film(worlds, lambda world: world.picture(size), lambda: None)
