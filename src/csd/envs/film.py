"""Environments with a camera on each: what a video shows."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from csd.envs import probe
from csd.envs.gym import GymWorld
from csd.envs.offscreen import GREEN, Camera, Mark, Offscreen
from csd.errors import UserError

POINT, PUCK, PLANE = (40, 90, 200), (220, 120, 30), (245, 245, 245)
PROBE_CAMERA = Camera((0.0, 0.0, 0.0), distance=2.0, azimuth=90.0, elevation=-60.0)


Sign = Mark | str | None
"""What a picture shows of an episode's goal: a place, words or nothing."""


class Film(NamedTuple):
    """Worlds side by side and a way to look at each."""

    worlds: list[Any]
    look: Callable[..., np.ndarray]
    """(world, sign) -> a square picture of one of the worlds, (size, size, 3) bytes."""
    close: Callable[[], None]


def of_worlds(worlds: list[Any], camera: Camera, size: int) -> Film:
    """Worlds of one kind share a camera; looking at them does not change their motion."""
    if isinstance(worlds[0], ProbeWorld):
        return Film(worlds, lambda world, sign=None: world.picture(size, sign), lambda: None)
    view = Offscreen(worlds[0].model, (size, size), camera)

    def look(world: Any, sign: Sign = None) -> np.ndarray:
        mark, words = (sign, sign.words) if isinstance(sign, Mark) else (None, sign)
        picture = view.picture(world.data, mark)
        return captioned(picture, words) if words else picture

    return Film(worlds, look, view.close)


def captioned(picture: np.ndarray, words: str) -> np.ndarray:
    """The picture with words at its upper edge."""
    image = Image.fromarray(picture)
    edge = picture.shape[1] // 20
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(1.2 * edge)
    draw.text((edge, edge / 2), words, "white", font, stroke_width=1, stroke_fill="black")
    return np.asarray(image)


def of_gym(name: str, horizon: int, count: int, size: int) -> Film:
    """MuJoCo simulations are filmed like our own, other environments draw themselves."""
    first = GymWorld(name, horizon)
    try:
        camera = first.camera()
    except UserError:  # none of MuJoCo's
        first.close()
        return drawing_themselves(name, horizon, count, size)
    return of_worlds([first, *(GymWorld(name, horizon) for _ in range(count - 1))], camera, size)


def drawing_themselves(name: str, horizon: int, count: int, size: int) -> Film:
    """Gymnasium environments by their own means, in whatever size they like."""
    worlds = [GymWorld(name, horizon, render_mode="rgb_array") for _ in range(count)]

    def look(world: GymWorld, sign: Sign = None) -> np.ndarray:
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

    def picture(self, size: int, mark: Mark | None = None) -> np.ndarray:
        """The point blue, the puck orange, the goal green; y points up."""
        edge = probe.ARENA + probe.RADIUS
        line = np.linspace(-edge, edge, size)
        x, y = np.meshgrid(line, -line)
        frame = np.full((size, size, 3), PLANE, np.uint8)
        if mark is not None:
            inside = (x - mark.place[0]) ** 2 + (y - mark.place[1]) ** 2 < mark.radius**2
            frame[inside] = (255 * GREEN[:3]).astype(np.uint8)
        for centre, radius, color in (
            (self._state[2:], probe.RADIUS * 0.75, PUCK),
            (self._state[:2], probe.RADIUS * 0.25, POINT),
        ):
            frame[(x - centre[0]) ** 2 + (y - centre[1]) ** 2 < radius**2] = color
        return frame

    def close(self) -> None:
        """Nothing to let go of."""
