"""Downstream tasks by name; `import csd` registers them in Gymnasium as `csd/NAME-v0`."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from csd import envs
from csd.envs.base import World
from csd.envs.film import Film, of_worlds
from csd.envs.locomotion import CAMERA
from csd.envs.offscreen import Camera
from csd.envs.vector import ThreadedWorlds
from csd.errors import UserError, nearest
from csd.tasks.base import Rules, TaskEnvs
from csd.tasks.fetch import fetch_goal
from csd.tasks.kitchen import OneOf
from csd.tasks.locomotion import Hurdles, MultiGoals, ant_goal, cheetah_goal, hurdle_world
from csd.tasks.probe import probe_goal

__all__ = ["TASKS", "KnownTask", "Rules", "TaskEnvs", "film", "find", "make"]


class KnownTask(NamedTuple):
    """A task that the library describes."""

    summary: str
    env: str
    """The environment whose skills can be used for it."""
    rules: Callable[[], Rules]
    world: Callable[[], World] | None = None
    """A world of the task's own, where it differs from the environment's."""
    camera: Camera | None = None
    """Where to look at it from, where the environment's own place is too near."""


FROM_AFAR = CAMERA._replace(distance=15.0, elevation=-35.0)


def _fetch(env: str, summary: str) -> KnownTask:
    return KnownTask(summary, env, partial(fetch_goal, env))


TASKS = {
    "ProbeGoal": KnownTask("push the puck to a goal; learns in seconds", "Probe", probe_goal),
    "FetchPushGoal": _fetch("FetchPush", "push the cube to a goal on the table"),
    "FetchSlideGoal": _fetch("FetchSlide", "slide the puck to a goal out of reach"),
    "FetchPickAndPlaceGoal": _fetch(
        "FetchPickAndPlace", "move the cube to a goal on the table or in the air"
    ),
    "KitchenTask": KnownTask("one of thirteen things to do in the kitchen", "Kitchen", OneOf),
    "AntGoal": KnownTask(
        "walk to a goal within 20 m along each axis", "Ant", ant_goal, camera=FROM_AFAR
    ),
    "AntMultiGoals": KnownTask(
        "walk to four goals in turn, 50 steps for each", "Ant", MultiGoals, camera=FROM_AFAR
    ),
    "HalfCheetahGoal": KnownTask(
        "run to a goal within 60 m", "HalfCheetah", cheetah_goal, camera=FROM_AFAR
    ),
    "HalfCheetahHurdle": KnownTask(
        "jump over as many hurdles as possible", "HalfCheetah", Hurdles, hurdle_world
    ),
}


def find(name: str) -> KnownTask:
    """The task of a name."""
    if name not in TASKS:
        raise UserError(f"unknown task {name!r}: {nearest(name, TASKS)}")
    return TASKS[name]


def make(name: str, num_envs: int, workers: int = 0, seen: bool = False) -> TaskEnvs:
    """`num_envs` episodes of a task stepped together; `seen` ones have all there is to see."""
    task = find(name)
    known = envs.ENVS[task.env]
    if task.world or seen:
        pool = ThreadedWorlds(task.world or known.world, num_envs, workers)
    else:
        pool = known.make(num_envs, workers)
    return TaskEnvs(name, pool, task.rules())


def film(pool: TaskEnvs, size: int) -> Film:
    """A camera on each of the worlds that `make` has made to be seen."""
    assert isinstance(pool.envs, ThreadedWorlds)
    task = find(pool.spec.name)
    camera = task.camera or envs.ENVS[task.env].camera
    return of_worlds(pool.envs.worlds, camera, size)
