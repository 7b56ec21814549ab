"""A plane with a point that moves itself easily and a puck that it can push with difficulty."""

from collections.abc import Sequence

import numpy as np

from csd.envs.base import EnvSpec

STEP = 0.1  # how far the point moves per unit of action
RADIUS = 0.15  # the puck is pushed when the point comes closer than this
YIELD = 0.5  # the share of an overlap by which the puck moves; the point is pushed back by the rest
ARENA = 0.6
SPEC = EnvSpec(
    "Probe",
    4,
    2,
    24,
    ("point_x", "point_y", "puck_x", "puck_y"),
    {"point": (0, 1), "puck": (2, 3)},
    target="puck",
    body="point",
    bin_size=0.1,
    moved=0.05,
)


class ProbeEnvs:
    """All probe worlds in one array operation."""

    spec = SPEC

    def __init__(self, num_envs: int) -> None:
        self.num_envs = num_envs
        self._state = np.zeros((num_envs, 4), np.float32)

    def reset(self, seeds: Sequence[int]) -> np.ndarray:
        """The point at the origin, the puck somewhere on a ring about it."""
        for index, seed in enumerate(seeds):
            rng = np.random.default_rng(seed)
            angle, distance = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.25, 0.4)
            puck = distance * np.array([np.cos(angle), np.sin(angle)])
            self._state[index] = [0.0, 0.0, *puck]
        return self._state[: len(seeds)].copy()

    def step(self, actions: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Move the points; where one overlaps its puck, both give way along the contact normal."""
        state = self._state[: len(actions)]
        point, puck = state[:, :2], state[:, 2:]
        point = point + STEP * np.clip(actions, -1.0, 1.0).astype(np.float32)
        offset = puck - point
        distance = np.maximum(np.linalg.norm(offset, axis=1, keepdims=True), 1e-6)
        overlap = np.maximum(RADIUS - distance, 0.0) * offset / distance
        moved = np.concatenate([point - (1.0 - YIELD) * overlap, puck + YIELD * overlap], axis=1)
        state[active] = np.clip(moved, -ARENA, ARENA)[active]
        return state.copy(), np.zeros(len(actions), bool)

    def close(self) -> None:
        """Nothing to let go of."""
