"""A task is a world and rules; the rules judge a batch of episodes at once."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from csd.envs.base import End, EnvSpec
from csd.envs.film import Sign
from csd.envs.offscreen import Mark
from csd.envs.vector import VectorEnv, diverged


class Rules(Protocol):
    """What a task adds to a world: variables to see, a reward, an end."""

    variables: tuple[str, ...]
    """A name for every task variable."""

    def start(self, obs: np.ndarray, seeds: Sequence[int]) -> None:
        """Begin one episode per row of `obs`; each depends on nothing but its seed."""
        ...

    def judge(self, obs: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
        """Reward and end of every episode after its step number `step`, counted from one."""
        ...

    def observe(self, obs: np.ndarray) -> np.ndarray:
        """The task variables (episodes, variables)."""
        ...

    def solved(self, obs: np.ndarray) -> np.ndarray | None:
        """The states with the goal put in; None for a task that has no goal state."""
        ...

    def sign(self, obs: np.ndarray, index: int) -> Sign:
        """What a picture of one of the episodes, at states `obs`, shows of its goal."""
        ...


Draw = Callable[[np.random.Generator], np.ndarray]


def task_rng(seed: int) -> np.random.Generator:
    """The chance of a task's episode, apart from that of its world."""
    return np.random.default_rng([seed, 1])


@dataclass
class Reach:
    """Bring some state dimensions close to a goal: paid once, and the episode ends."""

    draw: Draw
    """The law of the goal."""
    dims: tuple[int, ...]
    radius: float
    reward: float
    variables: tuple[str, ...]
    put: Callable[[np.ndarray, np.ndarray], np.ndarray]
    """put(obs, goal): the states in which the goal is reached and nothing else has changed."""
    inclusive: bool = False
    """Whether exactly the radius counts."""
    first: int = 1
    """The first step at which success counts."""
    goal: np.ndarray = field(init=False)

    def start(self, obs: np.ndarray, seeds: Sequence[int]) -> None:
        """Draw the goals."""
        self.goal = np.stack([self.draw(task_rng(seed)) for seed in seeds]).astype(np.float32)

    def judge(self, obs: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
        """The reward where the goal is reached, and the end there."""
        distance = np.linalg.norm(obs[:, list(self.dims)] - self.goal, axis=-1)
        reached = distance <= self.radius if self.inclusive else distance < self.radius
        reached &= step >= self.first
        return self.reward * reached.astype(np.float32), reached

    def observe(self, obs: np.ndarray) -> np.ndarray:
        """The goal."""
        return self.goal

    def solved(self, obs: np.ndarray) -> np.ndarray:
        """The goal put into the states."""
        return self.put(obs, self.goal)

    def sign(self, obs: np.ndarray, index: int) -> Mark:
        """All places that count."""
        return ball(self.goal[index], self.radius, obs[index, list(self.dims)])


WIDE = 1.0  # metres of a goal's radius from which it may lie out of sight


def ball(goal: np.ndarray, radius: float, place: np.ndarray) -> Mark:
    """A goal of one to three coordinates in space; those it does not name are zero.

    Of a wide one the picture says how far it is from where the body is, `place`.
    """
    x, y, z = (*goal.tolist(), 0.0, 0.0)[:3]
    distance = float(np.linalg.norm(goal - place))
    return Mark((x, y, z), radius, f"{distance:.0f} m to go" if radius > WIDE else "")


def put_at(dims: tuple[int, ...]) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The goal takes the place of the dimensions that are to reach it."""

    def put(obs: np.ndarray, goal: np.ndarray) -> np.ndarray:
        state = obs.copy()
        state[:, list(dims)] = goal
        return state

    return put


class TaskEnvs:
    """Many episodes of one task at once: states with the task variables behind them."""

    def __init__(self, name: str, envs: VectorEnv, rules: Rules) -> None:
        self.envs, self.rules = envs, rules
        self.num_envs, self.state_dim = envs.num_envs, envs.spec.obs_dim
        self.spec: EnvSpec = dataclasses.replace(
            envs.spec,
            name=name,
            obs_dim=self.state_dim + len(rules.variables),
            names=(*envs.spec.names, *rules.variables),
        )
        self._step = 0
        self.state = np.zeros((0, self.state_dim), np.float32)

    def reset(self, seeds: Sequence[int]) -> np.ndarray:
        """Start one episode per seed."""
        self.state, self._step = self.envs.reset(seeds), 0
        self.rules.start(self.state, seeds)
        return self._observe()

    def step(
        self, actions: np.ndarray, active: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Observations, rewards and ends; where not `active` nothing changes and nothing is paid.

        A world that blows up keeps its last good state and ends.
        """
        self._step += 1
        state, end = self.envs.step(actions, active)
        broken = diverged(state)
        frozen = broken | ~active
        self.state = np.where(frozen[:, None], self.state, state)
        reward, finished = self.rules.judge(self.state, self._step)
        reward = np.where(frozen, 0.0, reward).astype(np.float32)
        return self._observe(), reward, active & ((end != End.NOT_YET) | finished | broken)

    def solved(self) -> np.ndarray | None:
        """The present states with the goal put in, if the task has one."""
        return self.rules.solved(self.state)

    def sign(self, index: int) -> Sign:
        """What a picture of one of the episodes shows of its goal now."""
        return self.rules.sign(self.state, index)

    def _observe(self) -> np.ndarray:
        variables = self.rules.observe(self.state)
        return np.concatenate([self.state, variables], axis=1, dtype=np.float32)

    def close(self) -> None:
        """Close the worlds."""
        self.envs.close()
