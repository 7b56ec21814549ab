"""Many environments stepped at once."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np

from csd.envs.base import EnvSpec, World


class VectorEnv(Protocol):
    """A fixed number of environments; `reset` may start fewer."""

    spec: EnvSpec
    num_envs: int

    def reset(self, seeds: Sequence[int]) -> np.ndarray:
        """Start one episode per seed, at most `num_envs`; states of shape (len(seeds), obs_dim)."""
        ...

    def step(self, actions: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Step the environments where `active`; next states, and whether each truly ended."""
        ...

    def close(self) -> None:
        """Let go of threads and simulators."""
        ...


class ThreadedWorlds:
    """Worlds divided among threads; MuJoCo releases the interpreter while it steps.

    Each world is stepped by itself, so the number of threads changes nothing but the speed.
    """

    def __init__(self, make: Callable[[], World], num_envs: int, workers: int = 0) -> None:
        self.num_envs = num_envs
        self.workers = max(1, min(workers or os.cpu_count() or 1, num_envs))
        self._worlds = [make() for _ in range(num_envs)]
        self.spec = self._worlds[0].spec
        self._obs = np.zeros((num_envs, self.spec.obs_dim), np.float32)
        self._ended = np.zeros(num_envs, bool)
        self._pool = ThreadPoolExecutor(self.workers - 1) if self.workers > 1 else None

    def reset(self, seeds: Sequence[int]) -> np.ndarray:
        """Start episode i from `seeds[i]`."""

        def start(index: int) -> None:
            self._obs[index] = self._worlds[index].reset(seeds[index])

        self._each(start, range(len(seeds)))
        return self._obs[: len(seeds)].copy()

    def step(self, actions: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Step every active world; the others keep their last state."""

        def advance(index: int) -> None:
            self._obs[index], self._ended[index] = self._worlds[index].step(actions[index])

        self._each(advance, np.flatnonzero(active).tolist())
        count = len(actions)
        return self._obs[:count].copy(), self._ended[:count].copy()

    def _each(self, work: Callable[[int], None], indices: Sequence[int]) -> None:
        if self._pool is None:
            for index in indices:
                work(index)
            return
        todo = iter(indices)  # shared: a thread that is done early takes the next world

        def take() -> None:
            for index in todo:
                work(index)

        others = [self._pool.submit(take) for _ in range(self.workers - 1)]
        take()
        for other in others:
            other.result()

    def close(self) -> None:
        """End the threads and close every world."""
        if self._pool is not None:
            self._pool.shutdown()
        for world in self._worlds:
            world.close()
