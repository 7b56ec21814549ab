"""Pictures of a MuJoCo simulation, with or without a display."""

import copy
import os
import sys
from importlib import import_module
from typing import Any, NamedTuple

import mujoco
import numpy as np

from csd.errors import UserError


class Camera(NamedTuple):
    """Where to look at a simulation from; angles in degrees."""

    lookat: tuple[float, float, float]
    distance: float
    azimuth: float
    elevation: float
    follow: str = ""
    """The body that the camera travels with; `lookat` is then relative to it."""


class Mark(NamedTuple):
    """A place to be seen, as a ball that one can look through."""

    place: tuple[float, float, float]
    radius: float
    words: str = ""
    """What is written beside it."""


GREEN = np.array([0.1, 0.75, 0.2, 0.4], np.float32)


class Offscreen:
    """Pictures of simulations of one model, (height, width, 3) bytes."""

    def __init__(self, model: mujoco.MjModel, size: tuple[int, int], camera: Camera) -> None:
        height, width = size
        model = as_seen(model)
        model.vis.global_.offheight = max(model.vis.global_.offheight, height)
        model.vis.global_.offwidth = max(model.vis.global_.offwidth, width)
        model.vis.quality.offsamples = min(model.vis.quality.offsamples, 4)
        self._model, self._poses = model, mujoco.MjData(model)
        self._gl = _gl_context(width, height)
        self._gl.make_current()
        self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._scene = mujoco.MjvScene(model, maxgeom=2_000)
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
            self._scene.flags[flag] = 0  # most of the time of a renderer without a GPU
        self._option, self._area = mujoco.MjvOption(), mujoco.MjrRect(0, 0, width, height)
        self._option.sitegroup[:] = 0  # marks that are no part of the world
        self._lookat = np.array(camera.lookat)
        self._followed = model.body(camera.follow).id if camera.follow else 0  # 0: the world
        self._camera = mujoco.MjvCamera()
        self._camera.distance = camera.distance
        self._camera.azimuth, self._camera.elevation = camera.azimuth, camera.elevation

    def picture(self, data: mujoco.MjData, mark: Mark | None = None) -> np.ndarray:
        """What the camera sees. The simulation is not touched: its poses are found in a copy."""
        poses = self._poses
        poses.qpos[:] = data.qpos
        poses.mocap_pos[:], poses.mocap_quat[:] = data.mocap_pos, data.mocap_quat
        mujoco.mj_kinematics(self._model, poses)
        mujoco.mj_camlight(self._model, poses)
        self._camera.lookat[:] = poses.xpos[self._followed] + self._lookat
        self._gl.make_current()
        mujoco.mjv_updateScene(
            self._model,
            poses,
            self._option,
            None,
            self._camera,
            mujoco.mjtCatBit.mjCAT_ALL,
            self._scene,
        )
        if mark is not None:
            self._add(mark)
        mujoco.mjr_render(self._area, self._scene, self._context)
        pixels = np.empty((self._area.height, self._area.width, 3), np.uint8)
        mujoco.mjr_readPixels(pixels, None, self._area, self._context)
        return np.flipud(pixels).copy()

    def _add(self, mark: Mark) -> None:
        mujoco.mjv_initGeom(
            self._scene.geoms[self._scene.ngeom],
            mujoco.mjtGeom.mjGEOM_SPHERE,
            np.array([mark.radius, 0.0, 0.0]),
            np.array(mark.place, np.float64),
            np.eye(3).ravel(),
            GREEN,
        )
        self._scene.ngeom += 1

    def close(self) -> None:
        """Free what the graphics library holds."""
        self._gl.make_current()
        self._context.free()
        self._gl.free()


def as_seen(model: mujoco.MjModel) -> mujoco.MjModel:
    """A copy for pictures, without bodies that only lead others."""
    seen = copy.copy(model)
    leading = seen.body_mocapid[seen.geom_bodyid] >= 0
    seen.geom_rgba[leading, 3] = 0.0
    return seen


def _gl_context(width: int, height: int) -> Any:
    """A context of the backend that `MUJOCO_GL` names, else of the first one that works.

    Chosen here, not when MuJoCo is imported: training must not need a graphics library.
    """
    named = os.environ.get("MUJOCO_GL", "")
    if named:
        backends = [named]
    elif sys.platform != "linux":
        backends = ["cgl" if sys.platform == "darwin" else "glfw"]
    else:
        backends = ["egl", "osmesa", "glfw"]
    for backend in backends:
        try:
            os.environ["MUJOCO_GL"] = backend  # MuJoCo loads the functions of this backend
            return import_module(f"mujoco.{backend}").GLContext(width, height)
        except Exception:  # whatever a missing or broken driver raises
            if named:
                os.environ["MUJOCO_GL"] = named
            else:
                del os.environ["MUJOCO_GL"]
    raise UserError(
        f"cannot render: no graphics backend works ({', '.join(backends)} tried); "
        "install EGL or OSMesa, or set MUJOCO_GL to egl, osmesa or glfw"
    )
