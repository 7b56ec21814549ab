"""Skills as actions: a Gymnasium wrapper, and the same for many worlds of a task at once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces

from csd.config import Config
from csd.errors import UserError
from csd.skills import Skills, load
from csd.tasks.base import TaskEnvs
from csd.tasks.gym import TaskEnv

GYM_STATE = {
    "Ant": "make Ant-v5 with exclude_current_positions_from_observation=False, "
    "include_cfrc_ext_in_observation=False, terminate_when_unhealthy=False",
    "HalfCheetah": "make HalfCheetah-v5 with exclude_current_positions_from_observation=False",
}
"""How Gymnasium's own environments show the states that skills were trained on."""

RANGE = 1.5  # the published range of each coordinate of a continuous skill


def skill_space(config: Config) -> spaces.Box | spaces.Discrete:
    """The actions of a controller on top of skills of this configuration."""
    if config.skill_type == "discrete":
        return spaces.Discrete(config.skill_dim)
    bound = 1.0 if config.skill_unit_length else RANGE
    return spaces.Box(-bound, bound, (config.skill_dim,), np.float32)


def as_skill(config: Config, action: Any) -> np.ndarray:
    """The skill, or the batch of skills, that an action of `skill_space` stands for."""
    if config.skill_type == "discrete":
        return np.eye(config.skill_dim, dtype=np.float32)[np.asarray(action, int)]
    skill = np.asarray(action, np.float32)
    if not config.skill_unit_length:
        return np.clip(skill, -RANGE, RANGE)
    return skill / np.maximum(np.linalg.norm(skill, axis=-1, keepdims=True), 1e-6)


class SkillEnv(gymnasium.Wrapper, gymnasium.utils.RecordConstructorArgs):
    """An environment whose action is a skill that is held for `every` steps.

    `extra` says how many variables of a task stand behind the state in a flat observation; the
    tasks of `csd list tasks` say so themselves.
    """

    def __init__(
        self, env: gymnasium.Env, skills: Skills | str | Path, every: int = 10, extra: int = 0
    ) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(
            self, _disable_deepcopy=True, skills=skills, every=every, extra=extra
        )
        gymnasium.Wrapper.__init__(self, env)
        if not isinstance(every, int) or every < 1:
            raise UserError(f"every must be a whole number of at least 1, not {every}")
        self.skills = skills if isinstance(skills, Skills) else load(skills)
        self.every = every
        own = env.unwrapped.task_variables if isinstance(env.unwrapped, TaskEnv) else extra
        _check_observation(env, self.skills, own)
        self._low, self._span = _action_range(env.action_space, self.skills)
        self.action_space = skill_space(self.skills.config)
        self._obs: Any = None

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Start an episode of the wrapped environment."""
        self._obs, info = self.env.reset(**kwargs)
        return self._obs, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Follow one skill for `every` steps or to the end of the episode; rewards are summed."""
        skill, total, info = as_skill(self.skills.config, action), 0.0, {}
        terminated = truncated = False
        steps = 0
        while steps < self.every and not (terminated or truncated):
            command = self._low + (self.skills.act(self._state(), skill) + 1.0) * 0.5 * self._span
            shaped = command.reshape(self.env.action_space.shape).astype(self._low.dtype)
            self._obs, reward, terminated, truncated, info = self.env.step(shaped)
            total += float(reward)
            steps += 1
        return self._obs, total, terminated, truncated, {**info, "low_level_steps": steps}

    def _state(self) -> np.ndarray:
        """What the skills were trained on: task variables stand behind it."""
        obs = self._obs["observation"] if isinstance(self._obs, dict) else self._obs
        return np.ravel(obs)[: self.skills.spec.obs_dim]


def _check_observation(env: gymnasium.Env, skills: Skills, extra: int) -> None:
    space, needed = env.observation_space, skills.spec.obs_dim
    if isinstance(space, spaces.Dict):
        space, extra = space.spaces.get("observation", space), 0
    if isinstance(space, spaces.Box) and int(np.prod(space.shape)) == needed + extra:
        return
    behind = f", and {extra} variables of a task behind them" if extra else ""
    raise UserError(
        f"observations of shape {space.shape} are not the states of shape ({needed},) "
        f"that these skills were trained on ({skills.spec.name}){behind}"
        + (f": {GYM_STATE[skills.spec.name]}" if skills.spec.name in GYM_STATE else "")
    )


def _action_range(space: gymnasium.Space, skills: Skills) -> tuple[np.ndarray, np.ndarray]:
    needed = skills.spec.action_dim
    if not isinstance(space, spaces.Box) or int(np.prod(space.shape)) != needed:
        raise UserError(
            f"actions of shape {space.shape} are not those of shape ({needed},) "
            f"that these skills take ({skills.spec.name})"
        )
    return space.low.ravel(), (space.high - space.low).ravel()


class Decision(NamedTuple):
    """What followed from one choice in every world."""

    obs: np.ndarray  # (worlds, obs_dim)
    reward: np.ndarray  # (worlds,): summed
    ended: np.ndarray  # (worlds,)
    steps: np.ndarray  # (worlds,): low-level steps taken
    path: np.ndarray  # (worlds, every, obs_dim): every low-level observation


class SkillEnvs:
    """Many worlds of a task whose actions are skills, or the worlds' own actions without skills.

    There is one call of the frozen policy per low-level step, for all worlds.
    """

    def __init__(self, tasks: TaskEnvs, skills: Skills | None, every: int) -> None:
        self.tasks, self.skills, self.every = tasks, skills, every
        self.decisions = -(-tasks.spec.horizon // every)
        self.watch: Callable[[np.ndarray, np.ndarray], None] | None = None
        """watch(moved, paid), at the start and after every low-level step: which worlds it moved,
        and what the decision has earned so far, each (worlds,)."""
        self._obs = np.zeros((0, tasks.spec.obs_dim), np.float32)
        self._taken = 0

    def reset(self, seeds: list[int]) -> np.ndarray:
        """Start one episode per seed."""
        self._obs, self._taken = self.tasks.reset(seeds), 0
        if self.watch:
            self.watch(np.ones(len(seeds), bool), np.zeros(len(seeds), np.float32))
        return self._obs

    def step(self, choice: np.ndarray, active: np.ndarray) -> Decision:
        """Follow a skill (or hold an action) per active world, to the horizon at most."""
        active = active.copy()
        count = len(active)
        reward, ended = np.zeros(count, np.float32), np.zeros(count, bool)
        steps = np.zeros(count, np.int32)
        path = []
        for _ in range(min(self.every, self.tasks.spec.horizon - self._taken)):
            moved = active.copy()
            if active.any():
                state = self._obs[:, : self.tasks.state_dim]
                action = choice if self.skills is None else self.skills.act(state, choice)
                self._obs, paid, finished = self.tasks.step(action, active)
                reward += paid
                steps += active
                ended |= finished
                active &= ~finished
            path.append(self._obs)
            self._taken += 1
            if self.watch:
                self.watch(moved, reward)
        path += [self._obs] * (self.every - len(path))
        return Decision(self._obs, reward, ended, steps, np.stack(path, axis=1))

    def close(self) -> None:
        """Close the worlds."""
        self.tasks.close()
