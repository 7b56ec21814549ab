"""The three Fetch worlds of gymnasium-robotics, stepped by lean code that equals theirs."""

import contextlib
import copy
import functools
import io
import math
import threading

import gymnasium
import mujoco
import numpy as np
from gymnasium.utils import seeding

from csd.envs.base import EnvSpec
from csd.envs.offscreen import Camera

IDS = {
    "FetchPush": "FetchPush-v4",
    "FetchSlide": "FetchSlide-v4",
    "FetchPickAndPlace": "FetchPickAndPlace-v4",
}
NAMES = (
    "gripper_x gripper_y gripper_z object_x object_y object_z relative_x relative_y relative_z "
    "finger_r finger_l roll pitch yaw object_vx object_vy object_vz object_wx object_wy object_wz "
    "gripper_vx gripper_vy gripper_vz finger_r_v finger_l_v"
).split()
GROUPS = {
    "gripper": (0, 1, 2),
    "object": (3, 4, 5),
    "relative": (6, 7, 8),
    "fingers": (9, 10),
    "rotation": (11, 12, 13),
}
EULER_EPSILON = 4.0 * np.finfo(np.float64).eps
STEP_SIZE = 0.05  # metres of mocap displacement per unit of action
DOWNWARD = np.array([1.0, 0.0, 1.0, 0.0])  # added to the mocap's quaternion every step
APART = {
    "base_link": ("table0", "shoulder_pan_link"),
    "laser_link": ("table0",),
    "torso_lift_link": ("head_tilt_link",),
    "torso_fixed_link": ("head_pan_link", "shoulder_pan_link", "shoulder_lift_link"),
    "head_pan_link": ("shoulder_pan_link", "shoulder_lift_link"),
    "head_tilt_link": ("shoulder_pan_link", "shoulder_lift_link"),
}
"""Neighbours that no position of the joints brings together, yet MuJoCo compares every substep."""

CAMERA = Camera((1.2, 0.75, 0.4), distance=2.1, azimuth=140.0, elevation=-30.0)
"""In front of the table, beside the arm."""

_reference_lock = threading.Lock()
_references: dict[str, gymnasium.Env] = {}


def register_robotics() -> None:
    """Make gymnasium-robotics' ids known without its start-up warnings."""
    with contextlib.redirect_stderr(io.StringIO()):
        import gymnasium_robotics
    gymnasium.register_envs(gymnasium_robotics)


def reference(name: str) -> gymnasium.Env:
    """gymnasium-robotics' own environment, made once: its model and start pose are shared."""
    with _reference_lock:
        if name not in _references:
            register_robotics()
            _references[name] = gymnasium.make(IDS[name]).unwrapped
        return _references[name]


@functools.cache
def lean_model(name: str) -> mujoco.MjModel:
    """The reference's model without the collision checks that never find anything.

    Every geom that collides gets a bit of its own, and the bits of those it may meet.
    """
    model = copy.copy(reference(name).model)
    geoms = np.flatnonzero(model.geom_contype)
    may_meet = np.ones((len(geoms), len(geoms)), bool)
    row = {model.body(model.geom_bodyid[g]).name.split(":")[-1]: k for k, g in enumerate(geoms)}
    for one, others in APART.items():
        for other in others:
            may_meet[row[one], row[other]] = may_meet[row[other], row[one]] = False
    bits = 1 << np.arange(len(geoms))
    for types, values in (("contype", bits), ("conaffinity", may_meet @ bits)):
        getattr(model, f"geom_{types}")[geoms] = values
        getattr(model, f"body_{types}")[model.geom_bodyid[geoms]] = values
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET  # divergence must be seen
    return model


def fetch_spec(name: str) -> EnvSpec:
    """State layout of a Fetch environment."""
    return EnvSpec(
        name,
        25,
        4,
        50,
        tuple(NAMES),
        GROUPS,
        target="object",
        body="gripper",
        bin_size=0.1,
        moved=0.05,
        family="manipulation",
    )


