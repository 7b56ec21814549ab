"""AntGoal, AntMultiGoals, HalfCheetahGoal and HalfCheetahHurdle."""

from collections.abc import Sequence
from functools import cache

import mujoco
import numpy as np

from csd.envs import locomotion
from csd.envs.offscreen import Mark
from csd.tasks.base import Reach, ball, put_at, task_rng

RADIUS = 3.0
REWARD = 10.0
ANT_REACH = 20.0
CHEETAH_REACH = 60.0
SEGMENTS, SEGMENT = 4, 50  # AntMultiGoals: goals, and the steps for each
SEGMENT_REACH = 7.5
HURDLES = np.array([-15, -13, -9, -5, -1, 3, 7, 11, 15, 19, 23, 27], np.float32)
HURDLE_HEIGHT, HURDLE_HALF_SIZE = 0.2, (0.05, 1.0, 0.03)
NO_HURDLE = 15.0  # what is seen as the next hurdle behind the last one


def ant_goal() -> Reach:
    """A place within 20 m along each axis."""
    return _goal((0, 1), ANT_REACH, ("goal_x", "goal_y"))


def cheetah_goal() -> Reach:
    """A place within 60 m on the line."""
    return _goal((0,), CHEETAH_REACH, ("goal_x",))


def _goal(dims: tuple[int, ...], reach: float, names: tuple[str, ...]) -> Reach:
    def draw(rng: np.random.Generator) -> np.ndarray:
        return rng.uniform(-reach, reach, size=len(dims))

    return Reach(draw, dims, RADIUS, REWARD, names, put_at(dims), inclusive=True, first=2)


class MultiGoals:
    """Four goals one after the other, each drawn about where the body is, 50 steps for each.

    Reaching a goal moves the clock on to the next multiple of 50; the episode ends at 200.
    """

    variables: tuple[str, ...] = ("goal_x", "goal_y")

    def start(self, obs: np.ndarray, seeds: Sequence[int]) -> None:
        """Draw all offsets; the first goal is about the origin."""
        shape = (SEGMENTS, 2)
        offsets = [task_rng(s).uniform(-SEGMENT_REACH, SEGMENT_REACH, shape) for s in seeds]
        self._offsets = np.stack(offsets).astype(np.float32)
        self.goal = self._offsets[:, 0].copy()
        self.clock = np.zeros(len(seeds), np.int64)

    def judge(self, obs: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
        """Pay for goals reached, move the clock, draw new goals."""
        position = obs[:, :2]
        reached = (np.linalg.norm(position - self.goal, axis=1) <= RADIUS) & (step > 1)
        self.clock += 1
        self.clock = np.where(reached, -(-self.clock // SEGMENT) * SEGMENT, self.clock)
        segment = self.clock // SEGMENT
        fresh = (self.clock % SEGMENT == 0) & (segment < SEGMENTS)
        offsets = self._offsets[np.arange(len(segment)), np.minimum(segment, SEGMENTS - 1)]
        self.goal = np.where(fresh[:, None], position + offsets, self.goal)
        return REWARD / SEGMENTS * reached.astype(np.float32), segment >= SEGMENTS

    def observe(self, obs: np.ndarray) -> np.ndarray:
        """The present goal."""
        return self.goal

    def solved(self, obs: np.ndarray) -> np.ndarray:
        """The body at the present goal."""
        return put_at((0, 1))(obs, self.goal)

    def sign(self, obs: np.ndarray, index: int) -> Mark:
        """The present goal."""
        return ball(self.goal[index], RADIUS, obs[index, :2])


@cache
def hurdle_model() -> mujoco.MjModel:
    """HalfCheetah's model with twelve bars across its way."""
    xml = locomotion.ASSETS / locomotion.BODIES["HalfCheetah"].xml
    spec = mujoco.MjSpec.from_file(str(xml))
    for x in HURDLES:
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=[x, 0.0, HURDLE_HEIGHT],
            size=HURDLE_HALF_SIZE,
            contype=1,
            conaffinity=1,
        )
    return locomotion.lean(spec.compile())


def hurdle_world() -> locomotion.LocomotionWorld:
    """A HalfCheetah among hurdles."""
    return locomotion.LocomotionWorld("HalfCheetah", hurdle_model())


def back_foot(obs: np.ndarray) -> np.ndarray:
    """Where along the way the back foot's joint is, from the state alone."""
    model = hurdle_model()
    angle = np.zeros(len(obs), np.float32)
    x = obs[:, 0].copy()
    for joint, child in ((2, "bthigh"), (3, "bshin"), (4, "bfoot")):
        angle += obs[:, joint]
        offset = model.body(child).pos
        x += np.cos(angle) * offset[0] + np.sin(angle) * offset[2]
    return x


class Hurdles:
    """One for every hurdle passed by the back foot, minus one for each passed backwards."""

    variables: tuple[str, ...] = ("hurdle_x", "hurdle_distance")

    def start(self, obs: np.ndarray, seeds: Sequence[int]) -> None:
        """Count the hurdles ahead."""
        self._ahead = self._count(obs)

    def _count(self, obs: np.ndarray) -> np.ndarray:
        paying = HURDLES[HURDLES >= 0.0]
        return np.sum(paying[None] >= back_foot(obs)[:, None], axis=1)

    def judge(self, obs: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
        """How many fewer are ahead than before; only the time limit ends an episode."""
        before, self._ahead = self._ahead, self._count(obs)
        return (before - self._ahead).astype(np.float32), np.zeros(len(obs), bool)

    def observe(self, obs: np.ndarray) -> np.ndarray:
        """The next hurdle and how far the back foot is from it."""
        foot = back_foot(obs)
        index = np.searchsorted(HURDLES, foot)
        following = np.append(HURDLES, np.float32(NO_HURDLE))[index]
        return np.stack([following, np.abs(following - foot)], axis=1)

    def solved(self, obs: np.ndarray) -> None:
        """There is no one goal state."""

    def sign(self, obs: np.ndarray, index: int) -> None:
        """The hurdles are seen anyway."""
