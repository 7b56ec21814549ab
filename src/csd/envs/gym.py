"""Any Gymnasium environment with Box (or Dict-with-`observation`) states and Box actions."""

from typing import Any

import gymnasium
import mujoco
import numpy as np

from csd import plugins
from csd.envs.base import End, EnvSpec
from csd.envs.fetch import IDS as FETCH_IDS
from csd.envs.fetch import register_robotics
from csd.envs.locomotion import BODIES
from csd.envs.offscreen import Camera
from csd.errors import UserError, nearest

OWN_NAMES = ["Probe", "Kitchen", *FETCH_IDS, *BODIES]
TRAVELLING = [mujoco.mjtCamLight.mjCAMLIGHT_TRACK, mujoco.mjtCamLight.mjCAMLIGHT_TRACKCOM]
"""Kinds of a model's cameras that say which of its bodies travels."""


def make_gym(env_id: str, **kwargs: Any) -> gymnasium.Env:
    """`gymnasium.make` with a one-line error for what a user may get wrong."""
    register_robotics()
    if ":" in env_id:
        module, env_id = env_id.split(":", 1)
        plugins.load(module, f"environment {env_id!r}")
    try:
        return gymnasium.make(env_id, **kwargs)
    except gymnasium.error.UnregisteredEnv:
        known = [*OWN_NAMES, *sorted(gymnasium.registry)]
        raise UserError(f"unknown environment {env_id!r}: {nearest(env_id, known)}") from None
    except Exception as error:  # whatever its own code does
        reason = plugins.one_line(error)
        raise UserError(f"environment {env_id!r} cannot be made: {reason}") from None


def gym_spec(name: str, env: gymnasium.Env, horizon: int) -> EnvSpec:
    """The layout of an environment nobody has described."""
    space = env.observation_space
    if isinstance(space, gymnasium.spaces.Dict):
        if "observation" not in space.spaces:
            raise UserError(f"{name}: a Dict observation needs a key 'observation'")
        space = space["observation"]
    if not isinstance(space, gymnasium.spaces.Box) or not np.issubdtype(space.dtype, np.floating):
        raise UserError(f"{name}: observations must be a Box of floats, not {space}")
    action = env.action_space
    if not isinstance(action, gymnasium.spaces.Box) or not np.issubdtype(action.dtype, np.floating):
        raise UserError(f"{name}: actions must be a Box of floats, not {action}")
    if not np.all(np.isfinite(action.low)) or not np.all(np.isfinite(action.high)):
        raise UserError(f"{name}: actions must be bounded, not {action}")
    horizon = horizon or (env.spec.max_episode_steps if env.spec else 0) or 0
    if horizon < 1:
        raise UserError(f"{name} has no time limit of its own: set --horizon")
    obs_dim = int(np.prod(space.shape))
    names = tuple(f"obs_{index}" for index in range(obs_dim))
    rate = float(env.metadata.get("render_fps") or 25.0)
    return EnvSpec(
        name, obs_dim, int(np.prod(action.shape)), horizon, names, step_seconds=1.0 / rate
    )


class GymWorld:
    """One Gymnasium environment; actions in [-1, 1] are mapped to its own range."""

    def __init__(self, name: str, horizon: int = 0, render_mode: str | None = None) -> None:
        wanted = {"render_mode": render_mode, "max_episode_steps": horizon}
        self._env = make_gym(name, **{key: value for key, value in wanted.items() if value})
        self.spec = gym_spec(name, self._env, horizon)
        space = self._env.action_space
        assert isinstance(space, gymnasium.spaces.Box)
        self._shape, self._dtype = space.shape, space.dtype
        self._low, self._span = space.low.ravel(), (space.high - space.low).ravel()

    def reset(self, seed: int) -> np.ndarray:
        """A fresh episode from `seed`."""
        obs, _ = self._env.reset(seed=seed)
        return self._flat(obs)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, End]:
        """One step; the environment's own reward is not looked at."""
        scaled = self._low + (np.clip(action, -1.0, 1.0) + 1.0) * 0.5 * self._span
        shaped = scaled.reshape(self._shape).astype(self._dtype)
        obs, _, terminated, truncated, _ = self._env.step(shaped)
        end = End.TERMINATED if terminated else End.TRUNCATED if truncated else End.NOT_YET
        return self._flat(obs), end

    def try_out(self) -> None:
        """One step, so that what does not work is told before anything is trained."""
        try:
            first = self.reset(0)
            after, _ = self.step(np.zeros(self.spec.action_dim))
        except Exception as error:  # whatever its own code does
            reason = plugins.one_line(error)
            raise UserError(f"environment {self.spec.name!r} does not work: {reason}") from None
        for obs in (first, after):
            if obs.shape != (self.spec.obs_dim,):
                raise UserError(
                    f"environment {self.spec.name!r} gives observations of {obs.size} numbers, "
                    f"its space promises {self.spec.obs_dim}"
                )

    def render(self) -> Any:
        """What the environment draws of itself in its render mode."""
        try:
            return self._env.render()
        except Exception as error:  # no such mode, or a package is missing
            reason = plugins.one_line(error)
            raise UserError(f"{self.spec.name} cannot be filmed: {reason}") from None

    @property
    def model(self) -> mujoco.MjModel:
        """The simulator's model."""
        return self._env.unwrapped.model

    @property
    def data(self) -> mujoco.MjData:
        """The simulator's state."""
        return self._env.unwrapped.data

    def camera(self) -> Camera:
        """Where the environment's own renderer looks from; only for a MuJoCo simulation."""
        env = self._env.unwrapped
        if not isinstance(getattr(env, "data", None), mujoco.MjData):
            raise UserError(f"{self.spec.name} is no MuJoCo simulation: there is no scene to show")
        own = getattr(getattr(env, "mujoco_renderer", None), "default_cam_config", None) or {}
        travels = np.isin(env.model.cam_mode, TRAVELLING).nonzero()[0]
        follow = env.model.body(env.model.cam_bodyid[travels[0]]).name if len(travels) else ""
        x, y, z = (0.0, 0.0, 0.0) if follow else own.get("lookat", env.model.stat.center)
        return Camera(
            (float(x), float(y), float(z)),
            float(own.get("distance", 2.0 * env.model.stat.extent)),
            float(own.get("azimuth", 90.0)),
            float(own.get("elevation", -30.0)),
            follow,
        )

    def _flat(self, obs: Any) -> np.ndarray:
        return np.ravel(obs["observation"] if isinstance(obs, dict) else obs)

    def close(self) -> None:
        """Close the environment."""
        self._env.close()
