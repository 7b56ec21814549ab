"""Ant, HalfCheetah and Humanoid: gymnasium's v5 models with the paper's states, stepped lean."""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import gymnasium
import mujoco
import numpy as np
from gymnasium.utils import seeding

from csd.envs.base import EnvSpec
from csd.envs.offscreen import Camera

ASSETS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
STATISTICS = Path(__file__).with_name("locomotion.json")
FRAME_SKIP = 5
ROOTS = {"rootx": "x", "rootz": "z", "rooty": "pitch"}


class Body(NamedTuple):
    """What tells one of the three from the others."""

    xml: str
    horizon: int
    target: tuple[int, ...]
    """The position whose movement is measured."""
    reset_noise: float
    normal_velocity: bool
    """Whether velocities start from a normal or from a uniform law."""
    healthy: tuple[float, float] | None = None
    """Heights of the torso between which an episode goes on."""


BODIES = {
    "Ant": Body("ant.xml", 200, (0, 1), 0.1, True),
    "HalfCheetah": Body("half_cheetah.xml", 200, (0, 1), 0.1, True),
    "Humanoid": Body("humanoid.xml", 1000, (0, 1), 0.01, False, (1.0, 2.0)),
}
CAMERA = Camera((0.0, 0.0, 0.0), distance=5.0, azimuth=90.0, elevation=-25.0, follow="torso")
"""Travels with the body; the floor's pattern shows how fast."""


@cache
def load_model(name: str) -> mujoco.MjModel:
    """The model that all worlds of a name share."""
    return lean(mujoco.MjModel.from_xml_path(str(ASSETS / BODIES[name].xml)))


def lean(model: mujoco.MjModel) -> mujoco.MjModel:
    """The model as it is stepped here."""
    # One body is one island: looking for more costs 5 % of a step and changes rounding at most.
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET  # divergence must be seen
    return model


@cache
def locomotion_spec(name: str) -> EnvSpec:
    """The state: all positions, then all velocities."""
    model, body = load_model(name), BODIES[name]
    names = state_names(model)
    stored = json.loads(STATISTICS.read_text()).get(name, {})
    return EnvSpec(
        name,
        model.nq + model.nv,
        model.nu,
        body.horizon,
        names,
        {
            "position": body.target,
            "joints": tuple(range(len(body.target), model.nq)),
            "velocity": tuple(range(model.nq, model.nq + model.nv)),
        },
        target="position",
        bin_size=1.0,
        moved=5.0,
        family="locomotion",
        one_way="y" not in names,
        step_seconds=FRAME_SKIP * model.opt.timestep,
        preset_mean=tuple(stored.get("mean", ())),
        preset_std=tuple(stored.get("std", ())),
    )


def state_names(model: mujoco.MjModel) -> tuple[str, ...]:
    """A name for every position and velocity, from the model's joints."""
    positions: list[str] = []
    velocities: list[str] = []
    for index in range(model.njnt):
        joint = model.joint(index)
        if joint.type[0] == mujoco.mjtJoint.mjJNT_FREE:
            positions += "x y z qw qx qy qz".split()
            velocities += "vx vy vz wx wy wz".split()
        else:
            name = str(ROOTS.get(joint.name, joint.name))
            positions.append(name)
            velocities.append(f"{name}_v")
    return (*positions, *velocities)


class LocomotionWorld:
    """One simulation on a model shared by all worlds of its name."""

    def __init__(self, name: str, changed: mujoco.MjModel | None = None) -> None:
        self.spec = locomotion_spec(name)
        self._body, self.model = BODIES[name], changed or load_model(name)
        model = self.model
        self.data = mujoco.MjData(model)
        self._qpos, self._qvel, self._ctrl = self.data.qpos, self.data.qvel, self.data.ctrl
        low, high = model.actuator_ctrlrange.T
        self._middle, self._reach = (low + high) / 2.0, (high - low) / 2.0
        self._as_given = bool(np.all(low == -1.0) and np.all(high == 1.0))
        self._obs = np.empty(model.nq + model.nv)

    def reset(self, seed: int) -> np.ndarray:
        """Equals the reference's `reset(seed=seed)`."""
        model, noise = self.model, self._body.reset_noise
        rng, _ = seeding.np_random(seed)
        mujoco.mj_resetData(model, self.data)
        self._qpos[:] = model.qpos0 + rng.uniform(-noise, noise, model.nq)
        if self._body.normal_velocity:
            self._qvel[:] = noise * rng.standard_normal(model.nv)
        else:
            self._qvel[:] = rng.uniform(-noise, noise, model.nv)
        mujoco.mj_forward(model, self.data)
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, bool]:
        """Equals the reference's `step`, with actions scaled to the actuators' range."""
        self._ctrl[:] = action if self._as_given else self._middle + self._reach * action
        mujoco.mj_step(self.model, self.data, FRAME_SKIP)
        obs, healthy = self._observe(), self._body.healthy
        return obs, healthy is not None and not healthy[0] < obs[2] < healthy[1]

    def _observe(self) -> np.ndarray:
        obs, nq = self._obs, self.model.nq
        obs[:nq] = self._qpos
        obs[nq:] = self._qvel
        return obs

    def close(self) -> None:
        """Nothing to let go of: the model is shared and the data is garbage-collected."""
