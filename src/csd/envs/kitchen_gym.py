"""Kitchen as an ordinary Gymnasium environment, `csd/Kitchen-v0`."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from csd.envs.kitchen import CAMERA, SPEC, TASKS, KitchenWorld, achieved
from csd.envs.offscreen import Offscreen
from csd.errors import UserError

PICTURE = (480, 640)


class KitchenEnv(gymnasium.Env):
    """No reward; `info["tasks"]` says which of the thirteen tasks hold at the state."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 12}  # noqa: RUF012

    def __init__(self, render_mode: str | None = None) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise UserError(f"render_mode must be 'rgb_array' or None, not {render_mode!r}")
        self.render_mode = render_mode
        self.observation_space = spaces.Box(-np.inf, np.inf, (SPEC.obs_dim,), np.float64)
        self.action_space = spaces.Box(-1.0, 1.0, (SPEC.action_dim,), np.float32)
        self._world = KitchenWorld(visual=render_mode is not None)
        self._view: Offscreen | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """The one start state; `seed` changes nothing."""
        super().reset(seed=seed)
        obs = self._world.reset(0).copy()
        return obs, self._info(obs)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Forty simulator substeps."""
        obs = self._world.step(action)[0].copy()
        return obs, 0.0, False, False, self._info(obs)

    def _info(self, obs: np.ndarray) -> dict[str, Any]:
        return {"tasks": dict(zip(TASKS, achieved(obs).tolist(), strict=True))}

    def render(self) -> np.ndarray | None:
        """The kitchen over the robot's shoulder."""
        if self.render_mode is None:
            return None
        if self._view is None:
            self._view = Offscreen(self._world.model, PICTURE, CAMERA)
        return self._view.picture(self._world.data)

    def close(self) -> None:
        """Free the camera."""
        if self._view is not None:
            self._view.close()
            self._view = None
