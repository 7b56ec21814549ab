"""`python -m csd.envs.statistics`: measure again what `locomotion.json` holds."""

import json

import numpy as np

from csd.envs.locomotion import BODIES, STATISTICS, LocomotionWorld

ROLLOUTS, STEPS = 2_000, 50


def measure(name: str, rollouts: int = ROLLOUTS) -> dict[str, list[float]]:
    """Mean and standard deviation of the state under uniformly random actions, falls ignored."""
    world, rng = LocomotionWorld(name), np.random.default_rng(0)
    states = np.empty((rollouts, STEPS, world.spec.obs_dim))
    for seed in range(rollouts):
        state = world.reset(seed)
        for step in range(STEPS):
            action = rng.uniform(-1.0, 1.0, world.spec.action_dim)
            states[seed, step] = state
            state, _ = world.step(action)
    flat = states.reshape(-1, world.spec.obs_dim)
    return {
        "mean": [round(value, 6) for value in flat.mean(axis=0).tolist()],
        "std": [round(value, 6) for value in flat.std(axis=0).tolist()],
    }


if __name__ == "__main__":
    STATISTICS.write_text(json.dumps({name: measure(name) for name in BODIES}, indent=1) + "\n")