class FetchWorld:
    """One Fetch simulation on a model shared by all worlds of its name."""

    def __init__(self, name: str) -> None:
        env = reference(name)
        self.spec = fetch_spec(name)
        self.model = lean_model(name)
        self.data = mujoco.MjData(self.model)
        self._start = (env.initial_time, env.initial_qpos.copy(), env.initial_qvel.copy())
        self._gripper_start = env.initial_gripper_xpos.copy()
        self._object_range = env.obj_range
        self._blocked = env.block_gripper
        self._substeps = env.n_substeps
        self._dt = env.n_substeps * self.model.opt.timestep

        model = self.model
        weld = int(np.flatnonzero(model.eq_type == mujoco.mjtEq.mjEQ_WELD)[0])
        ends = (int(model.eq_obj1id[weld]), int(model.eq_obj2id[weld]))
        self._welded = ends[1] if model.body_mocapid[ends[0]] >= 0 else ends[0]
        self._grip = model.site("robot0:grip").id
        self._object = model.site("object0").id
        object_joint = model.joint("object0:joint")
        self._object_qpos = int(object_joint.qposadr[0])
        self._object_qvel = int(object_joint.dofadr[0])
        fingers = [model.joint(f"robot0:{side}_gripper_finger_joint") for side in "rl"]
        self._finger_qpos = [int(joint.qposadr[0]) for joint in fingers]
        self._finger_qvel = [int(joint.dofadr[0]) for joint in fingers]
        self._actuated_qpos = [
            int(model.jnt_qposadr[model.actuator_trnid[i, 0]]) for i in range(model.nu)
        ]
        self._jacobian = np.zeros((3, model.nv))
        self._obs = np.empty(25)

    def reset(self, seed: int) -> np.ndarray:
        """Equals the reference's `reset(seed=seed)`."""
        model, data = self.model, self.data
        rng, _ = seeding.np_random(seed)
        mujoco.mj_resetData(model, data)
        data.time = self._start[0]
        data.qpos[:] = self._start[1]
        data.qvel[:] = self._start[2]
        centre = self._gripper_start[:2]
        position = centre
        while np.linalg.norm(position - centre) < 0.1:
            position = centre + rng.uniform(-self._object_range, self._object_range, size=2)
        data.qpos[self._object_qpos : self._object_qpos + 2] = position
        mujoco.mj_forward(model, data)
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, bool]:
        """Equals the reference's `step`; Fetch episodes never end early."""
        model, data = self.model, self.data
        for index, address in enumerate(self._actuated_qpos):
            finger = 0.0 if self._blocked else float(action[3])
            data.ctrl[index] = data.qpos[address] + finger
        data.mocap_pos[0] = data.xpos[self._welded] + STEP_SIZE * action[:3]
        data.mocap_quat[0] = data.xquat[self._welded] + DOWNWARD
        mujoco.mj_step(model, data, nstep=self._substeps)
        if self._blocked:
            for address in self._finger_qpos:
                data.qpos[address] = 0.0
            # The reference calls `mj_forward` here. Positions are all that is read before the
            # next substep computes the rest anew, so the states are the same bit for bit.
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
        return self._observe(), False

    def _observe(self) -> np.ndarray:
        data, obs, dt = self.data, self._obs, self._dt
        mujoco.mj_jacSite(self.model, data, self._jacobian, None, self._grip)
        gripper_velocity = self._jacobian @ data.qvel * dt
        rotation = data.site_xmat[self._object].reshape(3, 3)
        twist = data.qvel[self._object_qvel : self._object_qvel + 6]
        obs[0:3] = data.site_xpos[self._grip]
        obs[3:6] = data.site_xpos[self._object]
        obs[6:9] = obs[3:6] - obs[0:3]
        obs[9:11] = data.qpos[self._finger_qpos]
        obs[11:14] = _euler(rotation.tolist())
        obs[14:17] = twist[:3] * dt - gripper_velocity
        obs[17:20] = rotation @ twist[3:] * dt
        obs[20:23] = gripper_velocity
        obs[23:25] = data.qvel[self._finger_qvel] * dt
        return obs

    def close(self) -> None:
        """Nothing to let go of: the model is shared and the data is garbage-collected."""


def _euler(m: list[list[float]]) -> tuple[float, float, float]:
    """Intrinsic x-y'-z'' angles of a rotation matrix in the reference's convention."""
    cy = math.hypot(m[2][2], m[1][2])
    pitch = -math.atan2(-m[0][2], cy)
    if cy > EULER_EPSILON:
        return -math.atan2(m[1][2], m[2][2]), pitch, -math.atan2(m[0][1], m[0][0])
    return 0.0, pitch, -math.atan2(-m[1][0], m[1][1])
