"""Rolling out a controller in many worlds of a task at once."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from threadpoolctl import threadpool_limits

from csd.controller.agents import Agent, Noise
from csd.errors import UserError
from csd.hierarchy import SkillEnvs, as_skill, skill_space
from csd.rl.transitions import Episodes
from csd.skills import Skills

Choose = Callable[[np.ndarray, int], np.ndarray]
"""(what the controller sees, number of the decision) -> actions."""


class TaskRollout(NamedTuple):
    """Episodes of a task, one decision after the other, padded with the last real state."""

    obs: np.ndarray  # (episodes, decisions + 1, obs_dim), as the controller sees it
    action: np.ndarray  # (episodes, decisions, action_dim)
    reward: np.ndarray  # (episodes, decisions)
    length: np.ndarray  # (episodes,): decisions
    terminal: np.ndarray  # (episodes,)
    steps: np.ndarray  # (episodes,): low-level steps
    path: np.ndarray  # (episodes, low-level steps + 1, obs_dim), raw

    def episodes(self) -> Episodes:
        """What a learner takes in."""
        return Episodes(*(jnp.asarray(part) for part in self[:5]))

    def success(self) -> np.ndarray:
        """Whether anything was ever paid, per episode."""
        return self.reward.max(axis=1) > 0.0

    def success_at_end(self) -> np.ndarray:
        """Whether the last decision was paid, per episode."""
        return self.reward[np.arange(len(self.length)), self.length - 1] > 0.0


class View:
    """How a controller sees and acts: scaled states and task variables in, skills out."""

    def __init__(self, envs: SkillEnvs, skill_states: bool) -> None:
        self.envs, self.skills = envs, envs.skills
        self._skill_states = skill_states
        spec = envs.tasks.spec
        self.obs_dim = spec.obs_dim
        self.action_dim = spec.action_dim if self.skills is None else self.skills.config.skill_dim

    def see(self, obs: np.ndarray) -> np.ndarray:
        """Raw observations, or states normalised by the skills' statistics."""
        if not self._skill_states:
            return obs
        assert self.skills is not None
        dim = self.envs.tasks.state_dim
        clip = self.skills.spec.family != "locomotion"  # goals lie farther out than skills look
        return np.concatenate([self.skills.normalize(obs[:, :dim], clip), obs[:, dim:]], axis=1)

    def skill(self, action: np.ndarray) -> np.ndarray:
        """The skill for an action in [-1, 1]^n or a one-hot action; without skills the action."""
        if self.skills is None or self.skills.config.skill_type == "discrete":
            return action
        config = self.skills.config
        return as_skill(config, skill_space(config).high * action)


# BLAS threads that spin between these small products would starve the simulators.
@threadpool_limits.wrap(limits=1, user_api="blas")
def roll_out(view: View, choose: Choose, seeds: list[int]) -> TaskRollout:
    """One episode per seed."""
    envs = view.envs
    count, decisions, every = len(seeds), envs.decisions, envs.every
    raw = envs.reset(seeds)
    obs = np.zeros((count, decisions + 1, view.obs_dim), np.float32)
    action = np.zeros((count, decisions, view.action_dim), np.float32)
    reward = np.zeros((count, decisions), np.float32)
    path = np.zeros((count, decisions * every + 1, raw.shape[1]), np.float32)
    length, steps = np.zeros(count, np.int32), np.zeros(count, np.int32)
    active, terminal = np.ones(count, bool), np.zeros(count, np.float32)
    obs[:, 0], path[:, 0] = view.see(raw), raw
    for t in range(decisions):
        action[:, t] = choose(obs[:, t], t)
        result = envs.step(view.skill(action[:, t]), active)
        obs[:, t + 1], reward[:, t] = view.see(result.obs), result.reward
        path[:, 1 + t * every : 1 + (t + 1) * every] = result.path
        length += active
        steps += result.steps
        terminal[result.ended] = 1.0
        active &= ~result.ended
    return TaskRollout(obs, action, reward, length, terminal, steps, path)


def policy_choice(agent: Agent, policy: Any, noise: Noise | None) -> Choose:
    """The agent's policy, exploring if there is noise."""
    return lambda obs, t: agent.act(policy, obs, None if noise is None else _at(noise, t))


def random_choice(agent: Agent, noise: Noise) -> Choose:
    """Uniformly random actions."""
    return lambda obs, t: agent.explore(_at(noise, t))


def _at(noise: Noise, t: int) -> Noise:
    return tuple(part[:, t] for part in noise)


def can_aim(view: View) -> str:
    """Why skills cannot be aimed at this task's goal without training; empty if they can."""
    skills = view.skills
    if skills is None:
        return "there are no skills to aim"
    if skills.learner.method.embed is None:
        return f"method {skills.config.method!r} has no embedding phi"
    if skills.config.skill_type == "discrete":
        return "the skills are discrete"
    view.envs.reset([0])
    if view.envs.tasks.solved() is None:
        return f"{view.envs.tasks.spec.name} has no goal state"
    return ""


def aimed_choice(view: View) -> Choose:
    """Zero-shot: the skill along phi(goal) - phi(state), as long as the skill range allows."""
    reason = can_aim(view)
    if reason:
        raise UserError(f"no zero-shot control: {reason}")
    skills, tasks = view.skills, view.envs.tasks
    assert isinstance(skills, Skills)

    def choose(obs: np.ndarray, t: int) -> np.ndarray:
        goal, state = tasks.solved(), tasks.state
        assert goal is not None
        ahead = skills.embed(goal) - skills.embed(state)
        return ahead / np.maximum(np.abs(ahead).max(axis=1, keepdims=True), 1e-6)

    return choose
