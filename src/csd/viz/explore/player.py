"""One world that plays one skill after another: what `csd explore` shows, without the page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from csd import checkpoint, envs, rundir
from csd.collect import episode_seeds
from csd.envs.base import EnvSpec
from csd.envs.kitchen import TASKS, achieved
from csd.envs.offscreen import Camera
from csd.errors import UserError
from csd.evaluation.skills import EVALUATION_STREAM
from csd.skills import Skills, load
from csd.viz.video import RADIUS, lay_out

KEPT, KEPT_OF_ONE = 200, 4  # paths that stay in view: of all skills, and of one
FAN = 16  # skills that are rolled out together, where there are endlessly many


class Path3D(NamedTuple):
    """Where the target went under one skill."""

    skill: np.ndarray
    points: np.ndarray  # (time, 3)


class Player:
    """A skill at work: choose it, step, start over; the target's path is remembered.

    A skill may change at any time; the path is then cut, so that each piece has one skill.
    """

    def __init__(self, skills: Skills, start: int = 0) -> None:
        self.skills, self.spec = skills, skills.spec
        config = skills.config
        self.world: Any
        self.camera: Camera
        self.world, self.camera = envs.make_world(config.env, config.horizon)
        self.followed = _followed(self.world, self.spec, self.camera)
        self.target = self.spec.target or self.world.model.body(self.followed).name
        self.skill = fan(skills)[0]
        self.paths: list[Path3D] = []
        self._points: list[np.ndarray] = []
        self.start = start - 1
        self.restart()

    def restart(self, another: bool = True) -> None:
        """Begin an episode, from another start unless told otherwise."""
        self._cut()
        self.start += another
        stream = self.skills.config.seed + EVALUATION_STREAM
        seed = episode_seeds(stream, np.array([self.start]))[0]
        self.obs = np.array(self.world.reset(seed), np.float32)
        self.steps, self.over = 0, False
        self.origin = self._place()
        self._points = [self.origin]
        self.done: set[str] = set(tasks(self.spec, self.obs))

    def choose(self, skill: np.ndarray) -> None:
        """Go on with another skill from where the world is now."""
        self._cut()
        self._points = self._points[-1:]
        self.skill = np.asarray(skill, np.float32)

    def step(self) -> None:
        """One step of the skill, or the next episode if this one is over."""
        if self.over:
            self.restart()
            return
        obs, end = self.world.step(self.skills.act(self.obs, self.skill))
        obs = np.array(obs, np.float32)
        if not np.isfinite(obs).all():  # the simulator blew up: the path ends before it
            self.over = True
            return
        self.obs, self.steps = obs, self.steps + 1
        self._points.append(self._place())
        self.done |= set(tasks(self.spec, obs))
        self.over = bool(end) or self.steps >= self.spec.horizon

    @property
    def path(self) -> Path3D:
        """Where the target has gone since the skill or the episode began."""
        return Path3D(self.skill, np.array(self._points))

    @property
    def moved(self) -> float:
        """How far the target is from where the episode began."""
        return float(np.linalg.norm(self._points[-1] - self.origin))

    def keep(self, path: Path3D) -> None:
        """Remember a path; of each skill the last few stay."""
        same = [old for old in self.paths if np.array_equal(old.skill, path.skill)]
        outdated = [id(old) for old in same[: 1 - KEPT_OF_ONE]]
        others = [old for old in self.paths if id(old) not in outdated]
        self.paths = [*others[1 - KEPT :], path]

    def _cut(self) -> None:
        if len(self._points) > 1:
            self.keep(self.path)

    def _place(self) -> np.ndarray:
        """Where the target is in space; what has no height of its own is drawn on the floor."""
        if not self.spec.target:
            return self.world.data.xpos[self.followed].copy()
        place = self.obs[list(self.spec.groups[self.spec.target])].astype(np.float64)
        if self.spec.one_way:
            return np.array([place[0], 0.0, 0.0])
        return place if len(place) == 3 else np.array([*place[:2], 0.0])


def tasks(spec: EnvSpec, obs: np.ndarray) -> list[str]:
    """What counts as done at a state; only a kitchen has names for it."""
    if spec.family != "kitchen":
        return []
    return [name for name, held in zip(TASKS, achieved(obs), strict=True) if held]


def _followed(world: Any, spec: EnvSpec, camera: Camera) -> int:
    """The body to watch where nobody has named a target: the one that travels, else the tip."""
    if spec.target:
        return 0
    if camera.follow:
        return int(world.model.body(camera.follow).id)
    model = world.model
    movable = np.flatnonzero(model.body_weldid)
    if not len(movable):
        return 0
    return int(movable[model.body_rootid[movable] == model.body_rootid[movable[0]]][-1])


def fan(skills: Skills, count: int = FAN) -> np.ndarray:
    """Skills that show what there is, (n, skill_dim): all, or all around, or random ones."""
    config = skills.config
    if config.skill_type == "discrete" or config.skill_dim != 2:
        return lay_out(skills, count)[0]
    angles = 2.0 * np.pi * np.arange(count) / count
    length = 1.0 if config.skill_unit_length else RADIUS
    return length * np.stack([np.cos(angles), np.sin(angles)], axis=-1).astype(np.float32)


def roll_outs(player: Player, codes: np.ndarray) -> Iterator[Path3D | None]:
    """An episode of each skill from one start: None after every step, then the path."""
    for code in codes:
        player.choose(code)
        player.restart(another=False)
        while not player.over:
            player.step()
            yield None
        yield player.path


class Newest:
    """The checkpoint of a run in training that is newer than the one in use."""

    def __init__(self, run: Path, episode: int) -> None:
        self.run, self.seen = run, episode

    def load(self) -> Skills | None:
        """Its skills, once: None if there is nothing new, or nothing that can be read."""
        found = checkpoint.episodes(self.run / rundir.CHECKPOINTS)
        if not found or found[-1] <= self.seen:
            return None
        before, self.seen = self.seen, found[-1]
        try:
            skills = load(self.run)
        except UserError:  # replaced while it was read: the next one will do
            return None
        return skills if skills.episode > before else None  # a damaged one is passed over
