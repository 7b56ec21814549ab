"""A task as an ordinary Gymnasium environment."""

from typing import Any

import gymnasium
import numpy as np

from csd import tasks
from csd.envs.film import Film
from csd.errors import UserError

PICTURE = 480  # pixels of an edge


class TaskEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """One episode at a time: the state with the task variables behind it."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, name: str, render_mode: str | None = None) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise UserError(f"render_mode must be 'rgb_array' or None, not {render_mode!r}")
        self.render_mode = render_mode
        self._envs = tasks.make(name, 1, 1, seen=render_mode is not None)
        self._film: Film | None = None
        spec = self._envs.spec
        self.metadata = {**self.metadata, "render_fps": round(1.0 / spec.step_seconds)}
        self.task_variables = spec.obs_dim - self._envs.state_dim
        """How many of them stand behind the state."""
        unbounded = np.full(spec.obs_dim, np.inf, np.float32)
        self.observation_space = gymnasium.spaces.Box(-unbounded, unbounded, dtype=np.float32)
        ones = np.ones(spec.action_dim, np.float32)
        self.action_space = gymnasium.spaces.Box(-ones, ones, dtype=np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """A new episode; with a seed it is the same one every time."""
        super().reset(seed=seed)
        chosen = int(self.np_random.integers(2**32)) if seed is None else seed
        return self._envs.reset([chosen])[0], {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One step of the world, judged by the task."""
        actions = np.clip(np.asarray(action, np.float32), -1.0, 1.0)[None]
        obs, reward, ended = self._envs.step(actions, np.ones(1, bool))
        return obs[0], float(reward[0]), bool(ended[0]), False, {"success": bool(reward[0] > 0.0)}

    def render(self) -> np.ndarray | None:
        """The world, with the goal where it is a place and its name where it has one."""
        if self.render_mode is None:
            return None
        if self._film is None:
            self._film = tasks.film(self._envs, PICTURE)
        return self._film.look(self._film.worlds[0], self._envs.sign(0))

    def close(self) -> None:
        """Let go of the simulator and the camera."""
        if self._film is not None:
            self._film.close()
            self._film = None
        self._envs.close()
