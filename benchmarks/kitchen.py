"""Kitchen's steps per second: physics alone, the plain loop, and the library's; all interleaved.

python benchmarks/kitchen.py [--rounds 10] [--threads 1 2]
"""

import argparse
import json
import time
from collections.abc import Callable
from functools import partial

import mujoco
import numpy as np

from csd.envs import kitchen
from csd.envs.kitchen import HAND, SUBSTEPS, KitchenWorld, from_zyz, to_zyz
from csd.envs.vector import ThreadedWorlds

WORLDS, STEPS = 8, 3


class PhysicsAlone(KitchenWorld):
    """The upper bound: one call for all substeps, the target set once."""

    def step(self, action: np.ndarray) -> tuple[np.ndarray, bool]:
        action = action.astype(np.float64)
        self.data.ctrl[7], self.data.ctrl[8] = action[6], -action[6]
        self._aim(0.05 * action[:3], from_zyz(to_zyz(self._hand_quat) - action[3:6]))
        mujoco.mj_step(self.model, self.data, nstep=SUBSTEPS)
        return self.data.qpos, False


class PlainLoop(KitchenWorld):
    """The published loop as one would write it."""

    def step(self, action: np.ndarray) -> tuple[np.ndarray, bool]:
        model, data = self.model, self.data
        hand = model.body(HAND).id
        wanted = to_zyz(data.xquat[hand]) - action[3:6]
        for _ in range(SUBSTEPS):
            turn = from_zyz(wanted) - data.xquat[hand]
            data.ctrl[7], data.ctrl[8] = action[6], -action[6]
            data.mocap_pos[0], data.mocap_quat[0] = data.xpos[hand], data.xquat[hand]
            data.mocap_pos[0] += 0.05 * action[:3]
            data.mocap_quat[0] += 0.05 * turn
            mujoco.mj_step(model, data)
        return data.qpos, False


VARIANTS: dict[str, Callable[[], KitchenWorld]] = {
    "physics alone, whole model": partial(PhysicsAlone, visual=True),
    "plain loop, whole model": partial(PlainLoop, visual=True),
    "library's loop, whole model": partial(KitchenWorld, visual=True),
    "physics alone, lean model": PhysicsAlone,
    "library's loop, lean model": KitchenWorld,
}


def episode(pool: ThreadedWorlds) -> float:
    """Seconds per step of one world, over a few steps of random actions."""
    rng = np.random.default_rng(0)
    pool.reset(range(WORLDS))
    start = time.perf_counter()
    for _ in range(STEPS):
        pool.step(rng.uniform(-1.0, 1.0, (WORLDS, 7)).astype(np.float32), np.ones(WORLDS, bool))
    return (time.perf_counter() - start) / (STEPS * WORLDS)


def main() -> None:
    """Print one JSON object: steps per second, best of the rounds, by threads and variant."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    kitchen.load_model()
    result = {}
    for threads in options.threads:
        pools = {name: ThreadedWorlds(make, WORLDS, threads) for name, make in VARIANTS.items()}
        times = [
            {name: episode(pool) for name, pool in pools.items()} for _ in range(options.rounds)
        ]
        best = {name: round(1.0 / min(row[name] for row in times)) for name in VARIANTS}
        result[f"{threads} threads"] = best
        for pool in pools.values():
            pool.close()
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
