"""KitchenTask: one of thirteen things to do in the kitchen, named by a one-hot code."""

from collections.abc import Sequence

import numpy as np

from csd.envs import kitchen
from csd.tasks.base import task_rng


class OneOf:
    """Reward 1 and the end once the task of this episode is achieved."""

    variables = tuple(kitchen.TASKS)

    def start(self, obs: np.ndarray, seeds: Sequence[int]) -> None:
        """Draw a task for every episode."""
        self.task = np.array([task_rng(seed).integers(len(self.variables)) for seed in seeds])

    def judge(self, obs: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
        """Whether this episode's own task holds."""
        done = kitchen.achieved(obs)[np.arange(len(obs)), self.task]
        return done.astype(np.float32), done

    def observe(self, obs: np.ndarray) -> np.ndarray:
        """The code of the task."""
        return np.eye(len(self.variables), dtype=np.float32)[self.task]

    def solved(self, obs: np.ndarray) -> np.ndarray:
        """The task's own objects where they should be."""
        state, rules = obs.copy(), list(kitchen.TASKS.values())
        for row, number in enumerate(self.task):
            state[row, list(rules[number].dims)] = rules[number].goal
        return state

    def sign(self, obs: np.ndarray, index: int) -> str:
        """The name of the task."""
        return self.variables[self.task[index]]
