"""FetchPushGoal, FetchSlideGoal, FetchPickAndPlaceGoal: the object to a place."""

import numpy as np

from csd.envs import fetch
from csd.tasks.base import Reach

AIRBORNE = 0.5  # the share of FetchPickAndPlace's goals that hang in the air
HEIGHT = 0.45  # and how high at most


def fetch_goal(name: str) -> Reach:
    """gymnasium-robotics' own goals and radius; reward 1 and the end on success."""
    env = fetch.reference(name)
    gripper, offset = env.initial_gripper_xpos.copy(), np.asarray(env.target_offset)
    reach, rest, airborne = env.target_range, env.height_offset, env.target_in_the_air

    def draw(rng: np.random.Generator) -> np.ndarray:
        goal = gripper + offset + rng.uniform(-reach, reach, size=3)
        goal[2] = rest
        if airborne and rng.uniform() < AIRBORNE:
            goal[2] += rng.uniform(0.0, HEIGHT)
        return goal

    return Reach(
        draw,
        fetch.GROUPS["object"],
        env.distance_threshold,
        1.0,
        ("goal_x", "goal_y", "goal_z"),
        _put,
    )


def _put(obs: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """The object at the goal, and its place relative to the gripper accordingly."""
    state = obs.copy()
    state[:, list(fetch.GROUPS["object"])] = goal
    state[:, list(fetch.GROUPS["relative"])] = goal - obs[:, list(fetch.GROUPS["gripper"])]
    return state
