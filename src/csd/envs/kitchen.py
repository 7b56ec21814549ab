"""A Franka arm in a kitchen: gymnasium-robotics' model under the published controller.

`docs/kitchen.md` says what the controller does, each of its oddities included.
"""

import contextlib
import functools
import io
import math
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

from csd.envs.base import EnvSpec
from csd.envs.offscreen import Camera

NAMES = (
    "arm_1 arm_2 arm_3 arm_4 arm_5 arm_6 arm_7 finger_r finger_l "
    "knob_bottom_right burner_bottom_right knob_bottom_left burner_bottom_left "
    "knob_top_right burner_top_right knob_top_left burner_top_left "
    "light_switch light slide_cabinet hinge_left hinge_right microwave "
    "kettle_x kettle_y kettle_z kettle_qw kettle_qx kettle_qy kettle_qz"
).split()
GROUPS = {
    "arm": (0, 1, 2, 3, 4, 5, 6),
    "fingers": (7, 8),
    "burners": (9, 10, 11, 12, 13, 14, 15, 16),
    "light": (17, 18),
    "slide": (19,),
    "hinges": (20, 21),
    "microwave": (22,),
    "kettle": (23, 24, 25),
    "rotation": (26, 27, 28, 29),
}
SPEC = EnvSpec(
    "Kitchen",
    30,
    7,
    50,
    tuple(NAMES),
    GROUPS,
    target="kettle",
    fixed_start=True,
    family="kitchen",
    step_seconds=0.08,
)

START = np.array(
    [
        *(0.148388, -1.768486, 1.843903, -2.476858, 0.260252, 0.712533, 1.595154),  # arm
        *(0.047927, 0.037135),  # fingers
        *(-2.66e-4, -5.18e-5, 3.13e-5, -4.51e-5, -3.9e-6, -4.23e-5, 6.28e-5, 4.05e-5),  # burners
        *(4.627e-4, -2.269e-4, -4.655e-4, -6.4413e-3, -1.7705e-3, 1.0801e-3),  # light to microwave
        *(-0.269397, 0.350383, 1.619447, 1.006188, 4.064e-3, -6.621e-3, -2.683e-4),  # kettle
    ]
)

SUBSTEPS = 40
STEP_SIZE = 0.05  # metres that the hand's target is ahead of the hand, per unit of action
TURN_SHARE = 0.05  # how much of the way to the wanted orientation each target goes
HAND, TIP = "panda0_link7", "end_effector"
APART = ((0, 1), (0, 2), (0, 3), (1, 3), (2, 4), (3, 5), (4, 6))
"""Links of the arm that no position of its joints brings together, though they are close."""


CAMERA = Camera((-0.2, 0.5, 2.0), distance=2.2, azimuth=70.0, elevation=-35.0)
"""Over the robot's shoulder."""


class Task(NamedTuple):
    """Done at a state whose dimensions `dims` are no farther than `threshold` from `goal`."""

    dims: tuple[int, ...]
    goal: tuple[float, ...]
    threshold: float


TASKS = {
    "BottomRightBurner": Task((9, 10), (-0.88, -0.01), 0.5),
    "BottomLeftBurner": Task((11, 12), (-0.88, -0.01), 0.5),
    "TopRightBurner": Task((13, 14), (-0.88, -0.01), 0.5),
    "TopLeftBurner": Task((15, 16), (-0.88, -0.01), 0.5),
    "LightSwitch": Task((17, 18), (-0.69, -0.05), 0.44),
    "SlideCabinet": Task((19,), (0.37,), 0.1),
    "HingeCabinet": Task((20, 21), (0.0, 0.5), 0.2),
    "Microwave": Task((22,), (-0.5,), 0.2),
    "KettleTopLeft": Task((23, 24, 25), (-0.23, 0.75, 1.62), 0.2),
    "KettleTopRight": Task((23, 24, 25), (0.20, 0.75, 1.62), 0.2),
    "KettleBottomRight": Task((23, 24, 25), (0.20, 0.35, 1.62), 0.2),
    "KettleLift": Task((25,), (2.1,), 0.3),
    "KettleFall": Task((25,), (-1.0,), 1.3),
}


def achieved(obs: np.ndarray) -> np.ndarray:
    """Which tasks hold at states (..., 30): booleans (..., 13) in the order of `TASKS`."""
    held = [
        np.linalg.norm(obs[..., list(task.dims)] - np.asarray(task.goal), axis=-1) <= task.threshold
        for task in TASKS.values()
    ]
    return np.stack(held, axis=-1)


