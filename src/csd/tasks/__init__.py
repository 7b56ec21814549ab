"""Downstream tasks by name; `import csd` registers them in Gymnasium as `csd/NAME-v0`."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from csd import envs
from csd.envs.registry import threaded
from csd.envs.vector import VectorEnv
from csd.errors import UserError, nearest
from csd.tasks.base import Rules, TaskEnvs
from csd.tasks.fetch import fetch_goal
from csd.tasks.kitchen import OneOf
from csd.tasks.locomotion import Hurdles, MultiGoals, ant_goal, cheetah_goal, hurdle_world
from csd.tasks.probe import probe_goal

__all__ = ["TASKS", "KnownTask", "Rules", "TaskEnvs", "find", "make"]


class KnownTask(NamedTuple):
    """A task that the library describes."""

    summary: str
    env: str
    """The environment whose skills can be used for it."""
    rules: Callable[[], Rules]
    worlds: Callable[[int, int], VectorEnv] | None = None
    """(number, threads) -> worlds of the task's own, where they differ from the environment's."""


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
    "AntGoal": KnownTask("walk to a goal within 20 m along each axis", "Ant", ant_goal),
    "AntMultiGoals": KnownTask("walk to four goals in turn, 50 steps for each", "Ant", MultiGoals),
    "HalfCheetahGoal": KnownTask("run to a goal within 60 m", "HalfCheetah", cheetah_goal),
    "HalfCheetahHurdle": KnownTask(
        "jump over as many hurdles as possible", "HalfCheetah", Hurdles, threaded(hurdle_world)
    ),
}


def find(name: str) -> KnownTask:
    """The task of a name."""
    if name not in TASKS:
        raise UserError(f"unknown task {name!r}: {nearest(name, TASKS)}")
    return TASKS[name]


def make(name: str, num_envs: int, workers: int = 0) -> TaskEnvs:
    """`num_envs` episodes of a task stepped together."""
    task = find(name)
    worlds = task.worlds or (lambda n, w: envs.make(task.env, n, workers=w))
    return TaskEnvs(name, worlds(num_envs, workers), task.rules())
