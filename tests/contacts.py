"""Do bodies ever touch, whatever the joints do?"""

import copy
from collections.abc import Iterable, Sequence

import mujoco
import numpy as np


def ever_touch(
    model: mujoco.MjModel,
    pairs: Iterable[tuple[str, str]],
    start: np.ndarray,
    joints: Sequence[int],
    samples: int,
    margin: float,
) -> list[str]:
    """The bodies of `pairs` that come within `margin`: at corners of the ranges, and at random."""
    model = copy.copy(model)
    for field in ("geom_contype", "geom_conaffinity", "body_contype", "body_conaffinity"):
        getattr(model, field)[:] = 0
    for bit, names in enumerate(pairs):
        for body in (model.body(name).id for name in names):
            geoms = np.flatnonzero(model.geom_bodyid == body)
            for kind in ("contype", "conaffinity"):
                getattr(model, f"geom_{kind}")[geoms] |= 1 << bit
                getattr(model, f"body_{kind}")[body] |= 1 << bit
    model.geom_margin[:] = model.body_margin[:] = margin / 2  # those of two geoms add up
    data = mujoco.MjData(model)
    low, high = model.jnt_range[joints].T + np.array([[-0.15], [0.15]])  # limits are soft
    rng = np.random.default_rng(0)
    share = rng.uniform(size=(samples, len(joints)))
    share[: samples // 4] = share[: samples // 4].round()
    touching = set()
    for angles in low + share * (high - low):
        data.qpos[:] = start
        data.qpos[model.jnt_qposadr[joints]] = angles
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_collision(model, data)
        for contact in data.contact:
            bodies = model.geom_bodyid[contact.geom]
            touching.add(" and ".join(model.body(body).name for body in bodies))
    return sorted(touching)
