"""ProbeGoal: the puck to a place; learns in seconds."""

import numpy as np

from csd.envs.probe import SPEC
from csd.tasks.base import Reach, put_at

REACH = 0.4
RADIUS = 0.1


def probe_goal() -> Reach:
    """Goals all over the middle of the arena."""

    def draw(rng: np.random.Generator) -> np.ndarray:
        return rng.uniform(-REACH, REACH, size=2)

    puck = SPEC.groups["puck"]
    return Reach(draw, puck, RADIUS, 1.0, ("goal_x", "goal_y"), put_at(puck))