@functools.cache
def load_model(visual: bool = False) -> mujoco.MjModel:
    """gymnasium-robotics' kitchen with a mocap body welded to the hand.

    Without `visual` it lacks what can only be seen, and the checks for contact between links
    that never touch; the motion is the same bit for bit.
    """
    with contextlib.redirect_stderr(io.StringIO()):  # its start-up warnings
        import gymnasium_robotics
    assets = Path(gymnasium_robotics.__file__).parent / "envs/assets/kitchen_franka"
    spec = mujoco.MjSpec.from_file(str(assets / "kitchen_assets/kitchen_env_model.xml"))
    spec.worldbody.add_body(name="mocap", mocap=True)
    spec.add_equality(
        type=mujoco.mjtEq.mjEQ_WELD,
        objtype=mujoco.mjtObj.mjOBJ_BODY,
        name1="mocap",
        name2=HAND,
        data=[0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1],  # the two frames coincide
        solref=[0.02, 1],
        solimp=[0.9, 0.95, 0.001, 0.5, 2],
    )
    if not visual:
        spec.compiler.discardvisual = True
        for one, other in APART:
            spec.add_exclude(bodyname1=f"panda0_link{one}", bodyname2=f"panda0_link{other}")
    model = spec.compile()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET  # divergence must be seen
    return model


class KitchenWorld:
    """One kitchen under the published end-effector controller."""

    def __init__(self, visual: bool = False) -> None:
        self.spec = SPEC
        self.model = load_model(visual)
        self.data = mujoco.MjData(self.model)
        hand = self.model.body(HAND).id
        # Views of the simulator's memory: the loop over substeps must not make new ones.
        self._hand_pos, self._hand_quat = self.data.xpos[hand], self.data.xquat[hand]
        self._mocap_pos, self._mocap_quat = self.data.mocap_pos[0], self.data.mocap_quat[0]
        self._turn = np.empty(4)

    def reset(self, seed: int) -> np.ndarray:
        """Every episode starts alike, whatever the seed.

        The published code finds the weld's error with the mocap body where the model has it, on
        the floor, so the first substep pulls at the hand. Here the body is still there then.
        """
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = START
        mujoco.mj_forward(self.model, self.data)
        return self.data.qpos

    def step(self, action: np.ndarray) -> tuple[np.ndarray, bool]:
        """Forty substeps, each towards a target a little ahead of where the hand was before it.

        The published simulator finds the weld's error right after a substep, when the target
        is still the one before. So a target acts a substep late, as it does here: `mj_step`
        leaves the hand's pose at the beginning of its substep.
        """
        model, data = self.model, self.data
        action = np.clip(action, -1.0, 1.0).astype(np.float64)
        data.ctrl[7], data.ctrl[8] = action[6], -action[6]
        mujoco.mj_step(model, data)
        offset = STEP_SIZE * action[:3]
        wanted = from_zyz(to_zyz(self._hand_quat) - action[3:6])
        for _ in range(SUBSTEPS - 1):
            self._aim(offset, wanted)
            mujoco.mj_step(model, data)
        self._aim(offset, wanted)
        return data.qpos, False

    def _aim(self, offset: np.ndarray, wanted: np.ndarray) -> None:
        turn = self._turn
        np.add(self._hand_pos, offset, self._mocap_pos)
        np.subtract(wanted, self._hand_quat, turn)
        np.multiply(turn, TURN_SHARE, turn)
        np.add(self._hand_quat, turn, self._mocap_quat)

    def close(self) -> None:
        """Nothing to let go of: the model is shared and the data is garbage-collected."""


def to_zyz(quat: np.ndarray) -> np.ndarray:
    """Euler angles (alpha, beta, gamma) with R = Rz(alpha) Ry(beta) Rz(gamma)."""
    w, x, y, z = quat.tolist()
    half_sum, half_difference = math.atan2(z, w), math.atan2(-x, y)
    cosine = math.sqrt(min(1.0, (w * w + z * z) / (w * w + x * x + y * y + z * z)))
    return np.array(
        [half_sum + half_difference, 2.0 * math.acos(cosine), half_sum - half_difference]
    )


def from_zyz(angles: np.ndarray) -> np.ndarray:
    """The quaternion (w, x, y, z) of Euler angles, the inverse of `to_zyz`."""
    alpha, beta, gamma = angles.tolist()
    half_sum, half_difference = (alpha + gamma) / 2.0, (alpha - gamma) / 2.0
    cosine, sine = math.cos(beta / 2.0), math.sin(beta / 2.0)
    return np.array(
        [
            cosine * math.cos(half_sum),
            -sine * math.sin(half_difference),
            sine * math.cos(half_difference),
            cosine * math.sin(half_sum),
        ]
    )


def gripper_path(obs: np.ndarray) -> np.ndarray:
    """Where the gripper is at states (..., 30): positions (..., 3)."""
    model = load_model(visual=True)
    data = mujoco.MjData(model)
    tip = model.site(TIP).id
    path = np.empty((obs[..., 0].size, 3))
    for index, qpos in enumerate(obs.reshape(-1, 30)):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        path[index] = data.site_xpos[tip]
    return path.reshape(*obs.shape[:-1], 3)
